import assert from 'node:assert/strict';
import { test } from 'node:test';
import { equalSecret } from './equal-secret.ts';

test('equal strings match', () => {
  assert.equal(equalSecret('correct horse', 'correct horse'), true);
  assert.equal(equalSecret('ключ', 'ключ'), true);
});

test('anything else does not', () => {
  for (const given of [
    'correct hors',
    'correct horse ',
    'Correct horse',
    '',
    null,
    undefined,
    0,
    true,
    [],
    {},
    ['correct horse'],
  ]) {
    assert.equal(equalSecret('correct horse', given), false, JSON.stringify(given));
  }
});

test('an unset secret matches nothing, not even itself', () => {
  assert.equal(equalSecret('', ''), false);
  assert.equal(equalSecret(undefined, undefined), false);
  assert.equal(equalSecret(undefined, ''), false);
});
