import { readdirSync, readFileSync } from 'node:fs';
import type { DaemonHealth } from '@homeport/contracts/workspace/daemon';
import type { HomeSpace } from './space/home-space.ts';

// Synchronous, because these files are in memory: asynchronous reads would start four threads, each with memory of its own.

/** Current usage of the workspace; the size of its home is at most a minute old once it has been measured. */
export function measureUsage(space: HomeSpace): DaemonHealth['usage'] {
  const processes = processIds();
  const { used } = space;
  return {
    memoryBytes: memoryBytes() ?? residentBytes(processes),
    memoryLimitBytes: memoryLimit(),
    processes: processes.length,
    homeBytes: used.bytes,
    homeBytesLimit: space.limits.bytes ?? null,
    homeFiles: used.files,
    homeFilesLimit: space.limits.files ?? null,
    full: space.full ?? null,
  };
}

function memoryBytes(): number | undefined {
  return firstNumber(['/sys/fs/cgroup/memory.current', '/sys/fs/cgroup/memory/memory.usage_in_bytes']);
}

function memoryLimit(): number | null {
  const limit = firstNumber(['/sys/fs/cgroup/memory.max', '/sys/fs/cgroup/memory/memory.limit_in_bytes']);
  // cgroup v1 says "none" with a number close to 2^63.
  return limit === undefined || limit > Number.MAX_SAFE_INTEGER ? null : limit;
}

function firstNumber(files: string[]): number | undefined {
  for (const file of files) {
    const text = read(file);
    if (/^\d+\s*$/.test(text)) return Number(text);
  }
  return undefined;
}

function processIds(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

/** Counts shared pages once per process, so it is too high rather than too low. */
function residentBytes(processes: string[]): number {
  const pages = processes.slice(0, 1000).map((id) => Number(read(`/proc/${id}/statm`).split(' ')[1] ?? 0));
  return pages.reduce((sum, count) => sum + count, 0) * 4096;
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
