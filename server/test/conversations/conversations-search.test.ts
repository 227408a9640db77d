import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { until } from '../../../contracts/test/until.ts';
import { operator } from '../../src/audit/audit.ts';
import { updateChat } from '../../src/conversations/chat-changes.ts';
import { createChat } from '../../src/conversations/chats.ts';
import { startSearchWalks } from '../../src/conversations/search/backfill.ts';
import { hitsStatement, searchChats, walkStatement } from '../../src/conversations/search/search.ts';
import { ownerQuery } from '../../src/conversations/search-text.ts';
import type { Database } from '../../src/db/pool.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { type Json, startTestApp, type TestApp } from '../app.ts';
import { seed } from '../database.ts';
import { answer, makeChat, makeUser, say } from './conversation-makers.ts';

let app: TestApp;
let db: Database;
before(async () => {
  app = await startTestApp();
  db = app.database.database;
});
after(() => app.stop());

/** `count` conversations with one message each: `common` in all, `every7` in each seventh, `number<i>` in one. */
async function seedConversations(ownerId: string, count: number): Promise<void> {
  await db.kysely.transaction().execute(async (trx) => {
    // The time limit of statements is for requests.
    await sql`set local statement_timeout = 0`.execute(trx);
    await sql`
      insert into chats (id, owner_id, title, updated_at)
      select ${ownerId} || '-' || i, ${ownerId}, 'Chat ' || i, now() - (i / 2) * interval '1 microsecond'
      from generate_series(1, ${count}::int) i`.execute(trx);
    await sql`
      insert into messages (id, chat_id, role, parts, status, search)
      select ${ownerId} || '-' || i || '-m', ${ownerId} || '-' || i, 'user', '[]', 'complete',
        to_tsvector('simple', 'common number' || i || case when i % 7 = 0 then ' every7' else '' end || repeat(' filler' || i, 40))
          || array_to_tsvector(array[':' || ${ownerId}])
      from generate_series(1, ${count}::int) i`.execute(trx);
  });
}

test("finds words in titles and in both sides' messages, by the prefix typed so far", async () => {
  const [caller, other] = [await app.signIn(), await app.signIn()];
  const titled = await makeChat(db, caller.id, 'Quarterly-report.pdf über Zürich');
  const asked = await makeChat(db, caller.id);
  const question = await say(db, {
    chatId: asked,
    parentId: null,
    text: 'How do I brew green tea? 日本語の本 user_id',
  });
  const answered = await makeChat(db, caller.id);
  const first = await say(db, { chatId: answered, parentId: null, text: 'Hello' });
  await answer(db, { chatId: answered, parentId: first, text: 'Tea is green, milk is not' });
  const foreign = await makeChat(db, other.id, 'green tea');
  await say(db, { chatId: foreign, parentId: null, text: 'green tea report' });
  const find = async (q: string) =>
    (await caller.call('GET /api/chats', undefined, { query: { q } })).body.chats.map((chat: Json) => chat.id);
  const cases: [q: string, found: string[]][] = [
    ['report', [titled]],
    ['REPORT pdf', [titled]],
    ['ÜBER züri', [titled]],
    ['rep', [titled]],
    ['rep quarterly', []],
    ['gre', [answered, asked]],
    ['green tea', [answered, asked]],
    ['"green tea"', [asked]],
    ['tea -milk', [asked]],
    ['milk or zürich', [answered, titled]],
    ['日本', [asked]],
    ['本日', []],
    ['user_id', [asked]],
    ['nowhere', []],
    [caller.id, []],
    [`:${caller.id}`, []],
    [caller.id.slice(0, 8), []],
  ];
  for (const [q, found] of cases) assert.deepEqual(await find(q), found, q);
  assert.ok(question);
});

test('finds symbols and emoji', async () => {
  const caller = await app.signIn();
  const chatId = await makeChat(db, caller.id, 'Law 🚀');
  await say(db, { chatId, parentId: null, text: 'Is C++ (or C#) meant in § 5? It costs 10 € 👍🏽' });
  const find = async (q: string) =>
    (await caller.call('GET /api/chats', undefined, { query: { q } })).body.chats.map((chat: Json) => chat.id);
  for (const q of ['C++', 'c#', '§ 5', '§5', '10 €', '👍', '🚀', 'law 🚀'])
    assert.deepEqual(await find(q), [chatId], q);
  for (const q of ['c+++', '§ 6', '👎', 'qzx', 'q']) assert.deepEqual(await find(q), [], q);
});

