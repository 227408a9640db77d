import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';

/** The cores of the load generator and scripted provider, and of the subject. */
export const cores = { load: 0, subject: 1 } as const;

const ticksPerSecond = 100;

/** Pins this process and all processes it starts from now on; throws on machines where that is impossible. */
export function pinSelf(): void {
  if (process.platform !== 'linux' || availableParallelism() < 2) {
    throw new Error('The benchmarks need Linux and two cores.');
  }
  execFileSync('taskset', ['-a', '-p', '-c', String(cores.load), String(process.pid)], { stdio: 'ignore' });
}

export type Pinned = {
  child: ChildProcess;
  pid: number;
  /** Text of standard output and standard error so far. */
  output(): string;
  /** Resolves with the first match in the output; throws if it ends or 30 s pass before. */
  waitForOutput(pattern: RegExp): Promise<RegExpExecArray>;
  /** SIGTERM, then SIGKILL after 15 s. */
  stop(): Promise<void>;
};

const started = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of started) child.kill('SIGKILL');
});

/** Starts this Node with `args` on one core. With `ipc`, `child.send` and messages work. */
export function startPinned(
  core: number,
  args: string[],
  options: { env?: Record<string, string | undefined>; cwd?: string; ipc?: boolean } = {},
): Pinned {
  const child = spawn('taskset', ['-c', String(core), process.execPath, ...args], {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe', ...(options.ipc === true ? ['ipc' as const] : [])],
  });
  started.add(child);
  let output = '';
  let ended = false;
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (data: Buffer) => {
      output = (output + data.toString()).slice(-200_000);
    });
  }
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => {
      started.delete(child);
      ended = true;
      resolve();
    });
  });
  return {
    child,
    pid: child.pid ?? 0,
    output: () => output,
    async waitForOutput(pattern) {
      const until = performance.now() + 30_000;
      while (performance.now() < until) {
        const match = pattern.exec(output);
        if (match !== null) return match;
        if (ended) throw new Error(`It ended before it was ready:\n${output.slice(-2_000)}`);
        await delay(5);
      }
      throw new Error(`It did not become ready:\n${output.slice(-2_000)}`);
    },
    async stop() {
      if (ended) return;
      child.kill('SIGTERM');
      const patience = setTimeout(() => child.kill('SIGKILL'), 15_000);
      await exited;
      clearTimeout(patience);
    },
  };
}

/** Seconds of CPU that a process has used, user and system, all threads. */
export function cpuSeconds(pid: number): number {
  const fields = statFields(pid);
  return fields === undefined ? 0 : ((fields[11] ?? 0) + (fields[12] ?? 0)) / ticksPerSecond;
}

/** Seconds of CPU of a process and all its children, including those that have ended. */
export function familyCpuSeconds(pid: number): number {
  const own = statFields(pid);
  const ended = own === undefined ? 0 : ((own[13] ?? 0) + (own[14] ?? 0)) / ticksPerSecond;
  return childrenOf(pid).reduce((sum, child) => sum + cpuSeconds(child), cpuSeconds(pid) + ended);
}

/** Resident bytes of one process. */
export function residentBytes(pid: number): number {
  return kilobytes(readFileSync(`/proc/${pid}/status`, 'utf8'), 'VmRSS');
}

/** Proportional bytes of a process and its children: shared pages count once. */
export function familyProportionalBytes(pid: number): number {
  return [pid, ...childrenOf(pid)].reduce((sum, each) => {
    try {
      return sum + kilobytes(readFileSync(`/proc/${each}/smaps_rollup`, 'utf8'), 'Pss');
    } catch {
      return sum;
    }
  }, 0);
}

function kilobytes(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? Number.NaN) * 1024;
}

function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((each) => statFields(each)?.[1] === pid);
}

/** The fields of /proc/<pid>/stat after the name: state is [0], parent [1], times [11] to [14]. */
function statFields(pid: number): number[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
  } catch {
    return undefined;
  }
}

/** Gives a process and its children all cores again. */
export function unpin(pid: number): void {
  for (const each of [pid, ...childrenOf(pid)]) {
    execFileSync('taskset', ['-a', '-p', '-c', Object.values(cores).join(), String(each)], { stdio: 'ignore' });
  }
}
