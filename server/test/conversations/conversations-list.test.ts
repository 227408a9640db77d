import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, before, test } from 'node:test';
import { listChats, listStatements } from '../../src/conversations/chat-list.ts';
import { setActiveMessage } from '../../src/conversations/chats.ts';
import type { Database } from '../../src/db/pool.ts';
import { type Json, startTestApp, type TestApp } from '../app.ts';
import { seed } from '../database.ts';
import { makeChat, makeUser, queueInput, say, startResponse } from './conversation-makers.ts';

let app: TestApp;
let db: Database;
before(async () => {
  app = await startTestApp();
  db = app.database.database;
});
after(() => app.stop());

/** Conversations of equal and different times, inserted together. */
async function seedChats(ownerId: string, count: number): Promise<void> {
  await seed(
    db,
    `insert into chats (id, owner_id, title, created_at, updated_at)
     select $1 || '-' || i, $1, 'Chat ' || i, now(), timestamptz '2026-01-01' + (i / 3) * interval '1 microsecond'
     from generate_series(1, $2::int) i`,
    [ownerId, count],
  );
}

test('lists the newest activity first, and the cursor visits each conversation once while others are created', async () => {
  const caller = await app.signIn();
  await seedChats(caller.id, 100);
  const seen: string[] = [];
  let cursor: string | null = null;
  const seed = randomInt(2 ** 31);
  for (let page = 0; page < 40; page++) {
    const limit = String(1 + ((seed + page * 7) % 9));
    const query: Record<string, string> = cursor === null ? { limit } : { limit, cursor };
    const { body } = await caller.call('GET /api/chats', undefined, { query });
    seen.push(...body.chats.map((chat: Json) => chat.id));
    await makeChat(db, caller.id, 'made between pages');
    cursor = body.nextCursor;
    if (cursor === null) break;
  }
  assert.equal(cursor, null, `all pages read, seed ${seed}`);
  const { rows } = await db.pool.query<{ id: string }>(
    `select id from chats where owner_id = $1 and title like 'Chat %' order by updated_at desc, id desc`,
    [caller.id],
  );
  assert.deepEqual(
    seen,
    rows.map((row) => row.id),
    `seed ${seed}`,
  );
});

test('rejects an invalid cursor or limit with 400', async () => {
  const caller = await app.signIn();
  for (const [name, value] of ['cursor=nonsense', 'cursor=', 'limit=0', 'limit=501', 'limit=1e2'].map((odd) =>
    odd.split('='),
  )) {
    const query = { [name ?? '']: value ?? '' };
    const { status, body } = await caller.call('GET /api/chats', undefined, { query });
    assert.equal(status, 400, JSON.stringify(query));
    assert.equal(body.error.code, 'invalid_request');
  }
});

test("lists archived conversations separately, never another owner's, and none of an unknown project", async () => {
  const [caller, other] = [await app.signIn(), await app.signIn()];
  const [kept, archived] = [await makeChat(db, caller.id, 'kept'), await makeChat(db, caller.id, 'archived')];
  await makeChat(db, other.id, 'foreign');
  assert.equal((await caller.call('PATCH /api/chats', { id: archived, archived: true })).status, 200);
  const list = async (query: Record<string, string>) =>
    (await caller.call('GET /api/chats', undefined, { query })).body.chats.map((chat: Json) => chat.id);
  assert.deepEqual(await list({}), [kept]);
  assert.deepEqual(await list({ archived: '0' }), [kept]);
  assert.deepEqual(await list({ archived: '1' }), [archived]);
  assert.deepEqual(await list({ projectId: 'none' }), []);
});

test('a conversation is running while a response runs or an input waits', async () => {
  const ownerId = await makeUser(db);
  const ids = [await makeChat(db, ownerId), await makeChat(db, ownerId), await makeChat(db, ownerId)];
  await startResponse(db, { id: ids[0] ?? '', ownerId });
  await queueInput(db, { id: ids[1] ?? '', ownerId }, 'next');
  const { chats } = await listChats({ db }, ownerId, {});
  const running = new Map(chats.map((chat) => [chat.id, chat.running]));
  assert.deepEqual(
    ids.map((id) => running.get(id)),
    [true, true, false],
  );
  await db.pool.query(`update responses set state = 'complete' where owner_id = $1`, [ownerId]);
  await db.pool.query(`update inputs set state = 'cancelled' where owner_id = $1`, [ownerId]);
  assert.ok((await listChats({ db }, ownerId, {})).chats.every((chat) => !chat.running));
});

test('activity moves a conversation to the top, but reading and renaming do not', async () => {
  const caller = await app.signIn();
  const [first, second] = [await makeChat(db, caller.id), await makeChat(db, caller.id)];
  await caller.call('PATCH /api/chats', { id: first, title: 'Renamed' });
  await caller.call('GET /api/chats', undefined, { query: { id: first } });
  const order = async () => (await listChats({ db }, caller.id, {})).chats.map((chat) => chat.id);
  assert.deepEqual(await order(), [second, first]);
  await setActiveMessage(db.kysely, first, await say(db, { chatId: first, parentId: null, text: 'hello' }));
  assert.deepEqual(await order(), [first, second]);
});

test('the list is an index range scan in the plan that prepared statements keep', async () => {
  const ownerId = await makeUser(db);
  await seedChats(ownerId, 20_000);
  const client = await db.pool.connect();
  try {
    await client.query('set plan_cache_mode = force_generic_plan');
    for (const isAnalyzed of [false, true]) {
      if (isAnalyzed) await client.query('analyze chats');
      for (const statement of [listStatements.first, listStatements.after]) {
        await client.query(`prepare list as ${statement.text}`);
        const values = statement === listStatements.first ? '' : ', 1767225600000000, $$x$$';
        const { rows } = await client.query<{ 'QUERY PLAN': string }>(
          `explain execute list ('${ownerId}', false, 51${values})`,
        );
        await client.query('deallocate list');
        const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
        assert.match(plan, /Index Scan using chats_list/);
        assert.match(plan, /using responses_one_running/);
        assert.match(plan, /using inputs_queue/);
        assert.doesNotMatch(plan, /Seq Scan|Sort/);
      }
    }
  } finally {
    client.release(true);
  }
});
