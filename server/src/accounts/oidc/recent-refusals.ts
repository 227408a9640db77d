import type { Database } from '../../db/pool.ts';
import type { SessionOrigin } from '../sessions.ts';

/**
 * Browsers whose account at the provider was refused a moment ago, by address and user agent: for those that keep no
 * cookie. Per replica, and shared by people behind one address, whom it costs a choice of account.
 */

type Place = Pick<Database, 'kysely'>;
const refused = new WeakMap<Place, Map<string, number>>();
const keptMs = 300_000;
const keptMax = 1_000;

export function noteRefusal(place: Place, from: SessionOrigin, now: number): void {
  const times = refused.get(place) ?? new Map<string, number>();
  refused.set(place, times);
  const [oldest] = times.keys();
  if (oldest !== undefined && times.size >= keptMax) times.delete(oldest);
  times.delete(keyOf(from));
  times.set(keyOf(from), now);
}

export function wasRefused(place: Place, from: SessionOrigin, now: number): boolean {
  const at = refused.get(place)?.get(keyOf(from));
  return at !== undefined && at + keptMs > now;
}

export function forgetRefusal(place: Place, from: SessionOrigin): void {
  refused.get(place)?.delete(keyOf(from));
}

function keyOf({ address, userAgent }: SessionOrigin): string {
  return `${address} ${(userAgent ?? '').slice(0, 200)}`;
}
