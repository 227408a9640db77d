import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { ApiError } from '@homeport/contracts/errors';

/** The keys of this installation: new envelopes are sealed with `current`; `byId` also opens those of previous keys. */
export type KeyRing = { readonly current: RingKey; readonly byId: ReadonlyMap<string, RingKey> };

/** The location of a secret. An envelope opens only in its own place. `table` and `column` are identifiers. */
export type SecretPlace = { table: string; row: string; column: string };

/** The owner of a secret, and the origin that can receive it. A bound envelope opens only if neither has changed. */
export type Binding = { owner: string; origin: string };

type RingKey = { readonly id: string; readonly key: KeyObject; readonly tokenKey: KeyObject };

const unboundVersion = 'v1';
const boundVersion = 'v2';
const cipherName = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;
const keyIdBytes = 8;

/** Derives the keys once. Throws a plain Error if a key has less than 32 bytes; never prints it. */
export function createKeyRing(keys: { current: string; previous: string[] }): KeyRing {
  const current = deriveKey(keys.current);
  const byId = new Map<string, RingKey>([[current.id, current]]);
  for (const secret of keys.previous) {
    const key = deriveKey(secret);
    if (!byId.has(key.id)) byId.set(key.id, key);
  }
  return { current, byId };
}

/** Encrypts with the current key: `v1.<key id>.<iv>.<ciphertext and tag>`, each in base64url. */
export function seal(ring: KeyRing, place: SecretPlace, plaintext: string): string {
  return [unboundVersion, ring.current.id, ...encrypt(ring.current, placeData(place), plaintext)].join('.');
}

/** Encrypts for one owner and origin: `v2.<key id>.<origin>.<iv>.<ciphertext and tag>`, each in base64url. */
export function sealBound(ring: KeyRing, place: SecretPlace, binding: Binding, plaintext: string): string {
  const origin = Buffer.from(binding.origin, 'utf8').toString('base64url');
  const parts = encrypt(ring.current, boundData(place, binding), plaintext);
  return [boundVersion, ring.current.id, origin, ...parts].join('.');
}

/**
 * Decrypts an envelope in its place. Throws `credentials_unreadable` for anything else; the envelope is never echoed.
 */
export function open(ring: KeyRing, place: SecretPlace, envelope: string): string {
  const parts = parseEnvelope(envelope);
  if (parts === undefined || parts.origin !== undefined) throw unreadable();
  return decrypt(ring, placeData(place), parts);
}

/**
 * Decrypts an owner's envelope and returns the origin it is bound to; undefined for one that `seal` made. Throws like
 * `open`.
 */
export function openBound(
  ring: KeyRing,
  place: SecretPlace,
  owner: string,
  envelope: string,
): { text: string; origin: string | undefined } {
  const parts = parseEnvelope(envelope);
  if (parts === undefined) throw unreadable();
  const { origin } = parts;
  const data = origin === undefined ? placeData(place) : boundData(place, { owner, origin });
  return { text: decrypt(ring, data, parts), origin };
}

/** True if the envelope was not sealed with the current key, so that a rotation has to seal it again. */
export function isStale(ring: KeyRing, envelope: string): boolean {
  return parseEnvelope(envelope)?.keyId !== ring.current.id;
}

/** True for an envelope that `sealBound` made. */
export function isBound(envelope: string): boolean {
  return parseEnvelope(envelope)?.origin !== undefined;
}

/**
 * A token of 43 characters for `text` that every holder of the key can derive again; undefined if this key is not in
 * the ring.
 */
export function deriveToken(ring: KeyRing, keyId: string, text: string): string | undefined {
  const key = ring.byId.get(keyId);
  return key === undefined ? undefined : createHmac('sha256', key.tokenKey).update(text, 'utf8').digest('base64url');
}

function deriveKey(secret: string): RingKey {
  if (Buffer.byteLength(secret, 'utf8') < 32) throw new Error('An encryption key needs at least 32 bytes.');
  const derive = (info: string, bytes: number) => Buffer.from(hkdfSync('sha256', secret, '', info, bytes));
  return {
    id: derive('homeport key id v1', keyIdBytes).toString('base64url'),
    key: createSecretKey(derive('homeport envelope v1', 32)),
    tokenKey: createSecretKey(derive('ws-daemon', 32)),
  };
}

function encrypt({ key }: RingKey, data: string, plaintext: string): [iv: string, sealed: string] {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv(cipherName, key, iv, { authTagLength: tagBytes });
  cipher.setAAD(Buffer.from(data, 'utf8'));
  const sealed = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return [iv.toString('base64url'), sealed.toString('base64url')];
}

function decrypt(ring: KeyRing, data: string, { keyId, iv, ciphertext, tag }: Envelope): string {
  const key = ring.byId.get(keyId);
  if (key === undefined) throw unreadable();
  const decipher = createDecipheriv(cipherName, key.key, iv, { authTagLength: tagBytes });
  decipher.setAAD(Buffer.from(data, 'utf8'));
  decipher.setAuthTag(tag);
  try {
    return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString('utf8');
  } catch {
    throw unreadable();
  }
}

// Table and column contain no colon, so the text can be split in one way only.
function placeData({ table, row, column }: SecretPlace): string {
  return `${table}:${row}:${column}`;
}

// Begins with a bracket, as no table name does.
function boundData({ table, row, column }: SecretPlace, { owner, origin }: Binding): string {
  return JSON.stringify([boundVersion, table, row, column, owner, origin]);
}

type Envelope = { keyId: string; origin: string | undefined; iv: Buffer; ciphertext: Buffer; tag: Buffer };

function parseEnvelope(envelope: string): Envelope | undefined {
  const [version, keyId, ...rest] = envelope.split('.');
  if (keyId === undefined || (version !== unboundVersion && version !== boundVersion)) return undefined;
  const origin = version === boundVersion ? decode(rest.shift() ?? '') : undefined;
  const [iv, sealed] = rest.map(decode);
  if (rest.length !== 2 || (version === boundVersion && origin === undefined)) return undefined;
  if (iv?.length !== ivBytes || sealed === undefined || sealed.length < tagBytes) return undefined;
  const end = sealed.length - tagBytes;
  return {
    keyId,
    origin: origin?.toString('utf8'),
    iv,
    ciphertext: sealed.subarray(0, end),
    tag: sealed.subarray(end),
  };
}

// Node ignores stray characters and unused bits; only the canonical spelling is accepted, so that every changed
// character is noticed.
function decode(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}

function unreadable(): ApiError {
  return new ApiError(
    'credentials_unreadable',
    "The stored credential cannot be read with this installation's encryption key. Enter it again or restore the key.",
  );
}
