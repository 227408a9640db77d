/** Counting semaphore with a FIFO queue. */
export class Semaphore {
  readonly #count: number;
  #taken = 0;
  readonly #line: (() => void)[] = [];

  constructor(count: number) {
    this.#count = count;
  }

  get isFull(): boolean {
    return this.#taken === this.#count;
  }

  get isIdle(): boolean {
    return this.#taken === 0;
  }

  /** How many are waiting. */
  get waiting(): number {
    return this.#line.length;
  }

  /** Resolves with a release function when a slot is free. Rejects with the signal's reason. */
  async take(signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    if (this.isFull) await this.#wait(signal);
    else this.#taken += 1;
    let isHeld = true;
    return () => {
      if (isHeld) this.#release();
      isHeld = false;
    };
  }

  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const release = await this.take(signal);
    try {
      return await work();
    } finally {
      release();
    }
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const go = (): void => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        this.#line.splice(this.#line.indexOf(go), 1);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', leave, { once: true });
      this.#line.push(go);
    });
  }

  /** Hands the slot directly to the next waiter, so that a new caller can't jump the queue. */
  #release(): void {
    const next = this.#line.shift();
    if (next === undefined) this.#taken -= 1;
    else next();
  }
}
