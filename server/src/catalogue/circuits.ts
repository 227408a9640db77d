import type { Outage, StandInReason } from '@homeport/contracts/catalogue/catalogue';
import type { StoredProvider } from './credentials.ts';

/**
 * Circuit breakers of providers, one per address, shared by all turns of this replica. A circuit opens after several
 * failed calls in a row. While it is open, one call at a time probes the provider, at growing intervals; an output of
 * any call closes it.
 */

const failuresToOpen = 5;
/** Failures further apart are not in a row. */
const rowMs = 60_000;
const firstPauseMs = 10_000;
const longestPauseMs = 60_000;
const circuitsMax = 1_000;

type Failures = { count: number; lastAt: number };
type Opened = { since: number; retryAt: number; pauseMs: number; reason: StandInReason; isProbed: boolean };
/** `closed`: an ordinary call. `probe`: the one call that an open circuit lets through. */
export type Admission = 'closed' | 'probe';

export class Circuit {
  #failures: Failures = { count: 0, lastAt: 0 };
  #opened: Opened | undefined;

  /** Undefined while calls should wait or go to a stand-in. The caller of a probe must report its outcome. */
  admit(now: number): Admission | undefined {
    if (this.#opened === undefined) return 'closed';
    if (now < this.#opened.retryAt || this.#opened.isProbed) return undefined;
    this.#opened.isProbed = true;
    return 'probe';
  }

  get opened(): Readonly<Opened> | undefined {
    return this.#opened;
  }

  succeed(): void {
    this.#failures = { count: 0, lastAt: 0 };
    this.#opened = undefined;
  }

  fail(admission: Admission, reason: StandInReason, now: number): void {
    const opened = this.#opened;
    if (opened !== undefined) {
      // Calls from before the opening say nothing new.
      if (admission !== 'probe') return;
      const pauseMs = Math.min(opened.pauseMs * 2, longestPauseMs);
      this.#opened = { ...opened, pauseMs, retryAt: now + pauseMs, reason, isProbed: false };
      return;
    }
    const { count, lastAt } = this.#failures;
    this.#failures = { count: now - lastAt > rowMs ? 1 : count + 1, lastAt: now };
    if (this.#failures.count < failuresToOpen) return;
    this.#opened = { since: now, retryAt: now + firstPauseMs, pauseMs: firstPauseMs, reason, isProbed: false };
  }

  /** Ends a call that was aborted before its outcome. */
  release(admission: Admission): void {
    if (admission === 'probe' && this.#opened !== undefined) this.#opened.isProbed = false;
  }
}

type Place = Pick<StoredProvider, 'id' | 'base_url'>;
const circuits = new Map<string, Circuit>();

/** The circuit of a provider at its present address. */
export function circuitOf(provider: Place): Circuit {
  const key = keyOf(provider);
  const found = circuits.get(key) ?? new Circuit();
  circuits.delete(key);
  circuits.set(key, found);
  const [oldest] = circuits.keys();
  if (circuits.size > circuitsMax && oldest !== undefined) circuits.delete(oldest);
  return found;
}

/** The open circuit of a provider as administrators see it. */
export function outageOf(provider: Place): Outage | undefined {
  const opened = circuits.get(keyOf(provider))?.opened;
  if (opened === undefined) return undefined;
  const { since, retryAt, reason } = opened;
  return { since: new Date(since).toISOString(), retryAt: new Date(retryAt).toISOString(), reason };
}

/** The ids of providers whose circuit is open. */
export function openProviderIds(): string[] {
  return [...circuits].flatMap(([key, { opened }]) => (opened === undefined ? [] : [key.slice(0, key.indexOf(' '))]));
}

function keyOf({ id, base_url }: Place): string {
  return `${id} ${base_url}`;
}
