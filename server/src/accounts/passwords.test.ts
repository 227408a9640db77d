import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashPassword, verifyPassword } from './passwords.ts';

// The same letter composed and decomposed, as different keyboards type it.
const composed = 'caf\u00e9 horse 12';
const decomposed = 'cafe\u0301 horse 12';

// Created by a version of 2026.
const stored =
  '2469e6b398f3cc043c73555cb8e32d49:7117c6ab87b8c357e162e178381f5fc8e14f4d29514dcbdf3ecd54744d0b5cf8' +
  'b879452fe3bae6cae8f6c29de76db1e6461e0e8526040c8e0ca086b88ae3efc4';

test('verifies old and new hashes in any Unicode normalization', async () => {
  for (const hash of [stored, await hashPassword(composed)]) {
    assert.equal(await verifyPassword(hash, composed), true);
    assert.equal(await verifyPassword(hash, decomposed), true);
    assert.equal(await verifyPassword(hash, 'cafe horse 12'), false);
  }
});

test('hashes equal passwords differently', async () => {
  assert.notEqual(await hashPassword(composed), await hashPassword(composed));
});

test('rejects any password for a stored text of another form', async () => {
  for (const stored of ['', ':', 'salt:', ':00', 'plain', 'salt:zz']) {
    assert.equal(await verifyPassword(stored, ''), false, stored);
  }
});
