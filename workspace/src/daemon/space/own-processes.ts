import { readdirSync, readFileSync } from 'node:fs';

/** Everything in this workspace. Outside a sandbox, where there are processes of others: what the daemon started. */
export function ownProcesses(): string[] {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return isWholeMachine ? below(all, String(process.pid)) : all;
}

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
