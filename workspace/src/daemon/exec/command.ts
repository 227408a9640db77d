import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { ExecEvent, ExecRequest, ProcessState } from '@homeport/contracts/workspace/daemon';
import { clock, type Timer } from '../../clock.ts';
import { openLog } from './output-log.ts';
import type { Reader } from './reader.ts';
import { perlPath, type Signal, type Streams, type Supervised, startSupervised } from './supervisor.ts';

/** This many bytes of text are at most 32 KiB, even if each byte becomes U+FFFD. */
const pieceBytes = 10_000;
/** How long processes that escaped the supervisor may hold the output open. */
const lateOutputMs = 2_000;
const commandShownMax = 1_000;

type Start = {
  request: ExecRequest;
  /** The working folder, as a descriptor path that cannot be replaced. */
  cwd: string;
  home: string;
  environment: Record<string, string>;
  /** Awaited before its end is reported. */
  beforeEnd: () => Promise<void>;
  onEnd: (command: Command) => void;
};
type Exit = Extract<ExecEvent, { type: 'exit' }>;

/** One command, from its start until its output is discarded. */
export class Command {
  readonly request: ExecRequest;
  readonly pid: number;
  readonly #log: ReturnType<typeof openLog>;
  readonly #signal: (name: Signal) => void;
  #streams: Streams | undefined;
  readonly #startedAt = new Date();
  readonly #began = clock.elapsed();
  readonly #readers = new Set<Reader>();
  readonly #beforeEnd: () => Promise<void>;
  readonly #onEnd: (command: Command) => void;
  #exit: Exit | undefined;
  #timedOut = false;
  #timer: Timer | undefined;

  /** Throws the system's message if no process can be started. */
  constructor({ request, cwd, home, environment, beforeEnd, onEnd }: Start) {
    this.request = request;
    this.#beforeEnd = beforeEnd;
    this.#onEnd = onEnd;
    const { id, command, background: keep = false, readOnly = false, joined = false, timeoutMs } = request;
    const supervised = startSupervised({ id, command, cwd, environment, keep, readOnly, joined, perl: perlPath });
    this.#signal = supervised.signal;
    this.pid = supervised.pid;
    this.#log = openLog(home, id);
    void this.#run(supervised);
    const limit = timeoutMs ?? (keep ? undefined : defaultTimeoutMs);
    if (limit !== undefined) this.#timer = clock.after(limit, () => this.#timeOut());
  }

  get isRunning(): boolean {
    return this.#exit === undefined;
  }

  get startedMs(): number {
    return this.#startedAt.getTime();
  }

  get state(): ProcessState {
    const { id, command, background = false } = this.request;
    return {
      id,
      command: command.slice(0, commandShownMax).toWellFormed(),
      pid: this.pid,
      background,
      running: this.isRunning,
      startedAt: this.#startedAt.toISOString(),
      exitCode: this.#exit?.exitCode ?? null,
      signal: this.#exit?.signal ?? null,
      outputBytes: this.#log.totalBytes,
      logPath: this.#logPath,
    };
  }

  get started(): ExecEvent {
    return { type: 'start', id: this.request.id, pid: this.pid, logPath: this.#logPath };
  }

  get #logPath(): string {
    return `~/.workspace/exec/${this.request.id}.log`;
  }

  /** Adds a line of ours to what it says. */
  notify(text: string): void {
    if (!this.isRunning) return;
    const line = `[${text}]\n`;
    this.#log.append(Buffer.from(line));
    this.#send('stderr', [line]);
  }

  signal(name: Signal): void {
    if (this.isRunning) this.#signal(name);
  }

