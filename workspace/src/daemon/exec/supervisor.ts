import { type ChildProcess, spawn } from 'node:child_process';
import { constants, existsSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { type Readable, Writable } from 'node:stream';
import { clock } from '../../clock.ts';
import { readOnlyRights } from './read-only-rights.ts';
import { supervisorScript } from './supervisor-script.ts';

/** Part of every Debian and Ubuntu. */
export const perlPath = '/usr/bin/perl';
const prctl: Partial<Record<NodeJS.Architecture, number>> = { x64: 157, arm64: 167 };
/** A variable with the process's id that every command has: without Perl, it identifies descendants. */
const marker = 'HOMEPORT_PROCESS';
const graceMs = 2_000;
/** How often a supervisor that is at work gets that long again: on a busy machine it needs it, and it finds all. */
const graces = 30;

/** Signals that POST /v1/processes/:id/signal accepts. */
export const signals = ['SIGTERM', 'SIGKILL', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;
export type Signal = (typeof signals)[number];

export type Supervised = {
  pid: number;
  /** Its output; both streams end when no process holds them open. */
  streams: Promise<Streams>;
  /** Of a program with arguments. */
  input: Writable | undefined;
  exited: Promise<{ exitCode: number | null; signal: string | null }>;
  /**
   * SIGTERM and SIGKILL reach the whole tree, SIGTERM with SIGKILL after 2 s; other signals reach the command's group.
   */
  signal(name: Signal): void;
};
export type Streams = { stdout: Readable; stderr: Readable };

type Start = {
  id: string;
  /** A line of shell or, with `args`, a program that gets an input. */
  command: string;
  args?: readonly string[];
  cwd: string;
  environment: Record<string, string>;
  /** It lives as long as anything that it started. */
  keep: boolean;
  /** Both outputs go into `stdout`, in their order; needs Perl. */
  joined?: boolean;
  /** It may only read: throws without Perl, and on machine types that are not known. */
  readOnly?: boolean;
  /** Path of Perl; if it does not exist, only processes with the marker are found. */
  perl: string;
};

/**
 * Starts `bash -c command`, or the program, so that everything it ever starts can be ended. Throws the system's message
 * if that fails.
 */
export function startSupervised({
  id,
  command,
  args: given,
  cwd,
  environment,
  keep,
  readOnly,
  joined,
  perl,
}: Start): Supervised {
  const number = prctl[process.arch];
  const hasPerl = number !== undefined && existsSync(perl);
  const rights = readOnly ? readOnlyRights() : '';
  if (rights === undefined || (readOnly && !hasPerl)) throw new Error('a command cannot be kept from writing here');
  const shell = given === undefined ? shellOf(command) : programOf(command, given);
  const hasInput = given !== undefined || isLong(command);
  const [file = '', ...args] = hasPerl
    ? [perl, '-e', supervisorScript, String(number), keep ? '1' : '', rights, joined ? '1' : '', ...shell]
    : shell;
  const child = spawn(file, args, {
    cwd,
    detached: true,
    stdio: [hasPerl ? 'pipe' : 'ignore', 'pipe', 'pipe', ...(hasInput ? (['pipe'] as const) : [])],
    env: { ...environment, [marker]: id },
  });
  const { pid } = child;
  child.on('error', () => undefined);
  if (pid === undefined) throw new Error('no process could be made');
  const third = child.stdio[3];
  const input = third instanceof Writable ? third.on('error', () => undefined) : undefined;
  if (given === undefined) input?.end(command);
  const exited = new Promise<{ exitCode: number | null; signal: string | null }>((resolve) => {
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }));
  });
  let hasExited = false;
  void exited.then(() => {
    hasExited = true;
    if (!hasPerl && !keep) signalMarked(id, 'SIGKILL');
  });
  const signalOne = (target: number, name: NodeJS.Signals): void => {
    if (!hasExited) trySignal(target, name);
  };
  // For a supervisor that does not get to its end, because what it watches keeps it stopped.
  const endLater = (left = graces): void => {
    clock.after(graceMs, () => {
      if (hasExited) return;
      if (left === 0 || isStopped(pid)) endMarked(id, pid);
      else endLater(left - 1);
    });
  };
  const signal = (name: Signal): void => {
    if (hasPerl) {
      signalOne(pid, name === 'SIGKILL' ? 'SIGALRM' : name);
      if (name === 'SIGKILL' || name === 'SIGTERM') signalOne(pid, 'SIGCONT');
      if (name === 'SIGKILL') endLater();
      if (name === 'SIGTERM') clock.after(graceMs, () => endLater());
      return;
    }
    signalOne(-pid, name);
    if (name === 'SIGKILL') signalMarked(id, name);
    if (name === 'SIGTERM') clock.after(graceMs, () => endMarked(id, pid));
  };
  const sockets = { stdout: streamOf(child.stdout), stderr: streamOf(child.stderr) };
  const streams = hasPerl ? openPipes(child, pid, sockets) : Promise.resolve(sockets);
  return { pid, streams, input: given === undefined ? undefined : input, exited, signal };
}

