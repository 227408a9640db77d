import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lastDue, parseSchedule } from './backup-schedule.ts';

const due = (text: string, now: string): string => {
  const schedule = parseSchedule(text);
  assert.ok(schedule, text);
  return lastDue(schedule, new Date(now)).toISOString();
};

test('computes the last time that a schedule was due', () => {
  assert.equal(due('hourly', '2026-11-22T10:59:59Z'), '2026-11-22T10:00:00.000Z');
  assert.equal(due('daily', '2026-11-22T03:00:00Z'), '2026-11-22T03:00:00.000Z');
  assert.equal(due('daily 03:30', '2026-03-01T03:29:59Z'), '2026-02-28T03:30:00.000Z');
  // The 22nd of November 2026 is a Sunday.
  assert.equal(due('weekly', '2026-11-22T02:00:00Z'), '2026-11-15T03:00:00.000Z');
  assert.equal(due('weekly sunday 01:00', '2026-11-22T02:00:00Z'), '2026-11-22T01:00:00.000Z');
  assert.equal(due('Weekly Friday 23:59', '2026-11-22T02:00:00Z'), '2026-11-20T23:59:00.000Z');
});

test('rejects text that is not a schedule', () => {
  for (const text of [
    '',
    'never',
    'daily 24:00',
    'daily 03:60',
    'daily monday',
    'hourly 03:00',
    'weekly someday',
    '0 3 * * *',
  ]) {
    assert.equal(parseSchedule(text), undefined, text);
  }
});
