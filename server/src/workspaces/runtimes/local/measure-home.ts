import { execFile } from 'node:child_process';
import { readlink, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Measured } from '../home-space.ts';
import { allProcesses } from './process-identity.ts';

const run = promisify(execFile);
const measuringMs = 120_000;

/**
 * Counts a home from outside, in processes of a lower priority, since it may have millions of files. `inner`: a
 * process in it, if it runs; files that are deleted but still open there count as well.
 */
export async function measureHome(home: string, inner: number | undefined): Promise<Measured | undefined> {
  const [size, hidden] = [await du(home, '--block-size=1'), await countDeleted(home, inner)];
  const bytes = size.isWhole || process.getuid?.() === 0 ? size : await afterOpening(home);
  const files = await du(home, '--inodes');
  if (bytes.sum === undefined || files.sum === undefined) return undefined;
  return { bytes: bytes.sum + hidden, files: files.sum };
}

type Sum = { sum: number | undefined; isWhole: boolean };

async function du(home: string, unit: string): Promise<Sum> {
  const { stdout, isWhole } = await quietly('du', ['-sx', unit, '--', home]);
  // On an unreadable folder, du fails, but it still prints the sum of the readable ones.
  const [, sum] = /^(\d+)\s/.exec(stdout) ?? [];
  return { sum: sum === undefined ? undefined : Number(sum), isWhole };
}

/** Folders that a workspace of our own user has closed to itself would hide what is in them. */
async function afterOpening(home: string): Promise<Sum> {
  const closed = ['-xdev', '-type', 'd', '!', '-perm', '-500', '-execdir', 'chmod', 'u+rwx', '{}', ';'];
  await quietly('find', [home, ...closed]);
  return du(home, '--block-size=1');
}

async function countDeleted(home: string, inner: number | undefined): Promise<number> {
  const namespace = inner === undefined ? undefined : await readlink(`/proc/${inner}/ns/pid`).catch(() => undefined);
  if (namespace === undefined) return 0;
  const all = await Promise.all(
    (await allProcesses()).map(async (pid) => ({ pid, in: await readlink(`/proc/${pid}/ns/pid`).catch(() => '') })),
  );
  const inside = all.filter((process) => process.in === namespace);
  if (inside.length === 0) return 0;
  // A mapped file needs no descriptor.
  const folders = inside.flatMap(({ pid }) => [`/proc/${pid}/fd`, `/proc/${pid}/map_files`]);
  const options = ['-maxdepth', '1', '-type', 'f', '-links', '0', '-printf', '%D %i %b\\n'];
  const { stdout } = await quietly('find', ['-L', ...folders, ...options]);
  const { dev } = await stat(home);
  const blocks = new Map<string, number>();
  for (const line of stdout.split('\n')) {
    const [device, inode = '', count] = line.split(' ');
    if (Number(device) === dev) blocks.set(inode, Number(count));
  }
  return [...blocks.values()].reduce((sum, count) => sum + count * 512, 0);
}

async function quietly(file: string, args: string[]): Promise<{ stdout: string; isWhole: boolean }> {
  const options = { timeout: measuringMs, maxBuffer: 4 * 1024 * 1024 };
  try {
    return { stdout: (await run('nice', ['-n', '5', file, ...args], options)).stdout, isWhole: true };
  } catch (error) {
    const { stdout } = error as { stdout?: unknown };
    return { stdout: typeof stdout === 'string' ? stdout : '', isWhole: false };
  }
}
