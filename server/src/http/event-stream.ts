import type { ServerResponse } from 'node:http';
import { systemClock, type Timer } from '../platform/clock.ts';

const idleCommentMs = 15_000;
/** A reader this many bytes behind is disconnected; it can come back with `last-event-id`. */
const maxBufferedBytes = 8 * 1024 * 1024;

const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'x-accel-buffering': 'no',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
};

/**
 * One server-sent event stream to one client, written directly to Node's response: no web streams on the token path.
 * Comment lines keep it alive every 15 s while nothing is sent (contract.md section 6).
 */
export class EventStream {
  readonly #outgoing: ServerResponse;
  readonly #onClose: () => void;
  #closed = false;
  #lastWriteAt = 0;
  /**
   * Bytes buffered by the latest write to a reader that was not behind: a long catch-up alone does not count as slow.
   */
  #handedOver = 0;

  constructor(outgoing: ServerResponse, headers: Record<string, string>, onClose: () => void) {
    this.#outgoing = outgoing;
    this.#onClose = onClose;
    outgoing.writeHead(200, { ...streamHeaders, ...headers });
    outgoing.flushHeaders();
    outgoing.socket?.setNoDelay(true);
    outgoing.on('error', () => this.#leave());
    outgoing.on('close', () => this.#leave());
    this.#lastWriteAt = systemClock.elapsed();
    // A client that left while the answer was being prepared has already closed; no event will say so.
    if (outgoing.destroyed) {
      this.#leave();
      return;
    }
    openStreams.add(this);
    startIdleComments();
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Sends whole events, each ended by a blank line. */
  write(events: string): void {
    if (this.#closed) return;
    this.#lastWriteAt = systemClock.elapsed();
    const isBehind = this.#outgoing.writableLength > 0;
    writeChunk(this.#outgoing, events);
    const buffered = this.#outgoing.writableLength;
    if (!isBehind) this.#handedOver = buffered;
    else if (buffered > this.#handedOver + maxBufferedBytes) this.#outgoing.destroy();
  }

  end(events: string): void {
    if (this.#closed) return;
    this.#outgoing.end(events);
  }

  /** One timer calls this for all open streams, so that idle streams need no timers. */
  keepAlive(now: number): void {
    if (now - this.#lastWriteAt >= idleCommentMs) this.write(': keep-alive\n\n');
  }

  #leave(): void {
    if (this.#closed) return;
    this.#closed = true;
    openStreams.delete(this);
    this.#onClose();
  }
}

const openStreams = new Set<EventStream>();

/** Streams currently open to clients of this process. */
export function openStreamCount(): number {
  return openStreams.size;
}

let idleTimer: Timer | undefined;

function startIdleComments(): void {
  if (idleTimer !== undefined) return;
  idleTimer = systemClock.every(1_000, () => {
    const now = systemClock.elapsed();
    for (const stream of openStreams) stream.keepAlive(now);
    if (openStreams.size > 0) return;
    idleTimer?.stop();
    idleTimer = undefined;
  });
}

/**
 * One HTTP chunk as one string and one system call, where ServerResponse makes four pieces and waits for the next tick.
 * A response that is waiting for its turn on the connection, or for earlier output, uses the normal way.
 */
function writeChunk(outgoing: ServerResponse, text: string): void {
  const { socket } = outgoing;
  if (socket === null || !outgoing.chunkedEncoding || outgoing.writableLength > socket.writableLength) {
    outgoing.write(text);
    return;
  }
  socket.write(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
}