test('finds the inside of words, versions, and words without their accents', async () => {
  const caller = await app.signIn();
  const chatId = await makeChat(db, caller.id, 'Schriftgrößen');
  await say(db, { chatId, parentId: null, text: 'Call getUserById of v2.3.1, then send the résumé to Łódź' });
  const find = async (q: string) =>
    (await caller.call('GET /api/chats', undefined, { query: { q } })).body.chats.map((chat: Json) => chat.id);
  for (const q of [
    'größen',
    'groessen or grossen',
    'UserById',
    'userb call',
    '2.3.1',
    'v2.3',
    'resume',
    'RÉSUMÉ',
    'lodz',
  ])
    assert.deepEqual(await find(q), [chatId], q);
  for (const q of ['"User"', '2.3.2', 'ById2', 'qzwuser', 'ser', '-userbyid schriftgrossen', 'sume'])
    assert.deepEqual(await find(q), q === 'sume' || q.startsWith('-') ? [chatId] : [], q);
  const { body } = await caller.call('GET /api/chats', undefined, { query: { q: 'userbyid' } });
  const { text, hits } = body.chats[0].snippet;
  assert.deepEqual(
    hits.map(({ start, end }: Json) => text.slice(start, end)),
    ['UserById'],
  );
});

test('indexes messages of many long words of every script', async () => {
  const caller = await app.signIn();
  const find = async (q: string) =>
    (await caller.call('GET /api/chats', undefined, { query: { q } })).body.chats.map((chat: Json) => chat.id);
  for (const letters of [
    'абвгдежзийклмнопрстуфхцч',
    'abcdefghijklmnopqrstuvwx',
    '가나다라마바사아자차카타파하거너더러머버서어저처',
    '𐐨𐐩𐐪𐐫𐐬𐐭𐐮𐐯𐐰𐐱𐐲𐐳𐐴𐐵𐐶𐐷𐐸𐐹𐐺𐐻𐐼𐐽𐐾𐐿',
  ]) {
    const signs = [...letters];
    const word = (n: number) =>
      Array.from(
        { length: 40 / (signs[0]?.length ?? 1) },
        (_, at) => signs[(n * (at + 1) + Math.floor(n / 24) * at * at) % 24],
      ).join('');
    const text = Array.from({ length: 2_500 }, (_, n) => word(n)).join(' ');
    const chatId = await makeChat(db, caller.id, 'Words');
    await say(db, { chatId, parentId: null, text });
    assert.ok((await find(word(1))).includes(chatId), letters);
  }
});

test('finds symbols in messages of an earlier index once they are indexed again', async () => {
  const caller = await app.signIn();
  const titled = await makeChat(db, caller.id, 'Learn C# today');
  const asked = await makeChat(db, caller.id, 'Plans');
  const text = 'Ship it \u{1F680} soon';
  await say(db, { chatId: asked, parentId: null, text });
  // More of them than one step prepares.
  for (let count = 0; count < 25; count += 1) await say(db, { chatId: asked, parentId: null, text: `Note ${count}` });
  const older = (words: string) =>
    `to_tsvector('simple', '${words}') || array_to_tsvector(array[':' || '${caller.id}'])`;
  await db.pool.query(`update chats set title_search = ${older('learn c today')} where id = $1`, [titled]);
  await db.pool.query(`update messages set search = ${older('ship it soon')} where parts like '%Ship it%'`);
  await until('the walks of the migration have ended', async () => {
    const { rowCount } = await db.pool.query('select 1 from search_walks');
    return rowCount === 0;
  });
  await db.pool.query(`insert into search_walks (what) values ('messages'), ('chats')`);
  const find = async (q: string) =>
    (await caller.call('GET /api/chats', undefined, { query: { q } })).body.chats.map((chat: Json) => chat.id);
  assert.deepEqual([await find('\u{1F680}'), await find('C#'), await find('soon')], [[], [], [asked]]);
  let rests = 0;
  const clock = {
    ...systemClock,
    sleep: async () => {
      rests += 1;
    },
  };
  await startSearchWalks({ db, clock, log: app.service.deps.log }).done;
  assert.deepEqual([await find('\u{1F680}'), await find('C#'), await find('soon')], [[asked], [titled], [asked]]);
  assert.ok(rests > 3, `${rests} steps`);
  assert.equal((await db.pool.query('select 1 from search_walks')).rowCount, 0);
});

test('a search returns for each conversation the places of its words', async () => {
  const caller = await app.signIn();
  const chatId = await makeChat(db, caller.id, 'Tides');
  const first = await say(db, { chatId, parentId: null, text: 'When does the "harbour" close?' });
  await answer(db, { chatId, parentId: first, text: `${'Long ago. '.repeat(30)}The harbour closes at eight.` });
  const titled = await makeChat(db, caller.id, 'The harbour at night');
  const big = await makeChat(db, caller.id, 'Big');
  await say(db, { chatId: big, parentId: null, text: `harbour ${'\\"'.repeat(60_000)}` });
  const { body } = await caller.call('GET /api/chats', undefined, { query: { q: 'harb' } });
  const snippet = (id: string) => body.chats.find((chat: Json) => chat.id === id).snippet;
  assert.equal(snippet(titled), undefined);
  const { text, hits } = snippet(chatId);
  assert.match(text, /^….*The harbour closes at eight\.$/);
  assert.deepEqual(
    hits.map(({ start, end }: Json) => text.slice(start, end)),
    ['harb'],
  );
  assert.match(snippet(big).text, /^harbour/);
  assert.ok(snippet(big).text.length < 200);
});

