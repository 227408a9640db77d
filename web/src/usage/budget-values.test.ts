import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptyBudget, limitOf, valuesOf } from './budget-values.ts';

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

test('types a stored limit so that it is parsed as the same one', () => {
  const stored = { userId: null, name: null, email: null, spent: 0, resetsAt: '', stopsAdministrators: true } as const;
  const cases = [
    ['cost', 19_500_000, '19.50'],
    ['cost', 0, '0.00'],
    ['cost', 1_234_000, '1.2340'],
    ['cost', 1, '0.000001'],
    ['tokens', 5_000, '5000'],
  ] as const;
  for (const [unit, limit, typed] of cases) {
    const values = valuesOf({ ...stored, scope: 'each', unit, period: 'day', limit });
    assert.equal(values.limit, typed);
    assert.equal(limitOf(values), limit);
  }
  const open = valuesOf({ ...stored, scope: 'person', userId: 'u', unit: 'cost', period: 'day', limit: null });
  assert.deepEqual([open.limit, limitOf(open)], ['', null]);
});
