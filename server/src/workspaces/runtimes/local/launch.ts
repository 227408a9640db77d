import { type ChildProcess, spawn } from 'node:child_process';
import type { Server } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { sealed } from '../../../platform/inherited-descriptors.ts';
import { RuntimeFailure } from '../../runtime.ts';
import { describeLaunch, descriptors, type Sandbox, type Tools } from './sandbox.ts';

/** A sandbox that has been started. */
export type Launch = {
  /** Outside: the process that waits for everything in it. */
  pid: number;
  /** The first process inside, by its id outside. Rejects if there never was one. */
  inner: Promise<number>;
  /** Resolves with the first line of the ready pipe; rejects with RuntimeFailure if the sandbox ended first. */
  ready: Promise<void>;
  /** Resolves when the outer process has ended, with the reason in words. */
  ended: Promise<{ code: number | null; why: string }>;
};

const keptOutput = 4_000;
const heardOutput = 1024 * 1024;

/**
 * Starts a sandbox. `listener` becomes descriptor 3 inside. It survives the end of this process. `host` is its working
 * folder outside, by which it is found again.
 */
export function launchSandbox(options: {
  sandbox: Sandbox;
  tools: Tools;
  filter: Buffer;
  host: string;
  listener: Server | undefined;
}): Launch {
  const { file, args, options: sandboxOptions } = describeLaunch(options.sandbox, options.tools);
  const given = sealed(['ignore', 'ignore', 'pipe', descriptorOf(options.listener), 'pipe', 'pipe', 'pipe', 'pipe']);
  const child: ChildProcess = spawn(file, args, {
    cwd: options.host,
    // The environment it would inherit contains secrets.
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    detached: true,
    stdio: given.stdio,
  });
  given.close();
  child.unref();
  const output = collect(child.stderr);
  const pipes: Pipe[] = [...child.stdio];
  send(pipes[descriptors.options], sandboxOptions);
  send(pipes[descriptors.filter], options.filter);
  const ended = new Promise<{ code: number | null; why: string }>((resolve) => {
    child.once('error', (error) => resolve({ code: null, why: error.message }));
    child.once('exit', (code, signal) => resolve({ code, why: describeEnd(code, signal, output()) }));
  });
  const fails = ended.then(({ why }) => Promise.reject(new RuntimeFailure(why)));
  fails.catch(() => undefined);
  const inner = Promise.race([firstLine(pipes[descriptors.info], '}').then(parseInner), fails]);
  const ready = Promise.race([firstLine(pipes[descriptors.ready], '\n').then(() => undefined), fails]);
  for (const promise of [inner, ready]) promise.catch(() => undefined);
  return { pid: child.pid ?? 0, inner, ready, ended };
}

/** The descriptor of a listening server: Node has no public API for it. */
function descriptorOf(listener: Server | undefined): number | 'ignore' {
  if (listener === undefined) return 'ignore';
  const handle = '_handle' in listener ? listener._handle : undefined;
  const hasDescriptor = typeof handle === 'object' && handle !== null && 'fd' in handle;
  if (!hasDescriptor || typeof handle.fd !== 'number') throw new Error('a listening server has a descriptor');
  return handle.fd;
}

type Pipe = Readable | Writable | null | undefined;

function send(pipe: Pipe, data: Buffer): void {
  const writable = pipe as Writable;
  writable.on('error', () => undefined);
  writable.end(data);
}

/** Everything up to this text, then the pipe is closed; never resolves if it does not come. */
function firstLine(pipe: Pipe, end: string): Promise<string> {
  const readable = pipe as Readable;
  let text = '';
  return new Promise((resolve) => {
    readable.on('error', () => undefined);
    readable.setEncoding('utf8').on('data', (part: string) => {
      text += part;
      if (!text.includes(end) && text.length < keptOutput) return;
      readable.destroy();
      if (text.includes(end)) resolve(text);
    });
  });
}

function parseInner(text: string): number {
  const pid = Number(/"child-pid"\s*:\s*(\d+)/.exec(text)?.[1]);
  if (!Number.isSafeInteger(pid)) throw new RuntimeFailure('bubblewrap did not say what it started');
  return pid;
}

/** The end of its output; if it never stops, the rest is ignored. */
function collect(stream: Readable | null): () => string {
  let kept = '';
  let received = 0;
  stream?.on('error', () => undefined);
  stream?.setEncoding('utf8').on('data', (text: string) => {
    kept = (kept + text).slice(-keptOutput);
    received += text.length;
    if (received > heardOutput) stream.destroy();
  });
  unref(stream);
  return () => kept;
}

function unref(stream: unknown): void {
  if (typeof stream === 'object' && stream !== null && 'unref' in stream && typeof stream.unref === 'function')
    stream.unref();
}

function describeEnd(code: number | null, signal: NodeJS.Signals | null, output: string): string {
  const last = output.trim().split('\n').at(-1)?.slice(0, 300);
  const end = signal === null ? `it ended with code ${code}` : `it was ended by ${signal}`;
  return last ? `${end}: ${last}` : end;
}
