import { Semaphore } from './semaphore.ts';

/** Slots of its own for each account, in this process: the others of one account wait in the order they came. */
export class AccountSemaphore {
  readonly #count: number;
  readonly #slots = new Map<string, Semaphore>();

  constructor(count: number) {
    this.#count = count;
  }

  /** Rejects with the signal's reason when it aborts before the work has begun. */
  async run<T>(ownerId: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const slots = this.#slots.get(ownerId) ?? new Semaphore(this.#count);
    this.#slots.set(ownerId, slots);
    try {
      return await slots.run(work, signal);
    } finally {
      if (slots.isIdle && slots.waiting === 0) this.#slots.delete(ownerId);
    }
  }
}

/** Conversations and queued messages that one account reads at once: each can be many megabytes. */
export const largeReads = new AccountSemaphore(2);
