import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { dropOldFrames, dropStatement } from '../src/chat/responses/response-end.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';

let shared: TestDatabase;
before(async () => {
  shared = await createTestDatabase();
});
after(() => shared.drop());

test('what refers to a row is found by an index when the row is deleted', async () => {
  const { rows } = await shared.database.pool.query<{ name: string }>(`
    select c.conrelid::regclass || ' ' || pg_get_constraintdef(c.oid) as name
    from pg_constraint c
    where c.contype = 'f' and c.conrelid <> 'installation'::regclass and not exists (
      select from pg_index i
      where i.indrelid = c.conrelid and i.indkey[0] = any(c.conkey)
        and (i.indpred is null or pg_get_expr(i.indpred, i.indrelid) ~ '^\\(\\w+ IS NOT NULL\\)$'))
    order by 1`);
  assert.deepEqual(rows, []);
});

test('frames are dropped some time after the end, at a cost that does not grow with all that was ever answered', async () => {
  const { database } = shared;
  await database.pool.query(`
    insert into users (id, name, email) values ('u', 'User', 'u@example.org');
    insert into chats (id, owner_id, title) values ('c', 'u', 'Title');
    insert into responses (id, chat_id, message_id, owner_id, state, replica, lease_until, decision, ended_at)
      select 'done-' || n, 'c', 'm', 'u', 'complete', 'r', now(), '{}', now() - interval '1 day' from generate_series(1, 20000) n;
    insert into responses (id, chat_id, message_id, owner_id, state, replica, lease_until, decision, ended_at, end_frames)
      values ('old', 'c', 'm', 'u', 'complete', 'r', now(), '{}', now() - interval '6 minutes', '{}'),
        ('new', 'c', 'm', 'u', 'complete', 'r', now(), '{}', now() - interval '4 minutes', '{}'),
        ('running', 'c', 'm', 'u', 'running', 'r', now(), '{}', null, null);
    insert into response_frames select id, 1, n, n + 1, '{}' from unnest(array['old', 'new', 'running']) id, generate_series(1, 1000) n;
    analyze`);
  const { rows: plan } = await database.pool.query(`explain ${dropStatement}`, [300_000]);
  assert.doesNotMatch(JSON.stringify(plan), /Seq Scan on responses/);
  await dropOldFrames({ db: database }, 300_000);
  const { rows } = await database.pool.query('select distinct response_id as id from response_frames order by 1');
  assert.deepEqual(rows, [{ id: 'new' }, { id: 'running' }]);
});
