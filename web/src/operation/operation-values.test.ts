import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OperationSettings } from '@homeport/contracts/operation-settings';
import { faultsOf, type OperationValues, patchOf, valuesOf } from './operation-values.ts';

const set = <Value>(value: Value, fallback: Value, source: 'page' | 'environment' | 'default' = 'default') => ({
  value,
  source,
  variable: 'X',
  default: fallback,
});
const settings: OperationSettings = {
  backupSchedule: set<string | null>('weekly friday 04:30', null, 'page'),
  backupKeep: set(7, 7),
  backupWorkspaces: set(true, false, 'environment'),
  auditDays: set(90, 400, 'page'),
  artifactMaxUploadBytes: set(100 * 1024 * 1024, 100 * 1024 * 1024),
  artifactQuotaMb: set(0, 0),
  hasBackupPlace: true,
};
const all = ['backupSchedule', 'backupKeep', 'backupWorkspaces', 'auditDays', 'artifactMaxUploadBytes'] as const;
const patch = (change: Partial<OperationValues>) => patchOf({ ...valuesOf(settings), ...change }, settings, all);

test('sends only what has changed, in the words of the endpoint', () => {
  assert.deepEqual(patch({}), {});
  assert.deepEqual(patch({ time: '05:00' }), { backupSchedule: 'weekly friday 05:00' });
  assert.deepEqual(patch({ rhythm: 'daily' }), { backupSchedule: 'daily 04:30' });
  assert.deepEqual(patch({ rhythm: 'none' }), { backupSchedule: null });
  assert.deepEqual(patch({ artifactMaxUploadBytes: 5 }), { artifactMaxUploadBytes: 5 * 1024 * 1024 });
  assert.deepEqual(patch({ auditDays: 400 }), { auditDays: null }, 'the default is not stored');
  assert.deepEqual(patch({ backupWorkspaces: false }), {}, 'the environment wins');
});

test('reads schedules with omitted parts', () => {
  for (const [text, expected] of [
    ['hourly', { rhythm: 'hourly', weekday: 'sunday', time: '03:00' }],
    ['daily', { rhythm: 'daily', weekday: 'sunday', time: '03:00' }],
    ['weekly Monday', { rhythm: 'weekly', weekday: 'monday', time: '03:00' }],
    [null, { rhythm: 'none', weekday: 'sunday', time: '03:00' }],
  ] as const) {
    const { rhythm, weekday, time } = valuesOf({ ...settings, backupSchedule: set<string | null>(text, null) });
    assert.deepEqual({ rhythm, weekday, time }, expected, String(text));
  }
});

test('finds numbers outside their bounds, fractions and empty fields', () => {
  const faults = (change: Partial<OperationValues>) => faultsOf({ ...valuesOf(settings), ...change }, all);
  assert.deepEqual(faults({}), []);
  assert.deepEqual(faults({ backupKeep: 0, auditDays: 29 }), ['backupKeep', 'auditDays']);
  assert.deepEqual(faults({ backupKeep: '', artifactMaxUploadBytes: 1.5 }), ['backupKeep', 'artifactMaxUploadBytes']);
});