/** The pipes that the supervisor reports; its own output if they cannot be opened. */
async function openPipes(child: ChildProcess, pid: number, sockets: Streams): Promise<Streams> {
  const line = await new Promise<string>((resolve) => {
    sockets.stdout.once('data', (bytes: Buffer) => resolve(bytes.toString('latin1')));
    sockets.stdout.once('close', () => resolve(''));
  });
  sockets.stdout.pause();
  const [, out, error] = /^(\d+) (\d+)\n$/.exec(line) ?? [];
  const opened = [openPipe(pid, out), openPipe(pid, error)] as const;
  const [stdout, stderr] = opened;
  child.stdin?.on('error', () => undefined);
  if (stdout !== undefined && stderr !== undefined) {
    child.stdin?.end('opened');
    sockets.stdout.resume();
    sockets.stderr.resume();
    return { stdout, stderr };
  }
  for (const one of opened) one?.destroy();
  child.stdin?.end('not');
  return sockets;
}

function openPipe(pid: number, descriptor: string | undefined): Socket | undefined {
  if (descriptor === undefined) return undefined;
  try {
    const fd = openSync(`/proc/${pid}/fd/${descriptor}`, constants.O_RDONLY | constants.O_NONBLOCK);
    return new Socket({ fd, readable: true, writable: false });
  } catch {
    return undefined;
  }
}

function streamOf(stream: Readable | null): Readable {
  if (stream === null) throw new Error('the process has no output');
  return stream;
}

/** One program argument is at most 128 KiB, so a longer command comes through descriptor 3. */
function isLong(command: string): boolean {
  return Buffer.byteLength(command) > 100_000;
}

function shellOf(command: string): string[] {
  const read = 'IFS= read -r -d "" command <&3; exec 3<&-; eval "$command"';
  return ['/bin/bash', '-c', isLong(command) ? read : command];
}

/** The program reads from descriptor 3, because the supervisor uses its own input. */
function programOf(command: string, args: readonly string[]): string[] {
  return ['/bin/bash', '-c', 'exec "$@" <&3 3<&-', 'bash', command, ...args];
}

/** By a signal, or held by a tracer. */
function isStopped(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return /^\) [Tt] /.test(stat.slice(stat.lastIndexOf(')')));
  } catch {
    return false;
  }
}

function trySignal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has already ended.
  }
}

/** The last resort: the group and every process that carries the marker, again while those it missed fork. */
function endMarked(id: string, pid: number, more = 100): void {
  trySignal(-pid, 'SIGKILL');
  if (signalMarked(id, 'SIGKILL') > 0 && more > 0) clock.after(20, () => endMarked(id, pid, more - 1));
}

/** Returns how many there were. */
function signalMarked(id: string, name: NodeJS.Signals): number {
  const text = `${marker}=${id}`;
  const marked = readdirSync('/proc').filter(
    (pid) => /^\d+$/.test(pid) && environmentOf(pid).split('\0').includes(text),
  );
  for (const pid of marked) trySignal(Number(pid), name);
  return marked.length;
}

function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    return '';
  }
}
