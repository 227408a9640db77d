import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endAfter, lifeChoices } from './token-life.ts';

test('offers the usual lifetimes, as far as the installation allows them', () => {
  assert.deepEqual(lifeChoices(null), ['7', '30', '90', '365', 'none']);
  assert.deepEqual(lifeChoices(90), ['7', '30', '90']);
  assert.deepEqual(lifeChoices(45), ['7', '30', '45']);
  assert.deepEqual(lifeChoices(1), ['1']);
});

test('a token ends within its lifetime, or never', () => {
  const now = Date.parse('2026-01-01T00:00:00.000Z');
  assert.equal(endAfter('none', now), null);
  assert.equal(endAfter('7', now), '2026-01-07T23:59:00.000Z');
});
