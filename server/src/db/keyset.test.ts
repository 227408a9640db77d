import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeCursor, encodeCursor, pageOf } from './keyset.ts';

test('a cursor comes back as the position it was made of', () => {
  const position = { micros: 1_763_672_400_123_456, id: '0199-abc_D' };
  assert.deepEqual(decodeCursor(encodeCursor(position)), position);
});

const forged = [
  'x',
  '%00',
  Buffer.from('1 ').toString('base64url'),
  Buffer.from('1 a b').toString('base64url'),
  Buffer.from("1 a'b").toString('base64url'),
  Buffer.from('01 a').toString('base64url'),
  Buffer.from('9999999999999999 a').toString('base64url'),
  Buffer.from('-1 a').toString('base64url'),
  Buffer.from('1 a\0').toString('base64url'),
  `${encodeCursor({ micros: 1, id: 'a' })}=`,
  'a'.repeat(512),
];
for (const cursor of forged) {
  test(`refuses ${cursor.slice(0, 30)}`, () => assert.throws(() => decodeCursor(cursor), { code: 'invalid_request' }));
}

test('a page has a cursor only when one more row was found', () => {
  const cursorOf = (row: number) => `after ${row}`;
  assert.deepEqual(pageOf([1, 2, 3], 2, cursorOf), { shown: [1, 2], nextCursor: 'after 2' });
  assert.deepEqual(pageOf([1, 2], 2, cursorOf), { shown: [1, 2], nextCursor: null });
  assert.deepEqual(pageOf([], 2, cursorOf), { shown: [], nextCursor: null });
  assert.deepEqual(pageOf([1], 0, cursorOf), { shown: [], nextCursor: null });
});
