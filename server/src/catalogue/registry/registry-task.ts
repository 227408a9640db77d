import { z } from 'zod';
import { type Task, TaskRefused } from '../../sandbox/serve.ts';
import { parseRegistry } from './registry.ts';

const faultsMax = 20;

/** Parses and validates one registry in a child process; answers with its source. */
export const registryTask: Task = async (input) => {
  const { content } = input as { content: string };
  try {
    return { opened: parseRegistry(JSON.parse(content)).source };
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw new TaskRefused([{ path: '', message: 'Not valid JSON' }]);
    const issues = error.issues.slice(0, faultsMax);
    throw new TaskRefused(
      issues.map(({ path, message }) => ({ path: path.join('.').slice(0, 500), message: message.slice(0, 500) })),
    );
  }
};
