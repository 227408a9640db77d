import { readdir, readFile, readlink } from 'node:fs/promises';
import { systemClock } from '../../../platform/clock.ts';
import { until } from '../../../platform/waits.ts';

/** Identifies a process even if its id is reused later: by its start time, in ticks since boot. */
export type ProcessIdentity = { pid: number; startedAt: string };

/** A text that differs after each boot. */
export async function readBootId(): Promise<string> {
  return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
}

/** Undefined if there is no such process, or only a zombie. */
export async function identify(pid: number): Promise<ProcessIdentity | undefined> {
  const fields = await readStat(pid);
  const startedAt = fields?.[19];
  if (startedAt === undefined || fields?.[0] === 'Z' || fields?.[0] === 'X') return undefined;
  return { pid, startedAt };
}

export async function isRunning(identity: ProcessIdentity): Promise<boolean> {
  return (await identify(identity.pid))?.startedAt === identity.startedAt;
}

/** Sends a signal if it is still the same process. */
export async function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): Promise<void> {
  if (!(await isRunning(identity))) return;
  try {
    process.kill(identity.pid, signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/** False if one of them is still running after `patienceMs`. */
export function waitUntilGone(identities: readonly ProcessIdentity[], patienceMs: number): Promise<boolean> {
  return until({ clock: systemClock, patienceMs, firstMs: 2, longestMs: 25 }, async () => {
    const running = await Promise.all(identities.map(isRunning));
    return !running.includes(true);
  });
}

/** Its living children. */
export async function childrenOf(pid: number): Promise<ProcessIdentity[]> {
  const listed = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => undefined);
  const children = listed === undefined ? await searchChildren(pid) : listed.split(' ').map(Number).filter(Boolean);
  return defined(await Promise.all(children.map(identify)));
}

/** The processes whose working folder is this one; `folder` contains no symbolic links. */
export async function processesIn(folder: string): Promise<ProcessIdentity[]> {
  const found = await Promise.all(
    (await allProcesses()).map(async (pid) => {
      const workingFolder = await readlink(`/proc/${pid}/cwd`).catch(() => undefined);
      return workingFolder === folder ? identify(pid) : undefined;
    }),
  );
  return defined(found);
}

// Kernels can be built without the list of children.
async function searchChildren(parent: number): Promise<number[]> {
  const pids = await allProcesses();
  const parents = await Promise.all(pids.map(async (pid) => Number((await readStat(pid))?.[1])));
  return pids.filter((_pid, index) => parents[index] === parent);
}

export async function allProcesses(): Promise<number[]> {
  return (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
}

/** Fields of /proc/<pid>/stat starting with the state: the name before it may contain anything. */
async function readStat(pid: number): Promise<string[] | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  return text?.slice(text.lastIndexOf(')') + 2).split(' ');
}

function defined<T>(values: (T | undefined)[]): T[] {
  return values.filter((value) => value !== undefined);
}
