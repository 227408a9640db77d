import { Semaphore } from '../../platform/concurrency/semaphore.ts';

/**
 * Per-owner concurrency limit: work without a free lane waits in a FIFO queue, and leaves the queue when its signal
 * aborts.
 */
export class TestLanes {
  readonly #width: number;
  readonly #lanes = new Map<string, Semaphore>();

  constructor(width: number) {
    this.#width = width;
  }

  async run<T>(owner: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const lanes = this.#lanes.get(owner) ?? new Semaphore(this.#width);
    this.#lanes.set(owner, lanes);
    try {
      return await lanes.run(work, signal);
    } finally {
      if (lanes.isIdle) this.#lanes.delete(owner);
    }
  }
}
