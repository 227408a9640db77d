import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Check } from '@homeport/contracts/checks';
import type { Overview } from '@homeport/contracts/operations';
import { attentionOf } from './attention.ts';

const calm: Overview = {
  version: '0.1.0',
  networkOrigin: null,
  isMaintained: false,
  disk: { free: 38e9, total: 100e9 },
  backups: { lastDone: null, lastEnded: null, isRunning: false, nextAt: null },
  people: { total: 1, active: 1, disabled: 0, withoutModel: 0, invited: 0 },
  usage: { month: '2026-11-01', cost: 0, tokens: 0, lastMonthCost: 0 },
  budgets: [],
  outages: [],
};
const check = (state: Check['state'], reason: Check['reason']): Check => ({
  check: 'disk',
  state,
  reason,
  values: {},
  message: '',
});
const budget = (spent: number, limit: number) =>
  ({ unit: 'tokens', period: 'day', spent, limit, resetsAt: '2026-11-30T00:00:00.000Z' }) as const;

test('a healthy installation needs no attention', () => {
  assert.deepEqual(attentionOf(calm, undefined), []);
  assert.deepEqual(attentionOf({ ...calm, budgets: [budget(79, 100)] }, [check('ok', 'disk_free')]), []);
});

test('lists problems before warnings, and everything between them', () => {
  const outage = { since: '2026-11-29T00:00:00.000Z', retryAt: '2026-11-29T00:01:00.000Z', reason: 'error' } as const;
  const overview: Overview = {
    ...calm,
    isMaintained: true,
    outages: [{ providerId: 'p', name: 'Box', owner: null, outage }],
    budgets: [budget(80, 100), budget(5, 0), budget(1, 100)],
    people: { ...calm.people, withoutModel: 2 },
  };
  const found = attentionOf(overview, [check('warning', 'backup_none'), check('failed', 'disk_low')]);
  assert.deepEqual(
    found.map((item) => (item.kind === 'check' ? item.check.reason : item.kind)),
    ['disk_low', 'maintenance', 'outage', 'budget', 'budget', 'without-model', 'backup_none'],
  );
  assert.deepEqual(
    found.flatMap((item) => (item.kind === 'budget' ? [item.percent] : [])),
    [80, 100],
  );
});
