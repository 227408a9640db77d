import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '@homeport/contracts/errors';
import { createKeyRing, isStale, open, seal } from './key-ring.ts';

const oldKey = 'the first key of this installation, long enough';
const newKey = 'the second key of this installation, long enough';
const ring = createKeyRing({ current: newKey, previous: [oldKey] });
const place = { table: 'providers', row: '0190a0c2-0000-7000-8000-000000000001', column: 'api_key' };
const secret = 'sk-test-é漢🎈-0123456789';

function assertUnreadable(envelope: string, at = place, keys = ring): void {
  assert.throws(
    () => open(keys, at, envelope),
    (error) =>
      error instanceof ApiError &&
      error.code === 'credentials_unreadable' &&
      error.details === undefined &&
      error.cause === undefined &&
      !error.message.includes('sk-test'),
  );
}

test('opens what it sealed, whatever the text', () => {
  for (const text of [secret, '', '\u0000', 'x'.repeat(100_000)])
    assert.equal(open(ring, place, seal(ring, place, text)), text);
});

test('the envelope has its four parts, hides the text and is new each time', () => {
  const envelope = seal(ring, place, secret);
  assert.match(envelope, /^v1\.[A-Za-z0-9_-]{11}\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]+$/);
  assert.ok(!Buffer.from(envelope.split('.').at(3) ?? '', 'base64url').includes('sk-test'));
  assert.notEqual(envelope, seal(ring, place, secret));
});

test('opens only in its own place', () => {
  const envelope = seal(ring, place, secret);
  assertUnreadable(envelope, { ...place, row: '0190a0c2-0000-7000-8000-000000000002' });
  assertUnreadable(envelope, { ...place, table: 'mcp_servers' });
  assertUnreadable(envelope, { ...place, column: 'headers' });
});

test('no character of it can be changed', () => {
  const envelope = seal(ring, place, secret);
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ ';
  for (let index = 0; index < envelope.length; index += 1) {
    for (const character of alphabet) {
      if (envelope[index] === character) continue;
      assertUnreadable(envelope.slice(0, index) + character + envelope.slice(index + 1));
    }
  }
});

test('cannot be cut, extended or emptied', () => {
  const envelope = seal(ring, place, secret);
  for (let length = 0; length < envelope.length; length += 1) assertUnreadable(envelope.slice(0, length));
  for (const other of [`${envelope}A`, `${envelope}.`, `${envelope}.AAAA`, ` ${envelope}`, 'v1...', '....', secret])
    assertUnreadable(other);
});

test('a previous key still opens, and shows as stale', () => {
  const before = createKeyRing({ current: oldKey, previous: [] });
  const envelope = seal(before, place, secret);
  assert.equal(isStale(before, envelope), false);
  assert.equal(open(ring, place, envelope), secret);
  assert.equal(isStale(ring, envelope), true);
  const renewed = seal(ring, place, open(ring, place, envelope));
  assert.equal(isStale(ring, renewed), false);
  assertUnreadable(renewed, place, before);
});

test('a wrong key opens nothing', () => {
  const wrong = createKeyRing({ current: 'some other key that is long enough to be used', previous: [] });
  assertUnreadable(seal(ring, place, secret), place, wrong);
  assert.equal(isStale(wrong, seal(ring, place, secret)), true);
});

test('a short key is refused without being named', () => {
  assert.throws(
    () => createKeyRing({ current: 'short', previous: [] }),
    (error) => error instanceof Error && !error.message.includes('short'),
  );
  assert.throws(() => createKeyRing({ current: newKey, previous: ['short'] }));
});
