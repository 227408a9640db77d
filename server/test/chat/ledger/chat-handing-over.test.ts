import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../../../../contracts/test/until.ts';
import type { Tool } from '../../../src/chat/tools/tool-run.ts';
import { createCaller, type Json, type SignedIn, startTestApp, type TestApp } from '../../app.ts';
import { type FakeProvider, startFakeProvider } from '../../fakes/provider/provider.ts';
import { stream } from '../../fakes/provider/provider-scripts.ts';
import { addModels, chatDetail, createChat, partsOf, postChat, readStream, submit } from '../chat-harness.ts';

/** A replica that stops during a response: another one continues it without an interruption for followers. */

/** Resolves when the tool of `tools-1` runs, with a function that ends it. */
const running = Promise.withResolvers<{ finish: () => void }>();
const tools = { count: 0 };
const slow: Tool = {
  name: 'slow',
  description: 'Waits',
  inputSchema: { type: 'object' },
  async execute() {
    tools.count += 1;
    await new Promise<void>((finish) => running.resolve({ finish }));
    return { done: true };
  },
};
let provider: FakeProvider;
let stays: TestApp;
before(async () => {
  provider = await startFakeProvider();
  stays = await startTestApp({ findTools: async () => [slow] });
});
after(async () => {
  await stays.stop();
  await provider.close();
});

/** A user whose conversation is answered by a replica that is about to stop. */
async function answered(
  modelId: string,
): Promise<{ leaving: TestApp; user: SignedIn; there: SignedIn; chatId: string; messageId: string }> {
  const leaving = await startTestApp({ database: stays.database, findTools: async () => [slow] });
  const user = await stays.signIn();
  await addModels(user, provider, [modelId]);
  const there = { ...createCaller(leaving.url, user.cookie), id: user.id, email: user.email };
  const chatId = await createChat(user);
  return { leaving, user, there, chatId, messageId: await submit(user, chatId, 'go') };
}

async function lastAnswer(user: SignedIn, chatId: string): Promise<Json> {
  const { messages } = await chatDetail(user, chatId);
  return messages.at(-1);
}

/** 1 at the replica that started it. */
async function generationOf(chatId: string): Promise<number> {
  const { rows } = await stays.database.database.pool.query('select generation from responses where chat_id = $1', [
    chatId,
  ]);
  return rows[0].generation;
}

test('a response that does not end in time continues at another replica, for followers of both', async () => {
  const { leaving, user, there, chatId, messageId } = await answered('words-300@60');
  // The replica that is about to stop never finishes.
  provider.enqueue('words-300@60', stream([{ words: 300, rate: 60 }, { hang: true }]));
  const own = await postChat(there, { chatId, messageId });
  const elsewhere = readStream(await user.fetch(`/api/chat/${chatId}/stream`));
  let stopped: Promise<void> | undefined;
  const cut = await readStream(own, ({ id }) => {
    if (id > 30) stopped ??= leaving.service.stop(0);
    return false;
  });
  assert.equal(cut.done, false, 'no end is told');
  assert.ok(!cut.frames.some(({ frame }) => frame.type === 'error'));
  const back = readStream(
    await user.fetch(`/api/chat/${chatId}/stream`, { headers: { 'last-event-id': String(cut.frames.at(-1)?.id) } }),
  );
  await stopped;
  const ends = await Promise.all([elsewhere, back]);
  const answer = await lastAnswer(user, chatId);
  assert.equal(answer.status, 'complete');
  assert.equal(await generationOf(chatId), 2);
  for (const { done, frames } of ends) {
    assert.equal(done, true);
    const again = frames.slice(frames.findLastIndex(({ frame }) => frame.type === 'start'));
    const texts = partsOf(again).filter((part) => part.type === 'text');
    assert.deepEqual(
      texts.map((part) => ('text' in part ? part.text : '')).join(''),
      answer.parts
        .filter(({ type }: Json) => type === 'text')
        .map(({ text }: Json) => text)
        .join(''),
    );
  }
});

test('hands over a turn with tools after its step, long before the timeout', async () => {
  const { leaving, user, there, chatId, messageId } = await answered('tools-1');
  assert.equal((await postChat(there, { chatId, messageId, detach: true })).status, 202);
  const tool = await running.promise;
  const drained = leaving.service.deps.responses.drain(86_400_000);
  tool.finish();
  await drained;
  await until('it is answered', async () => (await lastAnswer(user, chatId)).status === 'complete');
  const { parts } = await lastAnswer(user, chatId);
  assert.match(parts.at(-1).text, /Done after 1 tool results/);
  assert.equal(tools.count, 1, 'no call is made twice');
  assert.equal(await generationOf(chatId), 2);
  await leaving.stop();
});

test('a response that is claimed at the timeout runs elsewhere', async () => {
  const { leaving, user, there, chatId, messageId } = await answered('words-5');
  const lock = await stays.database.database.openClient();
  await lock.query('begin');
  await lock.query('select from chats where id = $1 for update', [chatId]);
  const claiming = postChat(there, { chatId, messageId, detach: true });
  await until('the claim waits', async () => {
    const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
    return (await stays.database.database.pool.query(waiting)).rowCount === 1;
  });
  await leaving.service.deps.responses.drain(0);
  await lock.query('commit');
  await lock.end();
  assert.equal((await claiming).status, 202);
  await until('it is answered', async () => (await lastAnswer(user, chatId))?.status === 'complete');
  assert.equal(await generationOf(chatId), 2);
  await leaving.stop();
});

test('a response that no replica takes over for a minute stays interrupted, and the next message is answered', async () => {
  const { leaving, user, there, chatId, messageId } = await answered('words-5000@50');
  await postChat(there, { chatId, messageId, detach: true });
  await until('it runs', async () => leaving.service.deps.responses.size === 1);
  const { pool } = stays.database.database;
  const late = `create function age() returns trigger language plpgsql as $$ begin
    if new.handed_over then new.ended_at := now() - interval '2 minutes'; end if; return new; end $$;
    create trigger age before update on responses for each row when (new.chat_id = '${chatId}') execute function age()`;
  await pool.query(late);
  await leaving.service.deps.responses.drain(0);
  await leaving.stop();
  assert.equal((await lastAnswer(user, chatId)).status, 'interrupted');
  assert.equal((await user.fetch(`/api/chat/${chatId}/stream`)).status, 204);
  const { body } = await user.call('GET /api/chats', undefined, { query: { id: chatId } });
  assert.equal(body.response, null);
});

test('the first replica after an upgrade continues a response that no other one could take over', async () => {
  // The other replica of this file would continue it.
  const leaving = await startTestApp();
  const { database } = leaving;
  const user = await leaving.signIn();
  await addModels(user, provider, ['words-300@60']);
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'go');
  await postChat(user, { chatId, messageId, detach: true });
  await until('it runs', async () => leaving.service.deps.responses.size === 1);
  await leaving.service.stop(0);
  const { rowCount } = await database.database.pool.query(
    `update responses set ended_at = now() - interval '50 minutes' where chat_id = $1 and handed_over`,
    [chatId],
  );
  assert.equal(rowCount, 1);
  const next = await startTestApp({ database, isFirst: true });
  const there = { ...createCaller(next.url, user.cookie), id: user.id, email: user.email };
  await until('it is answered', async () => (await lastAnswer(there, chatId)).status === 'complete');
  await next.stop();
  await leaving.stop();
});
