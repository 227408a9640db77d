import { randomUUID } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { systemClock, type Timer } from '../platform/clock.ts';
import { type JobLimits, ParseFailure, ParserChild } from './child.ts';
import { findProgram, type Wall } from './launch.ts';
import type { Answer, Request } from './protocol.ts';

/** A task refused the bytes in an orderly way; `data` is what it threw. */
export class ParseRefused extends Error {
  readonly data: unknown;

  constructor(data: unknown) {
    super('The bytes were refused');
    this.data = data;
  }
}

export type JobOptions = {
  limits: JobLimits;
  signal: AbortSignal;
  /** A file that the child may read during the job. */
  file?: string;
};

const usualHeapMb = 512;
const idleMs = 300_000;
const mostIdle = 2;
/** A child that did more is replaced. */
const mostUse = { jobs: 200, memoryBytes: 224 * 1024 * 1024, cpuMs: 120_000 };
const closeJobMs = 2_000;
const strayMs = 86_400_000;

type Idle = { child: ParserChild; timer: Timer };

/**
 * The only way to parse bytes that a person or another server made: child processes with their own limits, inside
 * bubblewrap without network and files where it works. They are kept for a while and used again.
 */
export class Sandbox {
  readonly #folder: string;
  readonly #log: Pick<Logger, 'warn'>;
  readonly #children = new Set<ParserChild>();
  readonly #idle: Idle[] = [];
  #wall: Wall | undefined;
  #isClosed = false;
  #warming: Promise<void> | undefined;
  #sweeping: Promise<void> | undefined;

  /** `folder`: for the files that children are lent; on the same disk as those. */
  constructor(folder: string, log: Pick<Logger, 'warn'>) {
    this.#folder = folder;
    this.#log = log;
  }

  /** How many children there are. */
  get size(): number {
    return this.#children.size;
  }

  /** Starts a child in the background if none is ready: the next small file need not wait for it. */
  warm(): void {
    if (this.#isClosed || this.#warming !== undefined || this.#idle.length > 0) return;
    this.#warming = this.#start(usualHeapMb)
      .then(
        (child) => this.#keep(child),
        (error: unknown) => this.#log.warn({ cause: error }, 'failed to start a process that parses files'),
      )
      .finally(() => {
        this.#warming = undefined;
      });
  }

  /** Begins a job. Throws ParseRefused, ParseFailure, and the signal's reason. */
  async open(task: string, input: unknown, options: JobOptions): Promise<Job> {
    options.signal.throwIfAborted();
    const child = await this.#take(options.limits.heapMb);
    child.work();
    child.jobs += 1;
    const job = new Job(child, options, () => this.#give(child));
    try {
      const file = options.file === undefined ? undefined : await child.lend(options.file);
      job.opened = await job.request({ open: task, input, ...(file === undefined ? {} : { file }) });
      return job;
    } catch (error) {
      await job.close();
      throw error;
    }
  }

  /** Ends all children; resolves when they are gone. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { timer } of this.#idle.splice(0)) timer.stop();
    for (const child of this.#children) {
      child.work();
      child.kill();
    }
    await Promise.all([...this.#children].map(({ ended }) => ended));
  }

  async #take(heapMb: number): Promise<ParserChild> {
    if (this.#isClosed) throw new ParseFailure('interrupted', 'the service stops');
    await this.#warming;
    for (;;) {
      const index = this.#idle.findLastIndex(({ child }) => child.heapMb === heapMb);
      const [idle] = index === -1 ? [] : this.#idle.splice(index, 1);
      if (idle === undefined) return this.#start(heapMb);
      idle.timer.stop();
      if (idle.child.isAlive) return idle.child;
    }
  }

  /** Starts a child in bubblewrap, or without it if bubblewrap does not work here. */
  async #start(heapMb: number): Promise<ParserChild> {
    this.#sweeping ??= this.#removeStrays();
    const isTried = process.platform === 'linux' && findProgram('bwrap') !== undefined;
    const wall = this.#wall ?? (isTried ? 'bubblewrap' : 'none');
    try {
      const child = await this.#startIn(wall, heapMb);
      this.#wall ??= wall;
      return child;
    } catch (error) {
      const isRefused = error instanceof ParseFailure && error.reason === 'crashed';
      if (this.#wall !== undefined || wall === 'none' || !isRefused) throw error;
      this.#log.warn({ reason: error.message }, 'bubblewrap does not work here: parsing files without it');
      this.#wall = 'none';
      return this.#startIn('none', heapMb);
    }
  }

  async #startIn(wall: Wall, heapMb: number): Promise<ParserChild> {
    const child = await ParserChild.start({ wall, heapMb, folder: join(this.#folder, randomUUID()) });
    this.#children.add(child);
    void child.ended.then(() => this.#children.delete(child));
    if (this.#isClosed) child.kill();
    return child;
  }

  #give(child: ParserChild): void {
    const usage = child.usage;
    const isWorn =
      child.jobs >= mostUse.jobs ||
      (usage !== undefined && (usage.memoryBytes > mostUse.memoryBytes || usage.cpuMs > mostUse.cpuMs));
    if (isWorn) child.kill();
    else this.#keep(child);
  }

  #keep(child: ParserChild): void {
    if (this.#isClosed || this.#idle.length >= mostIdle) {
      child.kill();
      return;
    }
    child.rest();
    const timer = systemClock.after(idleMs, () => {
      this.#idle.splice(
        this.#idle.findIndex((idle) => idle.child === child),
        1,
      );
      child.kill();
    });
    this.#idle.push({ child, timer });
  }

  /** Removes folders left behind by killed processes. */
  async #removeStrays(): Promise<void> {
    for (const name of await readdir(this.#folder).catch(() => [])) {
      const path = join(this.#folder, name);
      const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
      if (mtimeMs < Date.now() - strayMs) await rm(path, { recursive: true, force: true }).catch(() => undefined);
    }
  }
}

/** Something that a child works on, until it is closed. */
export class Job {
  /** The first answer of the task. */
  opened: unknown;
  readonly #child: ParserChild;
  readonly #options: JobOptions;
  readonly #giveBack: () => void;
  readonly #cpuStartMs: number;
  #closing: Promise<void> | undefined;
  #isSound = false;

  constructor(child: ParserChild, options: JobOptions, giveBack: () => void) {
    this.#child = child;
    this.#options = options;
    this.#giveBack = giveBack;
    this.#cpuStartMs = child.usage?.cpuMs ?? 0;
  }

  /** Of the child that works on it. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Throws like Sandbox.open. One question at a time. */
  ask(question: unknown): Promise<unknown> {
    return this.request({ ask: question });
  }

  async request(request: Request): Promise<unknown> {
    this.#isSound = false;
    const { limits, signal } = this.#options;
    const answer: Answer = await this.#child.request(request, limits, this.#cpuStartMs, signal);
    if ('refused' in answer) {
      this.#isSound = true;
      throw new ParseRefused(answer.refused);
    }
    if ('failed' in answer) throw new ParseFailure('failed', String(answer.failed));
    this.#isSound = true;
    return 'value' in answer ? answer.value : undefined;
  }

  /** Gives the child back, or ends it if it did not come through well. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { limits, file } = this.#options;
    if (!this.#isSound) {
      this.#child.kill();
      return this.#child.ended;
    }
    try {
      const signal = new AbortController().signal;
      await this.#child.request({ close: true }, { ...limits, stepMs: closeJobMs }, this.#cpuStartMs, signal);
      if (file !== undefined) await this.#child.takeBack();
      this.#giveBack();
    } catch {
      this.#child.kill();
    }
  }
}
