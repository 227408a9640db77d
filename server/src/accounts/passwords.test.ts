import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as betterAuth from 'better-auth/crypto';
import { hashPassword, verifyPassword } from './passwords.ts';

// The same letter composed and decomposed, as different keyboards type it.
const composed = 'caf\u00e9 horse 12';
const decomposed = 'cafe\u0301 horse 12';

test('Better Auth verifies our hashes and we verify its own', async () => {
  const ours = await hashPassword(composed);
  assert.equal(await betterAuth.verifyPassword({ hash: ours, password: decomposed }), true);
  assert.equal(await betterAuth.verifyPassword({ hash: ours, password: 'cafe horse 12' }), false);
  const theirs = await betterAuth.hashPassword(decomposed);
  assert.equal(await verifyPassword(theirs, composed), true);
  assert.equal(await verifyPassword(theirs, 'cafe horse 12'), false);
});

test('equal passwords have different hashes', async () => {
  assert.notEqual(await hashPassword(composed), await hashPassword(composed));
});

test('a stored text of another form equals nothing', async () => {
  for (const stored of ['', ':', 'salt:', ':00', 'plain', 'salt:zz']) {
    assert.equal(await verifyPassword(stored, ''), false, stored);
  }
});
