import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { readOverview, readTurns } from '../../src/conversations/export/transcript.ts';
import type { Database } from '../../src/db/pool.ts';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { answer, makeChat, makeUser, say } from '../conversations/conversation-makers.ts';
import { seed } from '../database.ts';
import { ProcessRuntime } from '../fakes/process-runtime.ts';
import { enterWorkspace, type Inside } from './workspace-caller.ts';

/** GET /api/internal/conversations: the list, and one conversation by turns. */

const runtime = new ProcessRuntime();
let app: TestApp;
let db: Database;
let user: SignedIn;
let inside: Inside;
before(async () => {
  app = await startTestApp({ workspaceRuntime: runtime });
  db = app.database.database;
  user = await app.signIn();
  inside = await enterWorkspace(app, runtime, user);
});
after(async () => {
  await runtime.destroy();
  await app.stop();
});

const read = (query: Record<string, string>, from = inside) =>
  from.call('GET /api/internal/conversations', undefined, { query });
const json = async (query: Record<string, string>): Promise<Json> => {
  const { status, body, text, headers } = await read({ ...query, format: 'json' });
  assert.equal(status, 200, text);
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8');
  return body;
};

/** Three turns on the active branch, the second of them without a response, and a branch that was left. */
async function talk(title = 'Plans'): Promise<{ chatId: string; messageIds: string[] }> {
  const chatId = await makeChat(db, user.id, title);
  const first = await say(db, { chatId, parentId: null, text: 'What is *first*?\n\nSecond line' });
  await answer(db, { chatId, parentId: first, text: 'left behind' });
  const reply = await answer(db, { chatId, parentId: first, text: 'This is.' });
  const second = await say(db, { chatId, parentId: reply, text: 'Nobody answers' });
  const third = await say(db, { chatId, parentId: second, text: `${'long '.repeat(100)}` });
  await answer(db, { chatId, parentId: third, text: 'Short.' });
  return { chatId, messageIds: [first, second, third] };
}

test('the overview has the facts and a line for each turn of the active branch', async () => {
  const { chatId, messageIds } = await talk();
  await db.pool.query('update chats set archived = true where id = $1', [chatId]);
  const overview = await json({ chatId });
  assert.equal(overview.chat.id, chatId);
  assert.equal(overview.turnCount, 3);
  assert.deepEqual(overview.models, [{ id: 'model-1', name: null }]);
  assert.deepEqual(
    overview.turns.map((one: Json) => [one.turn, one.messageId]),
    messageIds.map((id, index) => [index + 1, id]),
  );
  assert.equal(overview.turns[0].text, 'What is *first*? Second line');
  assert.equal([...overview.turns[2].text].length, 160);
  const { text, headers } = await read({ chatId });
  assert.equal(headers.get('content-type'), 'text/markdown; charset=utf-8');
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  assert.match(headers.get('content-disposition') ?? '', /^attachment/);
  assert.match(headers.get('cache-control') ?? '', /no-store/);
  assert.match(
    text,
    /^# Plans\n\n- Conversation: .* \(archived\)\n- Begun: .*\n- Last activity: .*\n- Models: model-1\n- Turns: 3\n\n1\. /,
  );
  assert.match(text, /\n1\. \S+: What is \\\*first\\\*\? Second line\n2\. \S+: Nobody answers\n3\. /);
  assert.ok(!text.includes('left behind'));
});

test('a turn is a message with all its responses', async () => {
  const { chatId, messageIds } = await talk();
  const [first, second, third] = await Promise.all(['1', '2', '3'].map((turn) => json({ chatId, mode: 'turn', turn })));
  const texts = (turn: Json) => turn.messages.map((message: Json) => message.parts[0].text);
  assert.deepEqual(texts(first), ['What is *first*?\n\nSecond line', 'This is.']);
  assert.deepEqual(texts(second), ['Nobody answers']);
  assert.deepEqual(
    [third.turn, third.turnCount, third.messages[0].id, texts(third)[1]],
    [3, 3, messageIds[2], 'Short.'],
  );
  const { text } = await read({ chatId, mode: 'turn', turn: '1' });
  assert.equal(
    text.replace(/, \d{4}-.*Z$/gm, ''),
    '# Plans\n\n## You (turn 1)\n\nWhat is *first*?\n\nSecond line\n\n## Assistant (turn 1)\n\nThis is.\n',
  );
  const beyond = await read({ chatId, mode: 'turn', turn: '4' });
  assert.deepEqual([beyond.status, beyond.body.error.code], [404, 'not_found']);
});

