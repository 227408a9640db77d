import { ApiError } from '@homeport/contracts/errors';
import { isStale, type KeyRing, open, type SecretPlace, seal } from './key-ring.ts';

/** One envelope under the current key, and what it took to get there; an unreadable one comes back as it is. */
export type Resealed = { state: 'absent' | 'current' | 'resealed' | 'unreadable'; envelope: string | null };

/** Seals an envelope with the current key if it has another one. Also opens what is current: the key's name proves nothing. */
export function reseal(ring: KeyRing, place: SecretPlace, envelope: string | null): Resealed {
  if (envelope === null) return { state: 'absent', envelope };
  const plaintext = readable(() => open(ring, place, envelope));
  if (plaintext === undefined) return { state: 'unreadable', envelope };
  if (!isStale(ring, envelope)) return { state: 'current', envelope };
  return { state: 'resealed', envelope: seal(ring, place, plaintext) };
}

/** What `read` makes of a credential; undefined when no key opens it. */
export function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof ApiError && error.code === 'credentials_unreadable') return undefined;
    throw error;
  }
}