test('a new title replaces the old one in search, and archived conversations are found among the archived', async () => {
  const ownerId = await makeUser(db);
  const deps = { db, config: app.service.deps.config };
  const { id } = await createChat({ db }, ownerId, { title: 'walnut' });
  const find = async (q: string, archived = false) =>
    (await searchChats({ db }, ownerId, q, { archived })).chats.map((chat) => chat.id);
  assert.deepEqual(await find('walnut'), [id]);
  await updateChat(
    deps,
    ownerId,
    id,
    { title: 'hazelnut', archived: true },
    { moveFiles: () => assert.fail('nothing moves'), by: operator },
  );
  assert.deepEqual([await find('walnut'), await find('walnut', true), await find('hazelnut')], [[], [], []]);
  assert.deepEqual(await find('hazelnut', true), [id]);
});

test('unusual input finds nothing and is never an error', async () => {
  const caller = await app.signIn();
  await makeChat(db, caller.id, 'Something');
  const odd = [
    "'",
    '"',
    '\\',
    '&|!',
    '!!',
    '-',
    ':*',
    'a:*b',
    '😀',
    '(((',
    '<->',
    "'; drop",
    'é'.repeat(200),
    '字'.repeat(200),
  ];
  for (const q of [...odd, 'x '.repeat(99), '-a '.repeat(66), 'or '.repeat(66), '"'.repeat(200), 'a"b'.repeat(66)]) {
    const { status, body } = await caller.call('GET /api/chats', undefined, { query: { q } });
    assert.deepEqual([status, body.chats], [200, []], q);
  }
  assert.equal((await caller.call('GET /api/chats', undefined, { query: { q: 'x'.repeat(201) } })).status, 400);
  const blank = await caller.call('GET /api/chats', undefined, { query: { q: '  ' } });
  assert.equal(blank.body.chats.length, 1, 'a blank query is the list');
});

for (const [word, every] of [
  ['common', 1],
  ['every7', 7],
] as const) {
  test(`pages of a search contain every match once, newest first: a word in each ${every}.`, async () => {
    const ownerId = await makeUser(db);
    const count = 1_500;
    await seedConversations(ownerId, count);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await searchChats({ db }, ownerId, word, { limit: 150, cursor });
      seen.push(...page.chats.map((chat) => chat.id));
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    const { rows } = await db.pool.query<{ id: string }>(
      `select id from chats where owner_id = $1 and substring(title from 6)::int % $2 = 0 order by updated_at desc, id desc`,
      [ownerId, every],
    );
    const expected = rows.map((row) => row.id);
    assert.equal(expected.length, Math.floor(count / every));
    assert.deepEqual(seen, expected);
  });
}

test('20,000 conversations: finds rare words by the search index and common ones from the list, regardless of the others', async () => {
  const ownerId = await makeUser(db);
  await seedConversations(ownerId, 20_000);
  const explain = async (text: string, values: unknown[]) => {
    const { rows } = await db.pool.query<{ 'QUERY PLAN': string }>(`explain ${text}`, values);
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  };
  const walkValues = [ownerId, false, null, null, null, 100, "('common')"];
  await seed(db, 'vacuum analyze chats, messages');
  const hits = await explain(hitsStatement, ["('number777')", ownerQuery(ownerId), 2_000]);
  assert.match(hits, /Bitmap Index Scan on messages_search/);
  assert.match(hits, /Bitmap Index Scan on chats_title_search/);
  const walk = await explain(walkStatement, walkValues);
  assert.match(walk, /Index Scan using chats_list/);
  assert.match(walk, /messages_chat/);
  for (const plan of [hits, walk]) assert.doesNotMatch(plan, /Seq Scan on (?:messages|chats)/);
  assert.doesNotMatch(walk, /messages_search/);
  const rare = await searchChats({ db }, ownerId, 'number19999', {});
  assert.deepEqual(
    rare.chats.map((chat) => chat.id),
    [`${ownerId}-19999`],
  );
  const sparse = await searchChats({ db }, ownerId, 'every7', { limit: 3 });
  assert.deepEqual(
    sparse.chats.map((chat) => chat.id),
    [`${ownerId}-7`, `${ownerId}-14`, `${ownerId}-21`],
  );
});
