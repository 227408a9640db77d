import type { Clock } from '../clock.ts';

const recentMs = 10 * 60_000;
/** Keys per generation. */
export const mostCounted = 20_000;

/** Counts per key over the last ten to twenty minutes, in two generations; a full one is dropped early. */
export class RecentCounts {
  readonly #clock: Pick<Clock, 'elapsed'>;
  #current = new Map<string, number>();
  #previous = new Map<string, number>();
  #since: number;

  constructor(clock: Pick<Clock, 'elapsed'>) {
    this.#clock = clock;
    this.#since = clock.elapsed();
  }

  add(key: string): void {
    this.#rotate();
    this.#current.set(key, (this.#current.get(key) ?? 0) + 1);
  }

  of(key: string): number {
    this.#rotate();
    return (this.#current.get(key) ?? 0) + (this.#previous.get(key) ?? 0);
  }

  #rotate(): void {
    const age = this.#clock.elapsed() - this.#since;
    if (age <= recentMs && this.#current.size < mostCounted) return;
    this.#previous = age > 2 * recentMs ? new Map() : this.#current;
    this.#current = new Map();
    this.#since += age;
  }
}
