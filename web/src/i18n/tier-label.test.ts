import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Translate } from './i18n.ts';
import { storedTierLabel, tierLabel } from './tier-label.ts';

const german: Record<string, string> = { 'tier.low': 'Niedrig', 'tier.medium': 'Mittel' };
const t: Translate = (id) => german[id] ?? id;

test('translates the name of a default tier and stores it unchanged', () => {
  assert.equal(tierLabel({ value: 1, label: 'Low' }, t), 'Niedrig');
  assert.equal(storedTierLabel({ value: 1, label: 'Niedrig' }, t), 'Low');
});

test('keeps a custom name', () => {
  assert.equal(tierLabel({ value: 1, label: 'Small' }, t), 'Small');
  assert.equal(tierLabel({ value: 9, label: 'Low' }, t), 'Low');
  assert.equal(storedTierLabel({ value: 2, label: 'Niedrig' }, t), 'Niedrig');
});
