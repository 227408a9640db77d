import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptyBudget, limitOf } from './budget-values.ts';

test('parses a limit exactly, in the smallest unit', () => {
  const limit = (text: string, unit: 'cost' | 'tokens' = 'cost', scope: 'each' | 'person' = 'each') =>
    limitOf({ ...emptyBudget, scope, unit, limit: text });
  assert.equal(limit('19.99'), 19_990_000);
  assert.equal(limit(' $0,1 '), 100_000);
  assert.equal(limit('0'), 0);
  assert.equal(limit('2000000', 'tokens'), 2_000_000);
  assert.equal(limit('1.5', 'tokens'), undefined);
  // A thousand to some, one to others: neither is guessed.
  for (const text of ['1,000', '1.000', '2.500']) {
    assert.deepEqual([limit(text), limit(text, 'tokens')], [undefined, undefined], text);
  }
  for (const text of ['', '-1', '1e3', '1,000,000', 'ten', '1.2345678', '9999999999']) {
    assert.equal(limit(text), undefined, text);
  }
  assert.equal(limit('', 'cost', 'person'), null);
});
