import { readdir, readFile } from 'node:fs/promises';
import type { DaemonHealth } from '@homeport/contracts/daemon';
import type { HomeSpace } from './space/home-space.ts';

/** What the workspace uses now; the size of its home is at most a minute old once it has been measured. */
export async function measureUsage(space: HomeSpace): Promise<DaemonHealth['usage']> {
  const [memory, limit, processes] = await Promise.all([memoryBytes(), memoryLimit(), processIds()]);
  const { used } = space;
  return {
    memoryBytes: memory ?? (await residentBytes(processes)),
    memoryLimitBytes: limit,
    processes: processes.length,
    homeBytes: used.bytes,
    homeBytesLimit: space.limits.bytes ?? null,
    homeFiles: used.files,
    homeFilesLimit: space.limits.files ?? null,
    full: space.full ?? null,
  };
}

function memoryBytes(): Promise<number | undefined> {
  return firstNumber(['/sys/fs/cgroup/memory.current', '/sys/fs/cgroup/memory/memory.usage_in_bytes']);
}

async function memoryLimit(): Promise<number | null> {
  const limit = await firstNumber(['/sys/fs/cgroup/memory.max', '/sys/fs/cgroup/memory/memory.limit_in_bytes']);
  // cgroup v1 says "none" with a number close to 2^63.
  return limit === undefined || limit > Number.MAX_SAFE_INTEGER ? null : limit;
}

async function firstNumber(files: string[]): Promise<number | undefined> {
  for (const file of files) {
    const text = await readFile(file, 'utf8').catch(() => '');
    if (/^\d+\s*$/.test(text)) return Number(text);
  }
  return undefined;
}

async function processIds(): Promise<string[]> {
  const names = await readdir('/proc').catch((): string[] => []);
  return names.filter((name) => /^\d+$/.test(name));
}

/** Counts shared pages once per process, so it is too high rather than too low. */
async function residentBytes(processes: string[]): Promise<number> {
  const pages = await Promise.all(
    processes.slice(0, 1000).map(async (id) => {
      const text = await readFile(`/proc/${id}/statm`, 'utf8').catch(() => '');
      return Number(text.split(' ')[1] ?? 0);
    }),
  );
  return pages.reduce((sum, count) => sum + count, 0) * 4096;
}
