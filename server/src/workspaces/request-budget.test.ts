import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestBudget } from './request-budget.ts';

test('admits a burst, then a fixed rate per second for each key', () => {
  let now = 1_000_000;
  const budget = new RequestBudget({ burst: 5, perSecond: 2, now: () => now });
  const passed = (key: string) => Array.from({ length: 8 }, () => budget.take(key)).filter((wait) => wait === 0).length;
  assert.equal(passed('a'), 5);
  assert.ok(budget.take('a') > 0.4 && budget.take('a') <= 0.5);
  assert.equal(passed('b'), 5);
  now += 1000;
  assert.equal(passed('a'), 2);
  now += 60_000;
  assert.equal(passed('a'), 5, 'no more than the burst is saved up');
});

test('forgets idle keys', () => {
  let now = 0;
  const budget = new RequestBudget({ burst: 1, perSecond: 1, now: () => now });
  for (let key = 0; key < 5000; key += 1) {
    now += 2000;
    assert.equal(budget.take(String(key)), 0);
  }
});
