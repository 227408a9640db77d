import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** Command lines of processes that have a home in our folder for theirs. */
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

/** Reads until it is so. */
export async function until<T>(read: () => Promise<T>, isReached: (value: T) => boolean): Promise<T> {
  for (let attempt = 0; attempt < 600; attempt += 1) {
    const value = await read();
    if (isReached(value)) return value;
    await delay(20);
  }
  return assert.fail('it never came to this');
}

/** The memory limit of the group that a workspace's processes are in. */
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
