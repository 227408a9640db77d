import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { copyFile, link, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { systemClock, type Timer } from '../platform/clock.ts';
import { sealed } from '../platform/inherited-descriptors.ts';
import { encodeFrame, FrameReader } from './frames.ts';
import { describeLaunch, infoDescriptor, type Wall } from './launch.ts';
import { type Answer, frameDescriptor, type Request } from './protocol.ts';
import { readUsage } from './usage.ts';

/**
 * The reason why a job ended without an answer. `crashed` has no known cause; after `interrupted` the bytes are not to
 * blame.
 */
export type FailureReason = 'memory' | 'time' | 'failed' | 'crashed' | 'interrupted';

export class ParseFailure extends Error {
  readonly reason: FailureReason;

  constructor(reason: FailureReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

export type JobLimits = {
  heapMb: number;
  /** Of the whole process, looked at every few milliseconds. */
  memoryBytes: number;
  /** Processor time of the whole job. */
  cpuMs: number;
  /** Time until an answer. */
  stepMs: number;
};

const watchEveryMs = 25;
const startMs = 30_000;
const reapMs = 1_000;
const keptOutput = 8_000;
const fileName = 'file';

/** A child process that parses, one job at a time. It is ended with SIGKILL, whatever it does. */
export class ParserChild {
  readonly heapMb: number;
  /** Resolves when it has ended. */
  readonly ended: Promise<void>;
  jobs = 0;
  readonly #process: ChildProcess;
  readonly #folder: string;
  readonly #inbox: string;
  readonly #reader = new FrameReader('child');
  #inner: number | undefined;
  #output = '';
  #failure: ParseFailure | undefined;
  #settle: ((answer: Answer | ParseFailure) => void) | undefined;
  #early: Answer | undefined;

  private constructor(options: { wall: Wall; heapMb: number; folder: string }) {
    this.heapMb = options.heapMb;
    this.#folder = options.folder;
    mkdirSync(options.folder, { recursive: true, mode: 0o700 });
    const { file, args, inbox } = describeLaunch({ ...options, inbox: options.folder });
    this.#inbox = inbox;
    const given = sealed(['ignore', 'ignore', 'pipe', 'pipe', options.wall === 'none' ? 'ignore' : 'pipe']);
    this.#process = spawn(file, args, {
      cwd: '/',
      // The environment it would inherit contains secrets.
      env: { TZ: 'UTC' },
      stdio: given.stdio,
      // A terminal's signals do not reach it.
      detached: true,
    });
    given.close();
    if (options.wall === 'none') this.#inner = this.#process.pid;
    this.ended = new Promise((resolve) => {
      const onEnd = (why: string): void => {
        this.#fail(this.#failureOf(why));
        void rm(this.#folder, { recursive: true, force: true }).then(resolve, resolve);
      };
      this.#process.once('error', (error) => onEnd(error.message));
      this.#process.once('close', (code, signal) => onEnd(signal ?? `code ${code}`));
    });
    this.#listen();
    lowerPriority(this.#process.pid);
  }

  /** Resolves once it waits for a job. Throws ParseFailure if it does not start. */
  static async start(options: { wall: Wall; heapMb: number; folder: string }): Promise<ParserChild> {
    const child = new ParserChild(options);
    try {
      await child.#receive(startMs);
    } catch (error) {
      child.kill();
      throw error;
    }
    for (const stream of [child.#process.stderr, child.#process.stdio[infoDescriptor]]) unref(stream);
    child.rest();
    return child;
  }

  get isAlive(): boolean {
    return this.#failure === undefined;
  }

  /** Undefined until it has started. */
  get pid(): number | undefined {
    return this.#inner;
  }

  get usage(): { memoryBytes: number; cpuMs: number } | undefined {
    return this.#inner === undefined ? undefined : readUsage(this.#inner);
  }

  /** Keeps the process of the service alive while it works, and only then. */
  work(): void {
    this.#process.ref();
    if (!this.#socket.destroyed) this.#socket.ref();
  }

  rest(): void {
    this.#process.unref();
    if (!this.#socket.destroyed) this.#socket.unref();
  }

  /** Makes a file readable for the child; returns the path as it sees it. */
  async lend(path: string): Promise<string> {
    const place = join(this.#folder, fileName);
    await link(path, place).catch(() => copyFile(path, place));
    return join(this.#inbox, fileName);
  }

  async takeBack(): Promise<void> {
    await rm(join(this.#folder, fileName), { force: true });
  }

  /** One answer. Throws ParseFailure and the signal's reason; the child is ended then. */
  async request(request: Request, limits: JobLimits, cpuStartMs: number, signal: AbortSignal): Promise<Answer> {
    signal.throwIfAborted();
    if (this.#failure !== undefined) throw this.#failure;
    for (const part of encodeFrame(request)) this.#socket.write(part);
    const watch = systemClock.every(watchEveryMs, () => this.#watch(limits, cpuStartMs));
    const onAbort = (): void => this.#end(new ParseFailure('interrupted', 'the job was canceled'));
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      return await this.#receive(limits.stepMs);
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      watch.stop();
      signal.removeEventListener('abort', onAbort);
    }
  }

  kill(): void {
    this.#end(new ParseFailure('interrupted', 'the service ended it'));
  }

  #watch({ memoryBytes, cpuMs }: JobLimits, cpuStartMs: number): void {
    const usage = this.usage;
    if (usage === undefined) return;
    if (usage.memoryBytes > memoryBytes) this.#end(new ParseFailure('memory', 'it took too much memory'));
    else if (usage.cpuMs - cpuStartMs > cpuMs) this.#end(new ParseFailure('time', 'it took too much processor time'));
  }

  async #receive(withinMs: number): Promise<Answer> {
    if (this.#failure !== undefined) throw this.#failure;
    let timer: Timer | undefined;
    const answer = await new Promise<Answer | ParseFailure>((resolve) => {
      this.#settle = resolve;
      if (this.#early !== undefined) resolve(this.#early);
      timer = systemClock.after(withinMs, () => this.#end(new ParseFailure('time', 'it took too long')));
    });
    timer?.stop();
    this.#settle = undefined;
    this.#early = undefined;
    if (answer instanceof ParseFailure) throw answer;
    return answer;
  }

  get #socket(): Socket {
    return this.#process.stdio[frameDescriptor] as Socket;
  }

  #listen(): void {
    this.#process.stderr?.on('data', (chunk: Buffer) => {
      this.#output = `${this.#output}${chunk.toString('latin1')}`.slice(-keptOutput);
    });
    this.#process.stderr?.on('error', () => undefined);
    this.#socket?.on('error', () => undefined);
    this.#socket?.on('data', (chunk: Buffer) => this.#read(chunk));
    let info = '';
    const stream = this.#process.stdio[infoDescriptor];
    stream?.on('error', () => undefined);
    stream?.on('data', (chunk: Buffer) => {
      info = `${info}${chunk.toString()}`.slice(0, keptOutput);
      const pid = Number(/"child-pid":\s*(\d+)/.exec(info)?.[1] ?? 0);
      if (pid > 0) this.#inner = pid;
    });
  }

  #read(chunk: Buffer): void {
    if (this.#failure !== undefined) return;
    try {
      for (const answer of this.#reader.push(chunk)) {
        if (!isAnswer(answer) || this.#early !== undefined) throw new Error('an answer out of turn');
        if (this.#settle === undefined) this.#early = answer;
        else this.#settle(answer);
      }
    } catch (error) {
      this.#end(new ParseFailure('failed', error instanceof Error ? error.message : 'it sent no frame'));
    }
  }

  #end(failure: ParseFailure): void {
    this.#fail(failure);
    // Not after its end: the number may belong to another process by then.
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    if (this.#inner === undefined || this.#inner === this.#process.pid) {
      this.#process.kill('SIGKILL');
      return;
    }
    // bubblewrap ends with the process inside, which it reaps.
    killProcess(this.#inner);
    const timer = systemClock.after(reapMs, () => this.#process.kill('SIGKILL'));
    this.#process.once('exit', () => timer.stop());
  }

  #fail(failure: ParseFailure): void {
    this.#failure ??= failure;
    this.#settle?.(this.#failure);
  }

  #failureOf(why: string): ParseFailure {
    const lastLine = this.#output.trim().split('\n').at(-1)?.slice(0, 300) ?? '';
    if (/heap limit|out of memory|bad_alloc/i.test(this.#output))
      return new ParseFailure('memory', 'its heap was full');
    const isSignaled = ['SIGTERM', 'SIGINT', 'SIGHUP'].includes(why);
    return new ParseFailure(
      isSignaled ? 'interrupted' : 'crashed',
      `it ended with ${why}${lastLine && `: ${lastLine}`}`,
    );
  }
}

function isAnswer(value: unknown): value is Answer {
  if (typeof value !== 'object' || value === null) return false;
  return 'ready' in value || 'value' in value || 'refused' in value || 'failed' in value;
}

function unref(stream: unknown): void {
  if (typeof stream === 'object' && stream !== null && 'unref' in stream && typeof stream.unref === 'function')
    stream.unref();
}

/** Requests are answered first where both want the same core. */
function lowerPriority(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // It ended already, or the system does not allow it.
  }
}

function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It is gone.
  }
}
