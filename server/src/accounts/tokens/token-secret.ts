import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * The secret of an access token: `hp_`, 43 random characters in base 62 (256 bits), and the CRC-32 of these in six
 * (contract.md section 12). The checksum lets scanners recognize a leaked token, and us refuse a mistyped one without
 * the database.
 */

const prefix = 'hp_';
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const randomLength = 43;
const checksumLength = 6;
const pattern = /^hp_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/;
/** Enough to recognize a token in a list, too little to guess it. */
const startLength = 8;

export function newTokenSecret(): string {
  const random = Array.from({ length: randomLength }, () => alphabet.charAt(randomInt(alphabet.length))).join('');
  return `${prefix}${random}${checksum(random)}`;
}

/** The characters of a secret that stay visible. */
export function startOf(secret: string): string {
  return secret.slice(0, startLength);
}

/** Hexadecimal SHA-256, under which a secret is stored; undefined for a text that cannot be a secret. */
export function tokenHash(secret: string): string | undefined {
  const [, random, given] = pattern.exec(secret) ?? [];
  return random !== undefined && checksum(random) === given ? hash('sha256', secret) : undefined;
}

function checksum(random: string): string {
  let rest = crc32(random);
  let digits = '';
  for (let place = 0; place < checksumLength; place += 1) {
    digits = alphabet.charAt(rest % alphabet.length) + digits;
    rest = Math.floor(rest / alphabet.length);
  }
  return digits;
}
