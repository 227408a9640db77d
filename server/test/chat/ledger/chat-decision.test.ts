import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../../../../contracts/test/until.ts';
import { startTestApp, type TestApp } from '../../app.ts';
import { type FakeProvider, startFakeProvider } from '../../fakes/provider/provider.ts';
import {
  addModels,
  answer,
  chatDetail,
  createChat,
  nextId,
  postChat,
  readStream,
  submission,
  submit,
} from '../chat-harness.ts';

let app: TestApp;
let provider: FakeProvider;
before(async () => {
  provider = await startFakeProvider();
  app = await startTestApp({ timings: { dispatchMs: 50 } });
});
after(async () => {
  await app.stop();
  await provider.close();
});

test('a model given with POST /api/chat applies to that turn only, regardless of the admitted decision', async () => {
  const user = await app.signIn();
  const [first, second] = await addModels(user, provider, ['words-3', 'words-4']);
  for (const admitted of [{ modelPinned: false }, { modelPinned: true, modelId: first }, { modelId: first }]) {
    const chatId = await createChat(user);
    const messageId = await submit(user, chatId, 'go', admitted);
    await answer(user, chatId, messageId, { modelId: second });
    const { chat, messages } = await chatDetail(user, chatId);
    assert.equal(messages[1].modelId, second, JSON.stringify(admitted));
    assert.equal(chat.modelPinned, false);
  }
});

test('keeps the decision of a queued input until it is applied', async () => {
  const user = await app.signIn();
  const [, second] = await addModels(user, provider, ['words-5004@50', 'words-4']);
  const chatId = await createChat(user);
  const streaming = readStream(await postChat(user, { chatId, messageId: await submit(user, chatId, 'first') }));
  const body = submission(chatId, 'second');
  await user.call('POST /api/chat/turn-inputs', body);
  const waiting = await user.call('POST /api/chat', { chatId, messageId: body.message.id, modelId: second });
  assert.equal(waiting.status, 202);
  assert.equal((await user.call('POST /api/chat/turn-inputs', body)).status, 200, 'a retry is one still');
  await user.call(`POST /api/chat/${chatId}/stop`, {});
  await streaming;
  const detail = await until(async () => {
    const found = await chatDetail(user, chatId);
    return found.response === null && found.messages.length === 4 ? found : undefined;
  });
  assert.equal(detail.messages[3].modelId, second);
});

test('an id promised to a response is not available for a message', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['words-5005@50']);
  const chatId = await createChat(user);
  const streaming = readStream(await postChat(user, { chatId, messageId: await submit(user, chatId, 'first') }));
  const body = submission(chatId, 'second');
  await user.call('POST /api/chat/turn-inputs', body);
  const { assistantId } = (await user.call('POST /api/chat', { chatId, messageId: body.message.id })).body;
  const taken = await user.call('POST /api/chat/start', submission(chatId, 'third', {}, assistantId));
  assert.equal(taken.body.error?.code, 'input_conflict');
  await user.call('DELETE /api/chats', undefined, { query: { id: chatId } });
  await streaming;
});

test('rejects an invalid last-event-id or after before reading the database', async () => {
  const user = await app.signIn();
  const chatId = await createChat(user);
  for (const id of [chatId, nextId('c')]) {
    const header = await user.fetch(`/api/chat/${id}/stream`, { headers: { 'last-event-id': 'x' } });
    const query = await user.fetch(`/api/chat/${id}/stream?after=-1`);
    const both = await user.fetch(`/api/chat/${id}/stream?after=1`, { headers: { 'last-event-id': '1.5' } });
    assert.deepEqual([header.status, query.status, both.status], [400, 400, 400]);
  }
});

test('replays an ended response, and fails like any request if its stored parts are damaged', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['words-3']);
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'go');
  const first = await answer(user, chatId, messageId);
  assert.equal((await answer(user, chatId, messageId)).text, first.text);
  await app.service.deps.db.kysely
    .updateTable('messages')
    .set({ parts: 'damaged' })
    .where('parent_id', '=', messageId)
    .execute();
  const damaged = await user.call('POST /api/chat', { chatId, messageId });
  assert.equal(damaged.status, 500);
  assert.equal(damaged.body.error.code, 'internal_error');
});

test('rejects a pin without its model before reading the database', async () => {
  const user = await app.signIn();
  const [mine, missing] = [await createChat(user), nextId('c')];
  for (const id of [mine, missing]) {
    const refused = await user.call('PATCH /api/chats', { id, modelPinned: true, modelId: null });
    assert.equal(refused.status, 400);
    assert.equal(refused.body.error.details[0].path, 'modelId');
  }
});
