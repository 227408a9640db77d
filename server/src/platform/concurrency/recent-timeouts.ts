import type { Clock } from '../clock.ts';

const rememberedMs = 15 * 60_000;
const remembered = 10_000;
/** Per timeout, down to the last one. */
const shares = [1, 1 / 4, 1 / 8, 1 / 12] as const;

/** Accounts whose work ran into its time limit a short while ago: their next work gets shorter limits. */
export class RecentTimeouts {
  readonly #clock: Pick<Clock, 'elapsed'>;
  readonly #timeouts = new Map<string, { count: number; until: number }>();

  constructor(clock: Pick<Clock, 'elapsed'>) {
    this.#clock = clock;
  }

  /** Counts a timeout of this account. */
  add(ownerId: string): void {
    const count = this.#countOf(ownerId) + 1;
    this.#timeouts.delete(ownerId);
    this.#timeouts.set(ownerId, { count, until: this.#clock.elapsed() + rememberedMs });
    const [oldest] = this.#timeouts.keys();
    if (this.#timeouts.size > remembered && oldest !== undefined) this.#timeouts.delete(oldest);
  }

  /** The account's limit at the moment: all of `fullMs`, or a part of it. */
  limitFor(ownerId: string, fullMs: number): number {
    const share = shares[Math.min(this.#countOf(ownerId), shares.length - 1)] ?? 1;
    return Math.round(fullMs * share);
  }

  #countOf(ownerId: string): number {
    const found = this.#timeouts.get(ownerId);
    if (found === undefined) return 0;
    if (found.until > this.#clock.elapsed()) return found.count;
    this.#timeouts.delete(ownerId);
    return 0;
  }
}
