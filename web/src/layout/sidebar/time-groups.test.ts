import assert from 'node:assert/strict';
import { test } from 'node:test';
import { groupByTime, timeGroup } from './time-groups.ts';

const now = new Date(2026, 10, 20, 9, 0);

test('groups by calendar day, not by 24 hours', () => {
  const cases: [Date, string][] = [
    [new Date(2026, 10, 20, 0, 1), 'today'],
    [new Date(2026, 10, 21, 3, 0), 'today'],
    [new Date(2026, 10, 19, 23, 59), 'yesterday'],
    [new Date(2026, 10, 18), 'week'],
    [new Date(2026, 10, 13), 'week'],
    [new Date(2026, 10, 12), 'month'],
    [new Date(2026, 9, 1), '2026-10'],
    [new Date(2025, 9, 1), '2025-10'],
  ];
  for (const [moment, group] of cases) assert.equal(timeGroup(moment, now), group, String(moment));
});

test('keeps the order and joins only neighboring items', () => {
  const item = (day: number) => ({ updatedAt: new Date(2026, 10, day).toISOString() });
  const groups = groupByTime([item(20), item(20), item(19)], now);
  assert.deepEqual(
    groups.map(({ group, items }) => [group, items.length]),
    [
      ['today', 2],
      ['yesterday', 1],
    ],
  );
});
