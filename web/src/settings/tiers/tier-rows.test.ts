import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '@homeport/contracts/limits';
import { moveRow, tierFaults, unusedTierValue } from './tier-rows.ts';

const rows = [
  { value: 1, label: 'Low' },
  { value: 5, label: 'High' },
  { value: 3, label: 'Maximum' },
];
const t = (id: string) => id;

test('moves a row and keeps the order of the others', () => {
  assert.deepEqual(
    moveRow(rows, 2, 0).map((row) => row.value),
    [3, 1, 5],
  );
  assert.deepEqual(
    moveRow(rows, 0, 9).map((row) => row.value),
    [5, 3, 1],
  );
});

test('gives a new tier an unused value', () => {
  assert.equal(unusedTierValue(rows, []), 6);
  assert.equal(unusedTierValue(rows, [{ value: 9, label: 'Removed' }]), 10);
  assert.equal(unusedTierValue([{ value: limits.tierValueMax, label: 'Last' }], [{ value: 1, label: 'First' }]), 2);
});

test('requires labels that are bounded and unique, regardless of case', () => {
  const faults = tierFaults([...rows, { value: 7, label: ' low ' }, { value: 8, label: ' ' }], t);
  assert.equal(faults['tiers.0.label'], null);
  assert.equal(faults['tiers.3.label'], 'tiers.twice');
  assert.equal(faults['tiers.4.label'], 'form.required');
});