test('the full text has every turn of the active branch', async () => {
  const { chatId } = await talk();
  const full = await json({ chatId, mode: 'full' });
  assert.deepEqual(
    full.messages.map((message: Json) => message.role),
    ['user', 'assistant', 'user', 'user', 'assistant'],
  );
  const { text } = await read({ chatId, mode: 'full', format: 'markdown' });
  assert.deepEqual(
    [...text.matchAll(/^## (.*?),/gm)].map(([, who]) => who),
    ['You (turn 1)', 'Assistant (turn 1)', 'You (turn 2)', 'You (turn 3)', 'Assistant (turn 3)'],
  );
});

test("messages before the user's first one are a turn, and an empty conversation has none", async () => {
  const chatId = await makeChat(db, user.id, 'Imported');
  assert.deepEqual((await json({ chatId })).turns, []);
  assert.deepEqual((await json({ chatId, mode: 'full' })).messages, []);
  assert.equal((await read({ chatId, mode: 'turn', turn: '1' })).status, 404);
  const greeting = randomUUID();
  await db.pool.query(
    `insert into messages (id, chat_id, role, parts, status) values ($1, $2, 'assistant', '[{"type":"text","text":"Hello"}]', 'complete')`,
    [greeting, chatId],
  );
  await say(db, { chatId, parentId: greeting, text: 'Hi' });
  const { turnCount, turns } = await json({ chatId });
  assert.deepEqual(
    [turnCount, turns.map((one: Json) => [one.turn, one.text])],
    [
      2,
      [
        [1, ''],
        [2, 'Hi'],
      ],
    ],
  );
  for (const [turn, text] of [
    ['1', 'Hello'],
    ['2', 'Hi'],
  ] as const) {
    const { messages } = await json({ chatId, mode: 'turn', turn });
    assert.deepEqual(
      messages.map((message: Json) => message.parts[0].text),
      [text],
    );
  }
});

test('lists all conversations of the user, newest activity first, page by page', async () => {
  const caller = await app.signIn();
  const from = await enterWorkspace(app, runtime, caller);
  assert.deepEqual((await read({ format: 'json' }, from)).body, { chats: [], nextCursor: null });
  const ids: string[] = [];
  for (let index = 0; index < 7; index += 1) {
    const id = await makeChat(db, caller.id, index === 0 ? 'A *title*' : `Chat ${index}`);
    const time = new Date(Date.UTC(2026, 0, 1 + Math.floor(index / 2)));
    await db.pool.query('update chats set archived = $2, updated_at = $3 where id = $1', [id, index % 3 === 0, time]);
    ids.push(id);
  }
  const { rows } = await db.pool.query<{ id: string }>(
    'select id from chats where owner_id = $1 order by updated_at desc, id desc',
    [caller.id],
  );
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const query: Record<string, string> = { format: 'json', limit: '2', ...(cursor === null ? {} : { cursor }) };
    const { body } = await read(query, from);
    assert.ok(body.chats.length <= 2);
    seen.push(...body.chats.map((chat: Json) => chat.id));
    cursor = body.nextCursor;
  } while (cursor !== null);
  assert.deepEqual(
    seen,
    rows.map((row) => row.id),
  );
  const { text } = await read({}, from);
  assert.match(text, /^# Conversations\n\n- /);
  assert.match(text, /\n- A \\\*title\\\* \(archived\): \S+, 2026-01-01T00:00:00.000Z\n/);
  assert.match((await read({ limit: '3' }, from)).text, /\nThere are more: cursor \S+\n$/);
});

test("validates the request, and answers 404 for another user's conversations", async () => {
  const { chatId } = await talk();
  const odd: [Record<string, string>, string][] = [
    [{ chatId, mode: 'turn' }, 'turn'],
    [{ chatId, mode: 'turn', turn: '0' }, 'turn'],
    [{ chatId, mode: 'turn', turn: 'one' }, 'turn'],
    [{ chatId, mode: 'all' }, 'mode'],
    [{ chatId, format: 'html' }, 'format'],
    [{ limit: '501' }, 'limit'],
    [{ cursor: 'xyz' }, 'cursor'],
  ];
  for (const [query, path] of odd) {
    const { status, body } = await read(query);
    assert.deepEqual([status, body?.error?.details?.[0]?.path], [400, path], JSON.stringify(query));
  }
  const theirs = await enterWorkspace(app, runtime, await app.signIn());
  const modes: Record<string, string>[] = [{}, { mode: 'full' }, { mode: 'turn', turn: '1' }];
  for (const mode of modes) {
    const answers = await Promise.all([
      read({ chatId, ...mode }, theirs),
      read({ chatId: randomUUID(), ...mode }, theirs),
    ]);
    for (const { status, body } of answers) {
      assert.deepEqual([status, body.error.code, body.error.message], [404, 'not_found', 'Conversation not found']);
    }
  }
  assert.equal((await user.fetch(`/api/internal/conversations?chatId=${chatId}`)).status, 401);
});

test('writes a hundred thousand messages in order, a page at a time', async () => {
  const ownerId = await makeUser(db);
  const chatId = await makeChat(db, ownerId, 'Long');
  const count = 100_000;
  await seed(
    db,
    `insert into messages (id, chat_id, parent_id, role, parts, status)
     select $1 || '-' || i, $1, case when i > 1 then $1 || '-' || (i - 1) end, case when i % 2 = 1 then 'user' else 'assistant' end,
       '[{"type":"text","text":"#' || i || '# ' || repeat('x', 40) || '"}]', 'complete'
     from generate_series(1, ${count}) i order by i`,
    [chatId],
  );
  await db.pool.query('update chats set active_message_id = $2 where id = $1', [chatId, `${chatId}-${count}`]);
  const overview = await readOverview({ db }, ownerId, { chatId, format: 'json' });
  let expected = 0;
  let longest = 0;
  for await (const chunk of overview.chunks) {
    longest = Math.max(longest, chunk.length);
    for (const [, turn] of chunk.matchAll(/"turn":(\d+)/g)) {
      expected += 1;
      assert.equal(Number(turn), expected);
    }
  }
  assert.equal(expected, count / 2);
  assert.ok(longest < 64 * 1024);
  const { chunks } = await readTurns({ db }, ownerId, { chatId, format: 'json', turn: 43_210 });
  let text = '';
  for await (const chunk of chunks) text += chunk;
  assert.deepEqual(
    JSON.parse(text).messages.map((message: Json) => message.parts[0].text.split(' ')[0]),
    ['#86419#', '#86420#'],
  );
});
