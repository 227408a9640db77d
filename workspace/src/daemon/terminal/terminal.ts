import type { TerminalMessage } from '@homeport/contracts/workspace/daemon';
import { spawn } from '@lydell/node-pty';
import type { RawData, WebSocket } from 'ws';
import { clock, type Timer } from '../../clock.ts';
import { OutputRing } from './output-ring.ts';

const keptBytes = 256 * 1024;
/** If a socket has more than this unsent, the shell's output pauses until it has been sent. */
const bufferedMaxBytes = 1024 * 1024;
const stalledMs = 30_000;
/** Proxies drop connections that are silent for a minute; the pongs are traffic in the other direction. */
const pingMs = 20_000;
const killMs = 2_000;
const socketsMax = 4;
const columnsMax = 1_000;
const rowsMax = 1_000;

export type Size = { columns: number; rows: number };
type Start = { id: string; size: Size; home: string; environment: Record<string, string> };
/** Type of node-pty's result with `encoding: null`; its own types cover only text. */
type Pty = {
  onData(listener: (bytes: Buffer) => void): unknown;
  onExit(listener: (exit: { exitCode: number }) => void): unknown;
  write(bytes: Buffer): void;
  resize(columns: number, rows: number): void;
  pause(): void;
  resume(): void;
  kill(signal: string): void;
};
export type TerminalEvents = {
  onInput(): void;
  /** The last socket has closed. */
  onDetached(): void;
  onExit(): void;
};

/** One shell on a pseudo-terminal, and everybody who watches it. */
export class Terminal {
  readonly id: string;
  readonly #pty: Pty;
  readonly #ring = new OutputRing(keptBytes);
  readonly #sockets = new Set<WebSocket>();
  readonly #events: TerminalEvents;
  #stalled: Timer | undefined;
  #hasExited = false;

  constructor({ id, size, home, environment }: Start, events: TerminalEvents) {
    this.id = id;
    this.#events = events;
    this.#pty = spawnShell(size, home, environment);
    this.#pty.onData((bytes) => this.#output(bytes));
    this.#pty.onExit(({ exitCode }) => this.#exit(exitCode));
  }

  get isAttached(): boolean {
    return this.#sockets.size > 0;
  }

  /** Sends `attached`, the output that was kept, then new output; closes the oldest socket if there are too many. */
  attach(socket: WebSocket, size: Size, isNew: boolean): void {
    const [oldest] = this.#sockets;
    if (this.#sockets.size >= socketsMax) oldest?.close(4000, 'The terminal was opened elsewhere');
    sendMessage(socket, { type: 'attached', id: this.id, isNew });
    const kept = this.#ring.read();
    if (kept.length > 0) socket.send(kept);
    this.#sockets.add(socket);
    if (!isNew) this.#resize(size);
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    const stopPings = keepAlive(socket);
    socket.on('close', () => {
      stopPings();
      this.#sockets.delete(socket);
      this.#resume();
      if (!this.isAttached) this.#events.onDetached();
    });
  }

  /** A line of ours between what the shell says. */
  notify(text: string): void {
    this.#output(Buffer.from(`\r\n[${text}]\r\n`));
  }

  /** Ends the shell; watchers receive its exit code. */
  kill(signal: 'SIGHUP' | 'SIGKILL'): void {
    if (this.#hasExited) return;
    this.#pty.kill(signal);
    if (signal === 'SIGHUP') clock.after(killMs, () => this.kill('SIGKILL'));
  }

  #output(bytes: Buffer): void {
    this.#ring.push(bytes);
    for (const socket of this.#sockets) socket.send(bytes, () => this.#resume());
    if (this.#stalled !== undefined || !this.#isBehind()) return;
    this.#pty.pause();
    this.#stalled = clock.after(stalledMs, () => this.#dropStalled());
  }

  #isBehind(): boolean {
    return [...this.#sockets].some((socket) => socket.bufferedAmount > bufferedMaxBytes);
  }

  #resume(): void {
    if (this.#stalled === undefined || this.#isBehind()) return;
    this.#stalled?.stop();
    this.#stalled = undefined;
    if (!this.#hasExited) this.#pty.resume();
  }

  #dropStalled(): void {
    for (const socket of this.#sockets) if (socket.bufferedAmount > bufferedMaxBytes) socket.terminate();
  }

  #receive(data: RawData, isBinary: boolean): void {
    if (this.#hasExited || !Buffer.isBuffer(data)) return;
    if (isBinary) {
      this.#events.onInput();
      this.#pty.write(data);
      return;
    }
    const message = parseMessage(data.toString('utf8'));
    if (message === 'close') this.kill('SIGHUP');
    else if (message !== undefined) this.#resize(message);
  }

  #resize({ columns, rows }: Size): void {
    try {
      this.#pty.resize(columns, rows);
    } catch {
      // The shell is just ending.
    }
  }

  #exit(exitCode: number): void {
    this.#hasExited = true;
    this.#stalled?.stop();
    for (const socket of this.#sockets) {
      sendMessage(socket, { type: 'exit', exitCode });
      socket.close(1000);
    }
    this.#events.onExit();
  }
}

function spawnShell({ columns, rows }: Size, home: string, environment: Record<string, string>): Pty {
  // Unless /etc/profile or a file in the home says otherwise.
  const env = { ...environment, PS1: '\\[\\e[1;34m\\]\\w\\[\\e[0m\\] \\$ ' };
  const options = { name: 'xterm-256color', cols: columns, rows, cwd: home, env, encoding: null };
  return spawn('/bin/bash', ['-l'], options) as unknown as Pty;
}

function sendMessage(socket: WebSocket, message: TerminalMessage): void {
  socket.send(JSON.stringify(message));
}

type KeptSocket = { on(event: 'pong', listener: () => void): unknown; ping(): void; terminate(): void };

/** Closes a connection whose other side does not answer a ping before the next one. */
export function keepAlive(socket: KeptSocket): () => void {
  let answered = true;
  socket.on('pong', () => {
    answered = true;
  });
  const timer = clock.every(pingMs, () => {
    if (!answered) return socket.terminate();
    answered = false;
    socket.ping();
  });
  return () => timer.stop();
}

function parseMessage(text: string): Size | 'close' | undefined {
  try {
    const { type, columns, rows } = JSON.parse(text) ?? {};
    if (type === 'close') return 'close';
    return type === 'resize' ? checkSize(columns, rows) : undefined;
  } catch {
    return undefined;
  }
}

/** A terminal's size; undefined if it is invalid. */
export function checkSize(columns: unknown, rows: unknown): Size | undefined {
  const isWhole = (value: unknown, max: number): value is number =>
    Number.isInteger(value) && Number(value) >= 1 && Number(value) <= max;
  return isWhole(columns, columnsMax) && isWhole(rows, rowsMax) ? { columns, rows } : undefined;
}
