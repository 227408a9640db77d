import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { changedFields, forgetOldEvents, operator, recordEvent, recordFailedSignIn } from '../../src/audit/audit.ts';
import { inTransaction } from '../../src/db/pool.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';

let shared: TestDatabase;
before(async () => {
  shared = await createTestDatabase();
});
after(() => shared.drop());

const source = { actorId: 'ada', address: '192.0.2.1', requestId: 'request-1' };

async function events(action: string) {
  return shared.database.kysely.selectFrom('audit_events').selectAll().where('action', '=', action).execute();
}

test('records an event if and only if the action happens', async () => {
  const { database } = shared;
  const event = {
    action: 'provider.created',
    targetType: 'provider',
    targetId: 'p',
    details: { name: 'One' },
  } as const;
  await assert.rejects(
    inTransaction(database, async (transaction) => {
      await recordEvent(transaction, source, event);
      throw new Error('the act failed');
    }),
  );
  assert.deepEqual(await events('provider.created'), []);
  await inTransaction(database, (transaction) => recordEvent(transaction, source, event));
  const [row, ...others] = await events('provider.created');
  assert.equal(others.length, 0);
  const { id, at, ...rest } = row ?? assert.fail();
  assert.match(id, /^[0-9a-f-]{36}$/);
  assert.ok(Math.abs(at.getTime() - Date.now()) < 60_000);
  assert.deepEqual(rest, {
    actor_id: 'ada',
    address: '192.0.2.1',
    request_id: 'request-1',
    action: 'provider.created',
    target_type: 'provider',
    target_id: 'p',
    details: { name: 'One' },
  });
});

test('bounds the details of an event', async () => {
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`member${index}`, index]));
  const details = {
    text: `${'x'.repeat(199)}😀${'y'.repeat(10_000)}`,
    list: Array(1_000).fill('z'.repeat(500)),
    ...many,
  };
  await recordEvent(shared.database.kysely, operator, { action: 'keys.rotated', details });
  const [row] = await events('keys.rotated');
  const stored = row?.details ?? {};
  assert.equal(Object.keys(stored).length, 30);
  assert.equal(stored.text, `${'x'.repeat(199)}\ufffd`);
  assert.deepEqual(stored.list, Array(50).fill('z'.repeat(200)));
  assert.deepEqual([row?.actor_id, row?.address, row?.request_id], [null, null, null]);
});

test('wrong passwords cannot flood the log, and those for one account do not hide those for another', async () => {
  const { kysely } = shared.database;
  for (let attempt = 0; attempt < 25; attempt += 1) {
    for (const userId of ['eve', undefined]) await recordFailedSignIn(kysely, source, userId);
  }
  await recordFailedSignIn(kysely, source, 'bob');
  const targets = Map.groupBy(await events('session.sign_in_failed'), (event) => event.target_id);
  const counts = [...targets].map(([id, rows]) => [id, rows.length]);
  assert.deepEqual(
    new Map(counts.map(([id, count]) => [id, count])),
    new Map([
      ['eve', 20],
      [null, 20],
      ['bob', 1],
    ]),
  );
});

test('deletes only events older than the given days', async () => {
  const { database } = shared;
  await recordEvent(database.kysely, source, { action: 'model.deleted', targetId: 'old' });
  await recordEvent(database.kysely, source, { action: 'model.deleted', targetId: 'young' });
  await database.pool.query(`update audit_events set at = now() - case target_id when 'old' then interval '401 days'
    else interval '399 days' end where action = 'model.deleted'`);
  assert.equal(await forgetOldEvents(database.kysely, 400, new AbortController().signal), 1);
  assert.deepEqual(
    (await events('model.deleted')).map((event) => event.target_id),
    ['young'],
  );
});

test('lists exactly the given fields as changed', () => {
  assert.deepEqual(changedFields({ name: 'x', apiKey: null, headers: undefined }), ['name', 'apiKey']);
});
