import { readdirSync, readFileSync } from 'node:fs';
import type { Sighting } from './canary.ts';

/** Command lines of the product and its child processes as in `ps`. Empty without /proc. */
export function commandLines(root: number): Sighting[] {
  const parents = new Map<number, number>();
  for (const name of readProc('.').filter((entry) => /^\d+$/.test(entry))) {
    const [stat = ''] = readProcFile(`${name}/stat`);
    parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
  }
  const isBelow = (pid: number): boolean => pid === root || (pid > 1 && isBelow(parents.get(pid) ?? 0));
  return [...parents.keys()]
    .filter(isBelow)
    .map((pid) => ({ place: `command line of ${pid}`, content: Buffer.from(readProcFile(`${pid}/cmdline`)[0] ?? '') }));
}

function readProc(path: string): string[] {
  try {
    return readdirSync(`/proc/${path}`);
  } catch {
    return [];
  }
}

function readProcFile(path: string): string[] {
  try {
    return [readFileSync(`/proc/${path}`, 'utf8')];
  } catch {
    return [];
  }
}
