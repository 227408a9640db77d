import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuditEvent } from '@homeport/contracts/admin';
import { auditActions } from '@homeport/contracts/audit';
import { texts } from '../../locales/en/admin/audit.ts';
import { areaOf, detailText, groupByDay, searchableText, sentenceOf } from './audit-sentences.ts';

const names = new Map([['u1', { name: 'Ada', email: 'ada@example.org' }]]);
const t = (id: string, values: Record<string, unknown> = {}) =>
  id.endsWith('done_now') ? id : `${id} ${values.actor} ${values.target}`;
const event = (changes: Partial<AuditEvent>): AuditEvent => ({
  id: 'e1',
  at: '2026-01-02T03:04:05.000Z',
  actorId: 'u1',
  action: 'user.created',
  targetType: 'user',
  targetId: 'u2',
  address: '192.0.2.7',
  requestId: 'r1',
  details: {},
  ...changes,
});

test('names people by name, address or id', () => {
  assert.equal(sentenceOf(event({ targetId: 'u1' }), names, t), 'audit.is.user.created Ada Ada');
  assert.equal(
    sentenceOf(event({ details: { email: 'grace@example.org' } }), names, t),
    'audit.is.user.created Ada grace@example.org',
  );
  assert.equal(
    sentenceOf(event({ actorId: '0193c2a0-0000-7000-8000-00000000beef', targetId: null }), names, t),
    'audit.is.user.created …00000000beef ',
  );
});

test('has a sentence for every action (a new one needs a text in en-admin.ts and de-admin.ts)', () => {
  const ids = new Set(Object.keys(texts));
  assert.deepEqual(
    auditActions.filter((action) => !ids.has(`audit.is.${action}`)),
    [],
  );
});

test('names the changed members of an account', () => {
  const cases: [AuditEvent['details'], string][] = [
    [{ changed: ['enabled'], enabled: false }, 'audit.is.user.updated.disabled'],
    [{ changed: ['enabled'], enabled: true }, 'audit.is.user.updated.enabled'],
    [{ changed: ['role'], role: 'admin' }, 'audit.is.user.updated.admin'],
    [{ changed: ['role'], role: 'user' }, 'audit.is.user.updated.user'],
    [{ changed: ['password'] }, 'audit.is.user.updated.password'],
    [{ changed: ['name', 'role'], role: 'user' }, 'audit.is.user.updated'],
    [{}, 'audit.is.user.updated'],
  ];
  for (const [details, id] of cases) {
    assert.equal(sentenceOf(event({ action: 'user.updated', targetId: 'u1', details }), names, t), `${id} Ada Ada`);
  }
});

test('names the new address of a provider', () => {
  const to = (changed: string[]) =>
    sentenceOf(event({ action: 'provider.updated', details: { name: 'House', changed } }), names, t);
  assert.equal(to(['baseUrl', 'apiKey']), 'audit.is.provider.updated.address Ada House');
  assert.equal(to(['apiKey']), 'audit.is.provider.updated.key Ada House');
  assert.equal(to(['name']), 'audit.is.provider.updated Ada House');
});

test('says whether a conversation or a file was shared', () => {
  const of = (kind: string) => sentenceOf(event({ action: 'share.created', details: { kind } }), names, t);
  assert.equal(of('chat'), 'audit.is.share.created Ada u2');
  assert.equal(of('file'), 'audit.is.share.created.file Ada u2');
});

test('has a fallback sentence for unknown actions', () => {
  assert.equal(sentenceOf(event({ action: 'thing.done_now' }), names, t), 'audit.is.other Ada u2');
  assert.equal(areaOf('thing.done_now'), 'installation');
  assert.equal(areaOf('session.signed_in'), 'signIn');
});

test('a search finds the person by address too', () => {
  const words = searchableText(event({ details: { role: 'Admin' } }), 'Ada did it', names);
  for (const word of ['ada@example.org', '192.0.2.7', 'r1', 'user.created', '"role":"admin"']) {
    assert.ok(words.includes(word), word);
  }
});

test('groups events by day', () => {
  const days = groupByDay(
    ['2026-01-03T12:00:00Z', '2026-01-02T12:00:00Z', '2026-01-02T11:00:00Z'].map((at) => event({ at })),
  );
  assert.deepEqual(
    days.map((day) => day.events.length),
    [1, 2],
  );
});

test('shows details on one line', () => {
  assert.equal(detailText(['name', 'role']), 'name, role');
  assert.equal(detailText(null), 'null');
  assert.equal(detailText(true), 'true');
});
