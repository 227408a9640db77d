import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { newTokenSecret, startOf, tokenHash } from './token-secret.ts';

const random = 'A'.repeat(43);
// The CRC-32 (IEEE) of 43 times "A", made by another implementation: 0xc2b5986 in base 62.
const known = `hp_${random}0DofJ8`;

test('makes secrets of 256 random bits with a checksum, each another one', () => {
  const made = new Set(Array.from({ length: 200 }, newTokenSecret));
  assert.equal(made.size, 200);
  for (const secret of made) {
    assert.match(secret, /^hp_[0-9A-Za-z]{49}$/);
    assert.equal(tokenHash(secret), createHash('sha256').update(secret).digest('hex'));
    assert.equal(startOf(secret), secret.slice(0, 8));
  }
});

test('the checksum is the CRC-32 of the random part, big-endian in base 62', () => {
  assert.equal(tokenHash(known), createHash('sha256').update(known).digest('hex'));
});

test('refuses every text that is no secret, without reading the database', () => {
  const others = [
    '',
    'hp_',
    random,
    known.slice(0, -1),
    `${known}0`,
    ` ${known}`,
    `${known} `,
    `${known}\n`,
    known.replace('hp_', 'HP_'),
    known.replace('hp_', 'wst_'),
    `${known.slice(0, -1)}0`,
    known.replace('A', 'B'),
    known.replace('A', 'Ä'),
    known.replace('A', '\0'),
    known.replace('A', '-'),
  ];
  for (const text of others) assert.equal(tokenHash(text), undefined, JSON.stringify(text));
});
