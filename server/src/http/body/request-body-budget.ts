import type { IncomingMessage } from 'node:http';
import { ApiError } from '@homeport/contracts/errors';
import { systemClock } from '../../platform/clock.ts';

/** Bytes of bodies that one process holds at once; times in milliseconds. */
export type RequestBodyBudgetBounds = {
  totalBytes: number;
  /** Per account, so that one account cannot take all of it. */
  senderBytes: number;
  /** Bodies up to this size need no room: the number of connections bounds them. */
  freeBytes: number;
  waitMs: number;
  waiting: number;
};

export const requestBodyBudgetBounds: RequestBodyBudgetBounds = {
  totalBytes: 192 * 1024 * 1024,
  senderBytes: 64 * 1024 * 1024,
  freeBytes: 16 * 1024,
  waitMs: 10_000,
  waiting: 1_000,
};

/** Returns a request's room; calling it again does nothing. */
export type Release = () => void;

type Waiter = { sender: string; bytes: number; grant: () => void };

const retryAfterSeconds = 5;

/**
 * The memory for request bodies. If it is full, a request waits unread for its turn and is refused after a while. First
 * come, first served; only senders who have used up their own share are skipped.
 */
export class RequestBodyBudget {
  readonly #bounds: RequestBodyBudgetBounds;
  readonly #senders = new Map<string, number>();
  readonly #waiters = new Set<Waiter>();
  #used = 0;

  constructor(bounds: RequestBodyBudgetBounds = requestBodyBudgetBounds) {
    this.#bounds = bounds;
  }

  /** Bytes in use. */
  get used(): number {
    return this.#used;
  }

  /** Throws `rate_limited` if there is no room in time, and `invalid_request` if the client disconnects first. */
  async take(sender: string, bytes: number, incoming: IncomingMessage): Promise<Release> {
    if (bytes <= this.#bounds.freeBytes) return () => undefined;
    const waiter: Waiter = { sender, bytes, grant: () => undefined };
    if (this.#waiters.size > 0 || !this.#fits(waiter)) await this.#wait(waiter, incoming);
    else this.#lend(waiter);
    let isLent = true;
    return () => {
      if (!isLent) return;
      isLent = false;
      this.#giveBack(waiter);
    };
  }

  #fits({ sender, bytes }: Waiter): boolean {
    return this.#used + bytes <= this.#bounds.totalBytes && this.#hasShare(sender, bytes);
  }

  #hasShare(sender: string, bytes: number): boolean {
    return (this.#senders.get(sender) ?? 0) + bytes <= this.#bounds.senderBytes;
  }

  #lend({ sender, bytes }: Waiter): void {
    this.#used += bytes;
    this.#senders.set(sender, (this.#senders.get(sender) ?? 0) + bytes);
  }

  #giveBack({ sender, bytes }: Waiter): void {
    this.#used -= bytes;
    const left = (this.#senders.get(sender) ?? 0) - bytes;
    if (left > 0) this.#senders.set(sender, left);
    else this.#senders.delete(sender);
    this.#serve();
  }

  #serve(): void {
    for (const waiter of this.#waiters) {
      if (!this.#hasShare(waiter.sender, waiter.bytes)) continue;
      // Small bodies cannot overtake a large one for ever.
      if (!this.#fits(waiter)) return;
      this.#waiters.delete(waiter);
      this.#lend(waiter);
      waiter.grant();
    }
  }

  async #wait(waiter: Waiter, incoming: IncomingMessage): Promise<void> {
    if (this.#waiters.size >= this.#bounds.waiting) throw noRoom();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = systemClock.after(this.#bounds.waitMs, () => reject(noRoom()));
    const leave = (): void => reject(new ApiError('invalid_request', 'The request ended before its body was complete'));
    incoming.once('close', leave);
    waiter.grant = resolve;
    this.#waiters.add(waiter);
    this.#serve();
    try {
      await promise;
    } finally {
      timer.stop();
      incoming.off('close', leave);
      // One that gives up may have kept others waiting.
      if (this.#waiters.delete(waiter)) this.#serve();
    }
  }
}

function noRoom(): ApiError {
  return new ApiError('rate_limited', 'Too many large requests at the same time. Try again in a few seconds.', {
    retryAfter: retryAfterSeconds,
  });
}
