import { execFile } from 'node:child_process';
import { statfsSync, statSync } from 'node:fs';
import { promisify } from 'node:util';
import { ownProcesses } from './own-processes.ts';
import { toolPath } from './tool-path.ts';

/** Size of a home: bytes as blocks on the disk, and the number of files, folders and links. */
export type Space = { bytes: number; files: number };

const run = promisify(execFile);
const measuringMs = 120_000;
const tmpfs = 0x01021994;

/**
 * Counts a home with the system's own programs at a lower priority; undefined if that fails or takes two minutes. Files
 * that are deleted but still open count as well.
 */
export async function measureHome(home: string): Promise<Space | undefined> {
  const [counted, hidden] = await Promise.all([countTree(home), countDeleted(home)]);
  return counted === undefined ? undefined : { ...counted, bytes: counted.bytes + hidden };
}

/** How many files are in /tmp if that is a folder in memory: their names take memory that has no other limit. */
export function countTemporary(home: string): number {
  try {
    const { type, files, ffree } = statfsSync('/tmp');
    return type === tmpfs && statSync('/tmp').dev !== statSync(home).dev ? files - ffree : 0;
  } catch {
    return 0;
  }
}

async function countTree(home: string): Promise<Space | undefined> {
  const first = await countOnce(home);
  if (first === undefined || first.isWhole) return first;
  // Folders that their owner has closed to itself would hide what is in them.
  const closed = ['-xdev', '-type', 'd', '!', '-perm', '-500', '-execdir', 'chmod', 'u+rwx', '{}', ';'];
  await quietly('find', [home, ...closed]);
  return countOnce(home);
}

async function countOnce(home: string): Promise<(Space & { isWhole: boolean }) | undefined> {
  const bytes = await du(['-sx', '--block-size=1', '--', home]);
  const files = await du(['-sx', '--inodes', '--', home]);
  if (bytes === undefined || files === undefined) return undefined;
  return { bytes: bytes.sum, files: files.sum, isWhole: bytes.isWhole };
}

async function du(args: string[]): Promise<{ sum: number; isWhole: boolean } | undefined> {
  const { stdout, failed } = await quietly('du', args);
  // On an unreadable folder, du fails, but it still prints the sum of the readable ones.
  const [, sum] = /^(\d+)\s/.exec(stdout) ?? [];
  return sum === undefined ? undefined : { sum: Number(sum), isWhole: !failed };
}

async function countDeleted(home: string): Promise<number> {
  const options = ['-maxdepth', '1', '-type', 'f', '-links', '0', '-printf', '%D %i %b\\n'];
  const folders = ownProcesses().map((pid) => `/proc/${pid}/fd`);
  const { stdout } = await quietly('find', ['-L', ...folders, ...options]);
  return blocksOf(stdout, statSync(home).dev) * 512;
}

/** The blocks of the files on a device, each file counted once. */
function blocksOf(lines: string, device: number): number {
  const blocks = new Map<string, number>();
  for (const line of lines.split('\n')) {
    const [dev, inode, count] = line.split(' ');
    if (Number(dev) === device && inode !== undefined) blocks.set(inode, Number(count));
  }
  return [...blocks.values()].reduce((sum, count) => sum + count, 0);
}

async function quietly(file: string, args: string[]): Promise<{ stdout: string; failed: boolean }> {
  const options = { timeout: measuringMs, maxBuffer: 4 * 1024 * 1024, env: { PATH: toolPath, LC_ALL: 'C' } };
  try {
    return { stdout: (await run('nice', ['-n', '5', file, ...args], options)).stdout, failed: false };
  } catch (error) {
    const { stdout } = error as { stdout?: unknown };
    return { stdout: typeof stdout === 'string' ? stdout : '', failed: true };
  }
}
