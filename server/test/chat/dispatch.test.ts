import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';
import { addModels, answer, createChat, nextId, submission, submit } from './chat-harness.ts';

/** Queued inputs of conversations that cannot continue, and requests that only join. */

let app: TestApp;
let provider: FakeProvider;
let user: SignedIn;
before(async () => {
  provider = await startFakeProvider();
  app = await startTestApp({ timings: { dispatchMs: 50, graceMs: 0 } });
  user = await app.signIn();
});
after(async () => {
  await app.stop();
  await provider.close();
});

test('sixty conversations that cannot continue block no other', async () => {
  await addModels(user, provider, ['words-3']);
  const { pool, kysely } = app.database.database;
  // Their inputs are larger than any message can be: each claim fails.
  for (let index = 0; index < 60; index += 1) {
    const chatId = await createChat(user);
    await kysely
      .insertInto('inputs')
      .values({
        id: nextId('broken'),
        chat_id: chatId,
        owner_id: user.id,
        assistant_id: nextId('answer'),
        parts: 'not JSON',
        parent_id: null,
        parent_given: false,
        decision: '{}',
        request_hash: 'h',
        start_after: new Date(Date.now() - 60_000),
      })
      .execute();
  }
  const chatId = await createChat(user);
  await submit(user, chatId, 'Hello');
  await until(async () => {
    const { rows } = await pool.query(`select 1 from responses where chat_id = $1 and state = 'complete'`, [chatId]);
    return rows.length === 1;
  });
});

test('joins a response of a deleted model, regardless of the model in the request', async () => {
  const [modelId = ''] = await addModels(user, provider, ['words-4']);
  const chatId = await createChat(user);
  const body = submission(chatId, 'Hello', { modelId });
  const messageId = body.message.id;
  assert.equal((await user.call('POST /api/chat/start', body)).status, 201);
  const first = await answer(user, chatId, messageId, { modelId });
  await user.call('DELETE /api/models', undefined, { query: { id: modelId } });
  const again = await answer(user, chatId, messageId, { modelId });
  assert.deepEqual([again.status, again.text], [200, first.text]);
  const fresh = await user.call('POST /api/chat', { chatId, messageId, modelId, regenerate: true });
  assert.deepEqual([fresh.status, fresh.body.error.code], [404, 'not_found']);
  const other = await app.signIn();
  const foreign = await other.call('POST /api/chat', { chatId, messageId, modelId });
  assert.equal(foreign.status, 404);
});
