import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Database } from '../../src/db/pool.ts';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { seed } from '../database.ts';
import { answer, makeChat, queueInput, say, startResponse } from './conversation-makers.ts';

let app: TestApp;
let db: Database;
before(async () => {
  app = await startTestApp();
  db = app.database.database;
});
after(() => app.stop());

const detail = async (caller: SignedIn, query: Record<string, string>) =>
  (await caller.call('GET /api/chats', undefined, { query })).body;
const idsOf = (body: Json): string[] => body.messages.map((message: Json) => message.id);
const select = (caller: SignedIn, id: string, activeMessageId: string) =>
  caller.call('PATCH /api/chats', { id, activeMessageId });

test('an empty conversation has no messages, inputs or response', async () => {
  const caller = await app.signIn();
  const body = await detail(caller, { id: await makeChat(db, caller.id) });
  assert.deepEqual([body.messages, body.nextBefore, body.inputs, body.response], [[], null, [], null]);
});

test('editing and regenerating make branches: siblings in order, and the selected branch shown to its newest leaf', async () => {
  const caller = await app.signIn();
  const chatId = await makeChat(db, caller.id);
  const id = chatId;
  const root = await say(db, { chatId, parentId: null, text: 'question' });
  const first = await answer(db, { chatId, parentId: root, text: 'first answer' });
  const followUp = await say(db, { chatId, parentId: first, text: 'follow-up' });
  const second = await answer(db, { chatId, parentId: root, text: 'second answer' });
  assert.deepEqual(idsOf(await detail(caller, { id })), [root, second]);

  const edited = await say(db, { chatId, parentId: null, text: 'question, edited' });
  const third = await answer(db, { chatId, parentId: edited, text: 'third answer' });
  let body = await detail(caller, { id });
  assert.deepEqual(idsOf(body), [edited, third]);
  assert.deepEqual(body.messages[0].siblingIds, [root, edited]);
  assert.deepEqual(body.messages[1].siblingIds, [third]);

  assert.equal((await select(caller, id, first)).status, 200);
  body = await detail(caller, { id });
  assert.deepEqual(idsOf(body), [root, first, followUp]);
  assert.deepEqual(body.messages[1].siblingIds, [first, second]);
  assert.deepEqual(
    body.messages.map((message: Json) => message.parentId),
    [null, root, first],
  );

  await select(caller, id, root);
  assert.deepEqual(
    idsOf(await detail(caller, { id })),
    [root, second],
    'the newest leaf below, not the one shown before',
  );
  await select(caller, id, third);
  assert.deepEqual(idsOf(await detail(caller, { id })), [edited, third]);

  const elsewhere = await makeChat(db, caller.id);
  const stranger = await say(db, { chatId: elsewhere, parentId: null, text: 'x' });
  assert.equal((await select(caller, id, stranger)).status, 404);
  assert.equal(
    (await caller.call('GET /api/chats', undefined, { query: { id, before: stranger } })).status,
    404,
    'before is a message of this conversation',
  );
});

test('returns parts as they are stored, with error, model and usage only when present', async () => {
  const caller = await app.signIn();
  const chatId = await makeChat(db, caller.id);
  const question = await say(db, { chatId, parentId: null, text: '"quoted" \\ </script> \u2028 😀' });
  const reply = await answer(db, { chatId, parentId: question, text: 'fine' });
  await db.pool.query(
    `update messages set status = 'failed', error_code = 'provider_error', error_message = 'no "luck"', parts = $2 where id = $1`,
    [reply, '[{"type":"text","text":"kept", "state":"done"}]'],
  );
  const answered = await caller.call('GET /api/chats', undefined, { query: { id: chatId } });
  const [asked, failed] = answered.body.messages;
  assert.deepEqual(asked.parts, [{ type: 'text', text: '"quoted" \\ </script> \u2028 😀' }]);
  assert.deepEqual(
    Object.keys(asked).filter((key) => ['error', 'usage', 'modelId'].includes(key)),
    [],
  );
  assert.deepEqual(failed.error, { code: 'provider_error', message: 'no "luck"' });
  assert.deepEqual(failed.usage, { inputTokens: 10, outputTokens: 2 });
  assert.equal(failed.modelId, 'model-1');
  assert.ok(answered.text.includes('{"type":"text","text":"kept", "state":"done"}'), 'not serialised again');
});

test('returns queued inputs in order, together with the running response', async () => {
  const caller = await app.signIn();
  const chat = { id: await makeChat(db, caller.id), ownerId: caller.id };
  // First, so that the dispatcher leaves the inputs in the queue.
  const response = await startResponse(db, chat);
  const inputs = [await queueInput(db, chat, 'one'), await queueInput(db, chat, 'two')];
  const cancelled = await queueInput(db, chat, 'three');
  await db.pool.query(`update inputs set state = 'cancelled' where id = $1`, [cancelled]);
  const body = await detail(caller, { id: chat.id });
  assert.deepEqual(
    body.inputs.map((input: Json) => [input.id, input.state, input.message.parts[0].text]),
    [
      [inputs[0], 'queued', 'one'],
      [inputs[1], 'queued', 'two'],
    ],
  );
  assert.equal(body.response.assistantId, response);
  assert.equal(body.chat.running, true);
});

test('5,000 messages page back without gaps or repeats, even while the conversation grows', async () => {
  const caller = await app.signIn();
  const chatId = await makeChat(db, caller.id);
  const count = 5_000;
  await seed(
    db,
    `insert into messages (id, chat_id, parent_id, role, parts, status)
     select $1 || '-' || i, $1, case when i > 1 then $1 || '-' || (i - 1) end,
       case when i % 2 = 1 then 'user' else 'assistant' end, '[]', 'complete'
     from generate_series(1, $2::int) i order by i`,
    [chatId, count],
  );
  let leaf = `${chatId}-${count}`;
  await db.pool.query('update chats set active_message_id = $2 where id = $1', [chatId, leaf]);
  const seen: string[] = [];
  let before: string | null = null;
  do {
    const query: Record<string, string> = { id: chatId, limit: '333', ...(before === null ? {} : { before }) };
    const body = await detail(caller, query);
    seen.unshift(...idsOf(body));
    before = body.nextBefore;
    leaf = await say(db, { chatId, parentId: leaf, text: 'more' });
  } while (before !== null);
  assert.deepEqual(
    seen,
    Array.from({ length: count }, (_value, index) => `${chatId}-${index + 1}`),
  );
});

test('a page of very long messages ends early and can be continued', async () => {
  const caller = await app.signIn();
  const chatId = await makeChat(db, caller.id);
  const ids: string[] = [];
  for (let index = 0; index < 5; index++) {
    ids.push(await say(db, { chatId, parentId: ids.at(-1) ?? null, text: 'x'.repeat(3_000_000) }));
  }
  const newest = await detail(caller, { id: chatId });
  assert.deepEqual(idsOf(newest), ids.slice(2));
  assert.equal(newest.nextBefore, ids[2]);
  const older = await detail(caller, { id: chatId, before: newest.nextBefore });
  assert.deepEqual(idsOf(older), ids.slice(0, 2));
  assert.equal(older.nextBefore, null);
});
