import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultTurnBudget } from '@homeport/contracts/chat/turn-budget-default';
import { readTurnBudget, turnBudgetValues } from './turn-budget-values.ts';

test('stores the entered budget', () => {
  for (const budget of [defaultTurnBudget, { steps: 1, minutes: 1440, tokens: 1_000_000_000 }]) {
    assert.deepEqual(readTurnBudget(turnBudgetValues(budget)), { budget, faults: {} });
  }
  assert.deepEqual(readTurnBudget({ steps: '20', minutes: 5, tokens: '' }).budget, {
    steps: 20,
    minutes: 5,
    tokens: null,
  });
});

test('rejects empty fields, fractions and numbers out of bounds, with the bounds', () => {
  const { faults } = readTurnBudget({ steps: '', minutes: 1.5, tokens: 999 });
  assert.deepEqual(faults, {
    steps: { min: 1, max: 2000 },
    minutes: { min: 1, max: 1440 },
    tokens: { min: 1000, max: 1_000_000_000 },
  });
  assert.deepEqual(Object.keys(readTurnBudget({ steps: 2001, minutes: 0, tokens: '' }).faults), ['steps', 'minutes']);
});
