import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

/** Command lines of processes whose home is in the folder for homes. */
export async function processesNamed(dataDir: string, pattern: RegExp): Promise<string[]> {
  const found: string[] = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const line = (await readFile(join('/proc', pid, 'cmdline'), 'utf8').catch(() => '')).replaceAll('\0', ' ').trim();
    const mounts = await readFile(join('/proc', pid, 'mountinfo'), 'utf8').catch(() => '');
    const isOurs = mounts.includes(`${basename(dataDir)}/workspaces/`) && mounts.includes(' /home/user ');
    if (isOurs && pattern.test(line)) found.push(line);
  }
  return found;
}

/** The memory limit of the control group of a workspace's processes. */
export async function memoryLimit(dataDir: string, id: string): Promise<number | undefined> {
  const state = JSON.parse(await readFile(join(dataDir, 'workspaces', id, 'host/state.json'), 'utf8')) as {
    inner: { pid: number };
  };
  const groups = await readFile(`/proc/${state.inner.pid}/cgroup`, 'utf8');
  const path = /^\d+:(?:[^:]*\bmemory\b[^:]*|):(.*homeport.*)$/m.exec(groups)?.[1];
  if (path === undefined) return undefined;
  for (const file of [`/sys/fs/cgroup/memory${path}/memory.limit_in_bytes`, `/sys/fs/cgroup${path}/memory.max`]) {
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text !== undefined) return Number(text);
  }
  return undefined;
}
