/** A limited burst of requests and a limited rate after that, per key, in this process. */
export class RequestBudget {
  readonly #burst: number;
  readonly #perSecond: number;
  readonly #now: () => number;
  /** When the key's budget will be full again. */
  readonly #fullAt = new Map<string, number>();

  constructor(options: { burst: number; perSecond: number; now: () => number }) {
    this.#burst = options.burst;
    this.#perSecond = options.perSecond;
    this.#now = options.now;
  }

  /** Zero if the request may pass, otherwise the seconds until one may. */
  take(key: string): number {
    const now = this.#now();
    const spent = (Math.max(now, this.#fullAt.get(key) ?? 0) - now) / 1000;
    const missing = spent + 1 / this.#perSecond - this.#burst / this.#perSecond;
    // Rounding by half a millisecond must not refuse the last one.
    if (missing > 0.001) return missing;
    this.#fullAt.set(key, now + (spent + 1 / this.#perSecond) * 1000);
    if (this.#fullAt.size > 1000) this.#forget(now);
    return 0;
  }

  #forget(now: number): void {
    for (const [key, fullAt] of this.#fullAt) if (fullAt <= now) this.#fullAt.delete(key);
  }
}
