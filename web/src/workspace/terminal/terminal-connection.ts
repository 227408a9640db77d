import type { TerminalMessage } from '@homeport/contracts/workspace/daemon';
import { backoff, wait } from '../../conversation/stream/backoff.ts';

/** The part of a WebSocket that is used here. */
export type TerminalSocket = Pick<WebSocket, 'send' | 'close' | 'readyState'>;
export type SocketEvents = { onOpen: () => void; onMessage: (data: unknown) => void; onClose: (code: number) => void };

export type TerminalState =
  | { kind: 'connecting' | 'open' | 'lost' | 'elsewhere' | 'stopped' }
  | { kind: 'exited'; exitCode: number }
  /** It cannot be opened; `refused`: the server answers, but every WebSocket is refused on the way. */
  | { kind: 'failed'; reason: 'refused' | 'unknown' };

export type Size = { columns: number; rows: number };

export type TerminalDeps = {
  open: (target: { id: string } & Size, events: SocketEvents) => TerminalSocket;
  /**
   * Called before each attempt after the first: false if the workspace is not running, since reconnecting must not start
   * it. Rejects if the state is unknown.
   */
  isRunning: () => Promise<boolean>;
  size: () => Size;
  /** The terminal's output is about to be sent again from the beginning. */
  onReset: () => void;
  /** Bytes to show. Resolves once they are shown. */
  onOutput: (bytes: Uint8Array) => Promise<void>;
  onState: (state: TerminalState) => void;
  wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
};

/** The server's code for a terminal that was opened in too many places. */
const openedElsewhere = 4000;
const openState = 1;
/** Bytes of input in one message; the daemon accepts four times as much. */
const inputBytes = 64 * 1024;
/** Bytes waiting to be shown: above this, fetching the end of the output again is quicker than showing everything. */
const waitingBytes = 8 * 1024 * 1024;
/** Failed attempts in a row before the reason is shown, and those in which no connection was made. */
const attemptsMax = 6;
const refusalsMax = 3;

/** A terminal of the workspace, rejoined whenever the connection breaks, until it ends or `close` is called. */
export class TerminalConnection {
  readonly id: string;
  readonly #deps: TerminalDeps;
  readonly #closed = new AbortController();
  #socket: TerminalSocket | undefined;
  #hasShown = false;
  #waiting = 0;
  #attempt = 0;
  #refusals = 0;

  constructor(id: string, deps: TerminalDeps) {
    this.id = id;
    this.#deps = deps;
  }

  open(): void {
    if (this.#closed.signal.aborted) return;
    let isOpened = false;
    let isAttached = false;
    let exitCode: number | undefined;
    const onMessage = (data: unknown) => {
      if (data instanceof ArrayBuffer) return this.#show(new Uint8Array(data), socket);
      const message = readMessage(data);
      if (message?.type === 'exit') exitCode = message.exitCode;
      if (message?.type !== 'attached') return;
      isAttached = true;
      this.#attempt = 0;
      if (this.#hasShown) this.#deps.onReset();
      this.#hasShown = true;
      this.#deps.onState({ kind: 'open' });
      this.resize(this.#deps.size());
    };
    const onClose = (code: number) => {
      if (this.#socket !== socket || this.#closed.signal.aborted) return;
      this.#socket = undefined;
      if (exitCode !== undefined) this.#deps.onState({ kind: 'exited', exitCode });
      else if (code === openedElsewhere) this.#deps.onState({ kind: 'elsewhere' });
      else void this.#again(isOpened, isAttached);
    };
    const onOpen = () => {
      isOpened = true;
    };
    const socket = this.#deps.open({ id: this.id, ...this.#deps.size() }, { onOpen, onMessage, onClose });
    this.#socket = socket;
  }

  /** Rejoins at once, for example when the network is back. */
  async #again(wasOpened: boolean, wasAttached: boolean): Promise<void> {
    const { onState, isRunning } = this.#deps;
    const { signal } = this.#closed;
    if (wasAttached || this.#hasShown) onState({ kind: 'lost' });
    const pause = wasAttached ? 0 : backoff(this.#attempt);
    this.#attempt += 1;
    try {
      await this.#deps.wait(pause, signal);
      if (!(await isRunning())) return onState({ kind: 'stopped' });
      // Browsers don't tell why, but a server that answers is not the reason.
      this.#refusals = wasOpened ? 0 : this.#refusals + 1;
      if (this.#refusals >= refusalsMax) return onState({ kind: 'failed', reason: 'refused' });
      if (this.#attempt > attemptsMax) return onState({ kind: 'failed', reason: 'unknown' });
    } catch {
      // The state is unknown, so try to connect.
    }
    if (!signal.aborted) this.open();
  }

  #show(bytes: Uint8Array, socket: TerminalSocket): void {
    this.#waiting += bytes.length;
    void this.#deps.onOutput(bytes).finally(() => {
      this.#waiting -= bytes.length;
    });
    // Closing makes `onclose` rejoin, which shows only the end of the output.
    if (this.#waiting > waitingBytes && this.#socket === socket) socket.close();
  }

  /** Typed or pasted input. Lost while disconnected, as in any terminal. */
  input(bytes: Uint8Array<ArrayBuffer>): void {
    if (this.#socket?.readyState !== openState) return;
    for (let at = 0; at < bytes.length; at += inputBytes) this.#socket.send(bytes.subarray(at, at + inputBytes));
  }

  resize(size: Size): void {
    this.#say({ type: 'resize', ...size });
  }

  /** Ends the shell in the workspace. */
  end(): void {
    this.#say({ type: 'close' });
  }

  /** Closes the connection; the shell keeps running for a while. */
  close(): void {
    this.#closed.abort(new Error('The terminal is not looked at any more'));
    this.#socket?.close();
    this.#socket = undefined;
  }

  #say(message: TerminalMessage): void {
    if (this.#socket?.readyState === openState) this.#socket.send(JSON.stringify(message));
  }
}

/** Waits, but only until the network is back. */
export function waitOnline(milliseconds: number, signal: AbortSignal): Promise<void> {
  return wait(milliseconds, signal, typeof window === 'undefined' ? undefined : window);
}

function readMessage(data: unknown): TerminalMessage | undefined {
  try {
    const value: unknown = typeof data === 'string' ? JSON.parse(data) : undefined;
    return typeof value === 'object' && value !== null && 'type' in value ? (value as TerminalMessage) : undefined;
  } catch {
    return undefined;
  }
}