  /** Sends everything from byte `from`; with `stays`, also what comes until the command has ended. */
  async follow(reader: Reader, from: number, stays = true): Promise<void> {
    let next = from;
    let decoder = new StringDecoder('utf8');
    while (reader.isOpen && next < this.#log.totalBytes) {
      const { at, bytes } = await this.#log.read(next, pieceBytes);
      if (bytes.length === 0) break;
      if (at !== next) decoder = new StringDecoder('utf8');
      next = at + bytes.length;
      reader.send(textEvents('stdout', decoder.write(bytes)));
      await reader.drained();
    }
    // Nothing was awaited since the log's end was reached, so no byte is lost. An unfinished character there is sent to
    // followers once complete.
    if (this.#exit !== undefined) reader.send(textEvents('stdout', decoder.end()));
    if (stays || this.#exit !== undefined) this.attach(reader);
    else reader.end();
  }

  /** Sends new output from now on. */
  attach(reader: Reader): void {
    if (this.#exit !== undefined) this.#sendExit(reader, this.#exit);
    else if (reader.isOpen) this.#readers.add(reader);
  }

  /** A reader has disconnected; a foreground command without readers is ended. */
  detach(reader: Reader): void {
    if (!this.#readers.delete(reader)) return;
    if (this.#readers.size === 0 && this.request.background !== true) this.signal('SIGTERM');
  }

  /** Discards its output. */
  forget(): void {
    this.#log.close();
  }

  async #run({ streams, exited }: Supervised): Promise<void> {
    const { stdout, stderr } = await streams;
    this.#streams = { stdout, stderr };
    const ended = Promise.all([this.#pump(stdout, 'stdout'), this.#pump(stderr, 'stderr')]);
    const { exitCode, signal } = await exited;
    this.#endLateOutput({ stdout, stderr });
    await ended;
    await this.#beforeEnd();
    this.#finish(exitCode, signal);
  }

  /** Resolves when no more output comes. */
  #pump(stream: Readable, type: 'stdout' | 'stderr'): Promise<void> {
    const decoder = new StringDecoder('utf8');
    stream.on('error', () => undefined);
    stream.on('data', (chunk: Buffer) => {
      this.#log.append(chunk);
      if (this.#readers.size === 0) return void decoder.write(chunk);
      this.#send(
        type,
        pieces(chunk).map((piece) => decoder.write(piece)),
      );
      this.#waitForReaders();
    });
    return new Promise((resolve) => {
      stream.once('close', () => {
        this.#send(type, [decoder.end()]);
        resolve();
      });
    });
  }

  #send(type: 'stdout' | 'stderr', texts: string[]): void {
    const events = texts.flatMap((text) => textEvents(type, text));
    if (events.length > 0) for (const reader of this.#readers) reader.send(events);
  }

  /** A command writes no faster than its slowest reader reads. */
  #waitForReaders(): void {
    const slow = [...this.#readers].filter((reader) => !reader.isReady);
    if (slow.length === 0 || this.#streams === undefined || this.#streams.stdout.isPaused()) return;
    const { stdout, stderr } = this.#streams;
    stdout.pause();
    stderr.pause();
    void Promise.all(slow.map((reader) => reader.drained())).then(() => {
      stdout.resume();
      stderr.resume();
    });
  }

  #timeOut(): void {
    this.#timedOut = true;
    this.signal('SIGTERM');
  }

  #endLateOutput({ stdout, stderr }: Streams): void {
    clock.after(lateOutputMs, () => {
      if (!this.isRunning) return;
      if (stdout.isPaused()) return this.#endLateOutput({ stdout, stderr });
      stdout.destroy();
      stderr.destroy();
    });
  }

  #finish(exitCode: number | null, signal: string | null): void {
    if (this.#exit !== undefined) return;
    this.#timer?.stop();
    const { totalBytes: outputBytes, omittedBytes } = this.#log;
    const durationMs = Math.round(clock.elapsed() - this.#began);
    this.#exit = { type: 'exit', exitCode, signal, timedOut: this.#timedOut, durationMs, outputBytes, omittedBytes };
    for (const reader of this.#readers) this.#sendExit(reader, this.#exit);
    this.#readers.clear();
    this.#onEnd(this);
  }

  #sendExit(reader: Reader, exit: Exit): void {
    reader.send([exit]);
    reader.end();
  }
}

const defaultTimeoutMs = 120_000;

function pieces(chunk: Buffer): Buffer[] {
  const count = Math.ceil(chunk.length / pieceBytes);
  return Array.from({ length: count }, (_, index) => chunk.subarray(index * pieceBytes, (index + 1) * pieceBytes));
}

function textEvents(type: 'stdout' | 'stderr', data: string): ExecEvent[] {
  return data === '' ? [] : [{ type, data }];
}
