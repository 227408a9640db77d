import { readdirSync, readFileSync } from 'node:fs';

/** All processes of this workspace. Outside a sandbox, where other processes exist: the daemon's descendants. */
export function ownProcesses(): string[] {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return isWholeMachine ? below(all, String(process.pid)) : all;
}

/**
 * The bytes that processes here have written to disks: a count that grows, since a parent takes over what its ended
 * children wrote. Processes outside do not affect it, unlike the free space. Space allocated without a write is not
 * counted.
 */
export function writtenBytes(): number {
  return ownProcesses()
    .slice(0, processesMax)
    .reduce((sum, pid) => sum + Number(/^write_bytes: (\d+)/m.exec(read(`/proc/${pid}/io`))?.[1] ?? 0), 0);
}

/** Read once a second; there is a limit to how many a workspace may have in any case. */
const processesMax = 2_000;

/** Kernel threads exist only in the machine's own namespace. */
const isWholeMachine = read('/proc/2/comm').startsWith('kthreadd');

function below(all: string[], root: string): string[] {
  const children = new Map<string, string[]>();
  for (const pid of all) {
    const [, parent = ''] = /\) \S (\d+)/.exec(read(`/proc/${pid}/stat`)) ?? [];
    children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const found = [root];
  for (const pid of found) found.push(...(children.get(pid) ?? []));
  return found;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
