import assert from 'node:assert/strict';
import { test } from 'node:test';
import { everyDay, spanDays } from './usage-days.ts';

test('periods are whole days in UTC', () => {
  const now = new Date('2024-03-31T23:30:00Z');
  assert.deepEqual(spanDays('month', now), { from: '2024-03-01', to: '2024-03-31' });
  assert.deepEqual(spanDays('last', now), { from: '2024-02-01', to: '2024-02-29' });
  assert.deepEqual(spanDays('year', now), { from: '2023-04-02', to: '2024-03-31' });
  assert.deepEqual(spanDays('last', new Date('2024-01-05T00:00:00Z')), { from: '2023-12-01', to: '2023-12-31' });
});

test('includes days without usage', () => {
  const rows = [{ day: '2024-02-29', calls: 3, inputTokens: 5, outputTokens: 2 }];
  const span = { from: '2024-02-28', to: '2024-03-01' };
  const days = (amount: number) => [
    { day: '2024-02-28', amount: 0 },
    { day: '2024-02-29', amount },
    { day: '2024-03-01', amount: 0 },
  ];
  assert.deepEqual(everyDay(span, rows), days(7));
  assert.deepEqual(everyDay(span, rows, 'calls'), days(3));
});
