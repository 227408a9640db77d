import type { IncomingMessage } from 'node:http';
import { systemClock, type Timer } from '../platform/clock.ts';
import { reasonOf, unreachable } from './failures.ts';

/**
 * A response's body, to be read once: by `for await`, which ends it on leaving the loop, or by `pump`, which costs
 * least. If not read to its end, it must be released with `destroy`; otherwise the total time ends it.
 */
export type EgressBody = AsyncIterable<Uint8Array> & {
  /** Calls `onChunk` synchronously for each chunk as it arrives; resolves at the end, rejects as the iterator would. */
  pump(onChunk: (chunk: Uint8Array) => void): Promise<void>;
  /** Reads all of it as UTF-8 text; more than `maxBytes` fails with `too_large`. */
  text(maxBytes: number): Promise<string>;
  /** Closes the connection unless the body has been read to its end. Safe to call at any time and repeatedly. */
  destroy(): void;
};

/** `firstByteBy`: until when the first byte must have come, by the clock's elapsed time. */
export type BodyLimits = { idleTimeoutMs: number; maxResponseBytes: number; firstByteBy?: number | undefined };

const queueHighWater = 256 * 1024;

/**
 * Reads `message` as it arrives, without web streams or a promise per chunk: at thousands of small chunks a second,
 * those would be a stream's main cost. `onSettled` is called once, when nothing more can come.
 */
export class ResponseBody implements EgressBody {
  readonly #message: IncomingMessage;
  readonly #limits: BodyLimits;
  readonly #onSettled: () => void;
  readonly #idleTimer: Timer;
  #firstTimer: Timer | undefined;
  #received = 0;
  #state: 'flowing' | 'ended' | 'failed' = 'flowing';
  #failure: unknown;
  #onChunk: ((chunk: Uint8Array) => void) | undefined;
  #wake: (() => void) | undefined;

  constructor(message: IncomingMessage, limits: BodyLimits, onSettled: () => void) {
    this.#message = message;
    this.#limits = limits;
    this.#onSettled = onSettled;
    this.#idleTimer = systemClock.after(limits.idleTimeoutMs, () => this.#onIdle());
    if (limits.firstByteBy !== undefined) {
      const left = Math.max(0, limits.firstByteBy - systemClock.elapsed());
      this.#firstTimer = systemClock.after(left, () => this.fail(unreachable('timeout', 'response')));
    }
    message.on('end', () => this.#settle('ended', undefined));
    message.on('error', (error) => this.fail(unreachable(reasonOf(error), 'response')));
    message.on('close', () => this.destroy());
  }

  /** Ends the body with this error, unless it has already ended. */
  fail(failure: unknown): void {
    if (!this.#settle('failed', failure)) return;
    if (this.#message.complete) this.#message.resume();
    else this.#message.destroy();
  }

  destroy(): void {
    // Every response comes here in the end, and creating an error costs its stack.
    if (this.#state === 'flowing') this.fail(unreachable('reset', 'response'));
  }

  pump(onChunk: (chunk: Uint8Array) => void): Promise<void> {
    this.#start(onChunk);
    return new Promise((resolve, reject) => {
      const finish = () => (this.#state === 'failed' ? reject(this.#failure) : resolve());
      if (this.#state === 'flowing') this.#wake = finish;
      else finish();
    });
  }

  async text(maxBytes: number): Promise<string> {
    const decoder = new TextDecoder();
    let size = 0;
    let text = '';
    await this.pump((chunk) => {
      size += chunk.length;
      if (size > maxBytes) throw unreachable('too_large', 'response');
      text += decoder.decode(chunk, { stream: true });
    });
    return text + decoder.decode();
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array, undefined> {
    let chunks: Uint8Array[] = [];
    let index = 0;
    let queued = 0;
    let waiting: PromiseWithResolvers<IteratorResult<Uint8Array, undefined>> | undefined;
    const end = { done: true as const, value: undefined };

    const take = (): Promise<IteratorResult<Uint8Array, undefined>> | undefined => {
      const value = chunks[index];
      if (value !== undefined) {
        index += 1;
        return Promise.resolve({ done: false, value });
      }
      if (this.#state === 'failed') return Promise.reject(this.#failure);
      return this.#state === 'ended' ? Promise.resolve(end) : undefined;
    };
    this.#wake = () => {
      const reader = waiting;
      waiting = undefined;
      if (reader !== undefined) reader.resolve(take() ?? end);
    };
    this.#start((chunk) => {
      chunks.push(chunk);
      queued += chunk.length;
      if (queued > queueHighWater) this.#message.pause();
      this.#wake?.();
    });
    return {
      next: () => {
        const ready = take();
        if (ready !== undefined) return ready;
        chunks = [];
        index = 0;
        queued = 0;
        if (this.#message.isPaused()) this.#resume();
        waiting = Promise.withResolvers();
        return waiting.promise;
      },
      return: () => {
        this.destroy();
        return Promise.resolve(end);
      },
    };
  }

  #start(onChunk: (chunk: Uint8Array) => void): void {
    if (this.#onChunk !== undefined) throw new Error('A response body can be read once.');
    this.#onChunk = onChunk;
    this.#idleTimer.restart();
    this.#message.on('data', (chunk: Uint8Array) => this.#take(chunk, onChunk));
  }

  #take(chunk: Uint8Array, onChunk: (chunk: Uint8Array) => void): void {
    if (this.#state !== 'flowing') return;
    this.#heardFirst();
    this.#idleTimer.restart();
    this.#received += chunk.length;
    if (this.#received > this.#limits.maxResponseBytes) {
      this.fail(unreachable('too_large', 'response'));
      return;
    }
    try {
      onChunk(chunk);
    } catch (error) {
      this.fail(error);
    }
  }

  #heardFirst(): void {
    this.#firstTimer?.stop();
    this.#firstTimer = undefined;
  }

  #resume(): void {
    this.#idleTimer.restart();
    this.#message.resume();
  }

  // A slow or idle reader does not mean that the other side is silent.
  #onIdle(): void {
    const isOther = this.#onChunk === undefined || this.#message.isPaused() || this.#firstTimer !== undefined;
    if (isOther) this.#idleTimer.restart();
    else this.fail(unreachable('timeout', 'response'));
  }

  #settle(state: 'ended' | 'failed', failure: unknown): boolean {
    if (this.#state !== 'flowing') return false;
    this.#state = state;
    this.#failure = failure;
    this.#idleTimer.stop();
    this.#heardFirst();
    this.#onSettled();
    this.#wake?.();
    return true;
  }
}
