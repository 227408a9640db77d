import { ApiError } from '@homeport/contracts/errors';
import { type Task, TaskRefused } from '../sandbox/serve.ts';
import { readSkillPackage } from './skill-package.ts';

/** Unpacks and checks one skill in a child process; answers with its files. */
export const skillTask: Task = async (input) => {
  const { bytes } = input as { bytes: Uint8Array };
  try {
    const { files } = await readSkillPackage(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    return { opened: files.map(({ path, content }) => ({ path, content })) };
  } catch (error) {
    throw error instanceof ApiError ? new TaskRefused(error.message) : error;
  }
};
