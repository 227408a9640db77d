import { ApiError } from '@homeport/contracts/errors';
import { isStale, type KeyRing, open, type SecretPlace, seal } from './key-ring.ts';

/** One envelope under the current key, and how it got there; an unreadable one is returned unchanged. */
export type Resealed = { state: 'absent' | 'current' | 'resealed' | 'unreadable'; envelope: string | null };

/**
 * Seals an envelope with the current key if it has another one. Opens current ones too: the key's name proves nothing.
 */
export function reseal(ring: KeyRing, place: SecretPlace, envelope: string | null): Resealed {
  if (envelope === null) return { state: 'absent', envelope };
  const plaintext = readable(() => open(ring, place, envelope));
  if (plaintext === undefined) return { state: 'unreadable', envelope };
  if (!isStale(ring, envelope)) return { state: 'current', envelope };
  return { state: 'resealed', envelope: seal(ring, place, plaintext) };
}

/** The result of reading a credential; undefined if no key opens it. */
export function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof ApiError && error.code === 'credentials_unreadable') return undefined;
    throw error;
  }
}
