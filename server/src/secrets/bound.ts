import { ApiError } from '@homeport/contracts/errors';
import { isStale, type KeyRing, openBound, type SecretPlace, sealBound } from './key-ring.ts';
import { type Resealed, readable } from './reseal.ts';

/**
 * Credentials bound to one owner and one origin (scheme, host, port): if the record's address changes, they stay stored
 * but are not sent anywhere else. Envelopes from before that rule count as bound to their record's address.
 */

/** A secret of a record, with its owner and current address. */
export type BoundPlace = SecretPlace & { owner: string; address: string };

/** Encrypts a credential for the record's current address and owner. */
export function sealFor(ring: KeyRing, place: BoundPlace, plaintext: string): string {
  return sealBound(ring, place, { owner: place.owner, origin: originOf(place.address) }, plaintext);
}

/** Decrypts a credential to send it to the record's current address. Throws `credentials_unreadable`. */
export function openFor(ring: KeyRing, place: BoundPlace, envelope: string): string {
  const { text, origin } = openForOwner(ring, place, envelope);
  if (origin !== originOf(place.address)) throw addressChanged(origin);
  return text;
}

/** Decrypts a credential, with its origin, for a user who is allowed to edit it. Throws `credentials_unreadable`. */
export function openForOwner(ring: KeyRing, place: BoundPlace, envelope: string): { text: string; origin: string } {
  const { text, origin = originOf(place.address) } = openBound(ring, place, place.owner, envelope);
  return { text, origin };
}

/**
 * Seals an envelope with the current key, for the origin it is already bound to, otherwise the current address's:
 * before an address changes, and at a rotation.
 */
export function resealBound(ring: KeyRing, place: BoundPlace, envelope: string | null): Resealed {
  if (envelope === null) return { state: 'absent', envelope };
  const opened = readable(() => openBound(ring, place, place.owner, envelope));
  if (opened === undefined) return { state: 'unreadable', envelope };
  if (opened.origin !== undefined && !isStale(ring, envelope)) return { state: 'current', envelope };
  const binding = { owner: place.owner, origin: opened.origin ?? originOf(place.address) };
  return { state: 'resealed', envelope: sealBound(ring, place, binding, opened.text) };
}

/** Scheme, host and port of an address; an invalid address is returned as it is. */
export function originOf(address: string): string {
  return URL.parse(address)?.origin ?? address;
}

function addressChanged(origin: string): ApiError {
  return new ApiError(
    'credentials_unreadable',
    `The stored credential belongs to ${origin} and is sent nowhere else. Enter it again for the new address.`,
    { details: { reason: 'address_changed', origin } },
  );
}
