import { closeSync, constants, openSync, readlinkSync } from 'node:fs';
import { resolve } from 'node:path';
import { DaemonError } from '../daemon-error.ts';

const O_PATH = 0o10000000;

/** The folder a command begins in, held by descriptor so that nobody can exchange it before the command is there. */
export function openWorkingFolder(home: string, cwd: string | undefined): { path: string; close(): void } {
  const text = cwd === undefined || cwd === '~' ? '.' : cwd.replace(/^~\//, './');
  if (text.includes('\0')) throw new DaemonError('invalid_path', 'The path holds a NUL character');
  const fd = open(resolve(home, text));
  const held = `/proc/self/fd/${fd}`;
  const real = readlinkSync(held);
  if (real === home || real.startsWith(`${home}/`)) return { path: held, close: () => closeSync(fd) };
  closeSync(fd);
  throw new DaemonError('invalid_path', 'The folder is outside the home folder');
}

function open(path: string): number {
  try {
    return openSync(path, O_PATH | constants.O_DIRECTORY);
  } catch {
    throw new DaemonError('not_found', 'There is no such folder');
  }
}
