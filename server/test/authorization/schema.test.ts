import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { dropCopiesStatement } from '../../src/chat/ledger/inputs.ts';
import { pruneEnded, pruneStatement } from '../../src/chat/ledger/pruning.ts';
import { dropOldFrames, dropStatement } from '../../src/chat/log/frame-store.ts';
import { inTransaction } from '../../src/db/pool.ts';
import { createTestDatabase, seed, type TestDatabase } from '../database.ts';

let shared: TestDatabase;
before(async () => {
  shared = await createTestDatabase();
});
after(() => shared.drop());

test('an index finds the references to a row when it is deleted', async () => {
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

test('drops frames some time after the end, at a cost independent of all earlier responses', async () => {
  const { database } = shared;
  await seed(
    database,
    `
    insert into users (id, name, email) values ('u', 'User', 'u@example.org');
    insert into chats (id, owner_id, title) values ('c', 'u', 'Title');
    insert into responses (id, chat_id, message_id, owner_id, state, replica, lease_until, decision, ended_at)
      select 'done-' || n, 'c', 'm', 'u', 'complete', 'r', now(), '{}', now() - interval '1 day' from generate_series(1, 20000) n;
    insert into responses (id, chat_id, message_id, owner_id, state, replica, lease_until, decision, ended_at, end_frames)
      values ('old', 'c', 'm', 'u', 'complete', 'r', now(), '{}', now() - interval '6 minutes', '{}'),
        ('new', 'c', 'm', 'u', 'complete', 'r', now(), '{}', now() - interval '4 minutes', '{}'),
        ('running', 'c', 'm', 'u', 'running', 'r', now(), '{}', null, null);
    insert into response_frames select id, 1, n, n + 1, '{}' from unnest(array['old', 'new', 'running']) id, generate_series(1, 1000) n;
    analyze`,
  );
  const { rows: plan } = await database.pool.query(`explain ${dropStatement}`, [300_000]);
  assert.doesNotMatch(JSON.stringify(plan), /Seq Scan on responses/);
  await dropOldFrames({ db: database }, 300_000);
  const { rows } = await database.pool.query('select distinct response_id as id from response_frames order by 1');
  assert.deepEqual(rows, [{ id: 'new' }, { id: 'running' }]);
});

test('a heartbeat writes one row and no index, and running responses are found at a cost independent of earlier ones', async () => {
  const { database } = shared;
  const client = await database.openClient();
  try {
    await client.query(`
      begin;
      insert into users (id, name, email) values ('beat', 'User', 'beat@example.org');
      insert into chats (id, owner_id, title) values ('beat', 'beat', 'Title');
      insert into responses (id, chat_id, message_id, owner_id, state, replica, lease_until, decision)
        select 'beat-' || n, 'beat', 'm', 'beat', case n when 1 then 'running' else 'complete' end, 'r', now(), '{}'
        from generate_series(1, 20000) n;
      commit;
      analyze responses`);
    await client.query('begin');
    await client.query(`update responses set lease_until = now() + interval '15 s' where id = 'beat-1'`);
    const { rows: counted } = await client.query<{ hot: number }>(
      `select pg_stat_get_xact_tuples_hot_updated('responses'::regclass)::int as hot`,
    );
    assert.deepEqual(counted, [{ hot: 1 }]);
    await client.query('commit');
    const { rows: plan } = await client.query(
      `explain select id from responses where state = 'running' and lease_until < now()`,
    );
    assert.doesNotMatch(JSON.stringify(plan), /Seq Scan/);
  } finally {
    await client.end();
  }
});

test('deletes a complete response after a week and the copy of an applied input immediately, both found by an index', async () => {
  const { database } = shared;
  await database.pool.query(`
    insert into users (id, name, email) values ('p', 'User', 'p@example.org');
    insert into chats (id, owner_id, title) values ('p', 'p', 'Title');
    insert into responses (id, chat_id, message_id, owner_id, state, replica, lease_until, decision, ended_at)
      select state || days, 'p', 'm', 'p', state, 'r', now(), '{}', now() - days * interval '1 day'
      from unnest(array['complete', 'stopped', 'failed', 'interrupted']) state, unnest(array[6, 8]) days;
    insert into inputs (id, chat_id, owner_id, assistant_id, state, parts, parent_given, decision, request_hash, start_after)
      select state || n, 'p', 'p', state || n, state, '[{"type":"text","text":"Hello"}]', false, '{}', 'hash', now()
      from unnest(array['applied', 'cancelled']) state, generate_series(1, 300) n;
    insert into inputs (id, chat_id, owner_id, assistant_id, state, parts, parent_given, decision, request_hash, start_after)
      select 'done' || n, 'p', 'p', 'done' || n, 'applied', '[]', false, '{}', 'hash', now() from generate_series(1, 1000) n;
    analyze`);
  await inTransaction(database, async (transaction) => {
    // A table this small would be scanned in full.
    await sql`set local enable_seqscan = off`.execute(transaction);
    const plans = [pruneStatement, dropCopiesStatement].map((text) =>
      sql`explain ${sql.raw(text)}`.execute(transaction),
    );
    const [responses, inputs] = (await Promise.all(plans)).map(({ rows }) => JSON.stringify(rows));
    assert.match(responses ?? '', /Index Scan using responses_complete.*Tid Scan on responses/);
    assert.match(inputs ?? '', /Index Scan using inputs_copied.*Tid Scan on inputs/);
  });
  const left = `select (select count(*)::int from inputs where state = 'applied' and parts <> '[]') as copies,
    (select count(*)::int from inputs where state = 'cancelled' and parts <> '[]') as cancelled`;
  await pruneEnded({ db: database });
  assert.deepEqual((await database.pool.query(left)).rows, [{ copies: 100, cancelled: 300 }], 'a batch at a time');
  await pruneEnded({ db: database });
  assert.deepEqual((await database.pool.query(left)).rows, [{ copies: 0, cancelled: 300 }]);
  const { rows } = await database.pool.query(`select id from responses where chat_id = 'p' order by id`);
  const kept = ['complete6', 'failed6', 'failed8', 'interrupted6', 'interrupted8', 'stopped6', 'stopped8'];
  assert.deepEqual(
    rows.map(({ id }) => id),
    kept,
  );
});
