import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { startTestApp, type TestApp } from '../app.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';
import { finish, say, stream } from '../fakes/provider/provider-scripts.ts';
import {
  addModels,
  answer,
  chatDetail,
  createChat,
  idle,
  partsOf,
  postChat,
  readStream,
  submit,
} from './chat-harness.ts';

let app: TestApp;
let provider: FakeProvider;
before(async () => {
  provider = await startFakeProvider();
  app = await startTestApp();
});
after(async () => {
  await app.stop();
  await provider.close();
});

test('a submitted message gets a response that is streamed, stored and replayable', async () => {
  const user = await app.signIn();
  const [modelId] = await addModels(user, provider, ['words-20']);
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'Tell me twenty words');
  const streamed = await answer(user, chatId, messageId);
  assert.equal(streamed.status, 200);
  assert.equal(streamed.done, true);
  assert.equal(streamed.frames[0]?.frame.type, 'start');
  assert.equal(streamed.frames.at(-1)?.frame.type, 'finish');
  assert.ok(streamed.text.length > 20);

  const detail = await chatDetail(user, chatId);
  assert.equal(detail.response, null);
  assert.equal(detail.chat.running, false);
  assert.equal(detail.chat.title, 'Tell me twenty words');
  assert.deepEqual(
    detail.messages.map((message: { role: string }) => message.role),
    ['user', 'assistant'],
  );
  const [question, reply] = detail.messages;
  assert.equal(question.id, messageId);
  assert.equal(reply.status, 'complete');
  assert.equal(reply.modelId, modelId);
  assert.deepEqual(reply.parts, partsOf(streamed.frames));

  const again = await answer(user, chatId, messageId);
  assert.equal(again.text, streamed.text);
  assert.equal(provider.requests.filter((request) => request.body.model === 'words-20').length, 1);
});

test('a late follower gets the whole response, and a returning one only the remaining frames', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['echo']);
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'go');
  provider.enqueue('echo', (call) =>
    stream([...say('The one half of it'), { pause: true }, ...say(' and the other.'), ...finish(call, 9)]),
  );
  const first = readStream(await postChat(user, { chatId, messageId }));
  const part = await readStream(
    await user.fetch(`/api/chat/${chatId}/stream`),
    ({ frame }) => frame.type === 'text-delta',
  );
  const seen = part.frames.at(-1)?.id ?? 0;
  const comingBack = await user.fetch(`/api/chat/${chatId}/stream?after=${seen}`);
  provider.release();
  const rest = await readStream(comingBack);
  const whole = await first;
  assert.equal(whole.text, 'The one half of it and the other.');
  assert.equal(part.text + rest.text, whole.text);
  assert.equal((await user.fetch(`/api/chat/${chatId}/stream`)).status, 204);
});

test('a detached request answers 202 immediately, and the response continues without a client', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['words-20']);
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'go');
  const accepted = await user.call('POST /api/chat', { chatId, messageId, detach: true });
  assert.equal(accepted.status, 202);
  assert.equal(accepted.body.admitted, true);
  const reply = await until(async () => {
    const detail = await chatDetail(user, chatId);
    return detail.response === null ? detail.messages[1] : undefined;
  });
  assert.equal(reply.id, accepted.body.assistantId);
  assert.equal(reply.status, 'complete');
});

test('Stop reaches the provider, keeps the text and never affects a later response', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['words-5000@100']);
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'go');
  const streaming = readStream(await postChat(user, { chatId, messageId }));
  const detail = await until(async () => {
    const found = await chatDetail(user, chatId);
    return found.response === null ? undefined : found;
  });
  const { assistantId } = detail.response;
  const wrong = await user.call(`POST /api/chat/${chatId}/stop`, { assistantId: 'another' });
  assert.deepEqual(wrong.body, { stopped: false, assistantId: null });
  const stopped = await user.call(`POST /api/chat/${chatId}/stop`, { assistantId });
  assert.deepEqual(stopped.body, { stopped: true, assistantId });
  const request = provider.requests.find((candidate) => candidate.body.model === 'words-5000@100');
  assert.equal(await request?.closed, 'aborted');
  const streamed = await streaming;
  assert.ok(streamed.frames.some(({ frame }) => frame.type === 'abort'));
  await idle(app);
  const after = await chatDetail(user, chatId);
  assert.equal(after.messages[1].status, 'stopped');
  assert.deepEqual(
    after.messages[1].parts,
    partsOf(streamed.frames).map((part) => ({ ...part, ...('state' in part ? { state: 'done' } : {}) })),
  );
});

test('a failure before the first frame is an HTTP error for the requesting client, and the message shows it', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['error-401']);
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'go');
  const failed = await answer(user, chatId, messageId);
  assert.equal(failed.status, 502);
  assert.equal(failed.body.error.code, 'provider_error');
  assert.equal(failed.body.error.details.status, 401);
  const detail = await chatDetail(user, chatId);
  assert.equal(detail.messages[1].status, 'failed');
  assert.equal(detail.messages[1].error.code, 'provider_error');
});

test('an answer that fails keeps its code, reason and values, in its stream and in its message', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['stream-error']);
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'go');
  const failed = await answer(user, chatId, messageId);
  const error = failed.frames.map(({ frame }) => frame).find(({ type }) => type === 'error');
  assert.ok(error?.type === 'error');
  assert.equal(error.code, 'provider_error');
  assert.partialDeepStrictEqual(error.details, { reason: 'other', status: 500, values: { problem: 'internal' } });
  const { error: stored } = (await chatDetail(user, chatId)).messages[1];
  assert.deepEqual(stored, { code: 'provider_error', message: error.errorText, details: error.details });
  const end = failed.frames.at(-1)?.frame;
  assert.ok(end?.type === 'finish');
  assert.deepEqual(end.messageMetadata?.error, stored);
});

test('without a model the response fails with advice', async () => {
  const user = await app.signIn();
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'go');
  const failed = await answer(user, chatId, messageId);
  assert.equal(failed.status, 400);
  assert.equal(failed.body.error.code, 'model_unavailable');
});
