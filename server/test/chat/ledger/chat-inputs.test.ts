import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../../../../contracts/test/until.ts';
import { type SignedIn, startTestApp, type TestApp } from '../../app.ts';
import { type FakeProvider, startFakeProvider } from '../../fakes/provider/provider.ts';
import { finish, say, stream } from '../../fakes/provider/provider-scripts.ts';
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
  app = await startTestApp({ timings: { dispatchMs: 50, sweepMs: 300 } });
});
after(async () => {
  await app.stop();
  await provider.close();
});

/** Lets the grace period pass after which messages start without a request for their stream. */
async function passGrace(user: SignedIn): Promise<void> {
  const { rowCount } = await app.database.database.pool.query(
    `update inputs set start_after = start_after - interval '3600 seconds' where owner_id = $1 and start_after > now()`,
    [user.id],
  );
  assert.ok((rowCount ?? 0) > 0, 'nothing waits');
}

test('20 concurrent sends of one message id make one message and one provider call, and other content is a conflict', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['words-3']);
  const calls = provider.requests.length;
  const chats = await Promise.all(Array.from({ length: 25 }, () => createChat(user)));
  for (const [index, chatId] of chats.entries()) {
    const route = index % 2 === 0 ? 'POST /api/chat/start' : 'POST /api/chat/turn-inputs';
    const body = submission(chatId, `hello ${index}`);
    const answers = await Promise.all(Array.from({ length: 20 }, () => user.call(route, body)));
    for (const { status } of answers) assert.ok(status === 201 || (status === 200 && index % 2 === 1), String(status));
    if (index % 2 === 1) assert.equal(answers.filter(({ status }) => status === 201).length, 1);
    const changed = await user.call(route, submission(chatId, 'other', {}, body.message.id));
    assert.equal(changed.status, 409);
    assert.equal(changed.body.error.code, 'input_conflict');
    const pinned = await user.call(route, { ...body, modelPinned: false });
    assert.equal(pinned.status, 409);
  }
  await passGrace(user);
  await until(async () => {
    const details = await Promise.all(chats.map((chatId) => chatDetail(user, chatId)));
    return details.every((detail) => detail.messages.length === 2 && detail.response === null);
  });
  assert.equal(provider.requests.length - calls, chats.length);
});

test("answers a retry like the first request after the response and the message's copy were removed", async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['words-3']);
  const chatId = await createChat(user);
  const body = submission(chatId, 'Hello');
  const first = await user.call('POST /api/chat/turn-inputs', body);
  const streamed = await answer(user, chatId, body.message.id);
  const { pool } = app.database.database;
  const stored = await pool.query('select parts from inputs where id = $1', [body.message.id]);
  assert.deepEqual(stored.rows, [{ parts: '[]' }], 'the message has the parts, and the input no copy of them');
  await pool.query(`update responses set ended_at = now() - interval '8 days', end_frames = null where chat_id = $1`, [
    chatId,
  ]);
  await until('the sweep removes it', async () => {
    const { rowCount } = await pool.query('select id from responses where chat_id = $1', [chatId]);
    return rowCount === 0;
  });

  const again = await user.call('POST /api/chat/turn-inputs', body);
  assert.deepEqual([again.status, again.body.input], [200, { ...first.body.input, state: 'applied' }]);
  assert.equal((await answer(user, chatId, body.message.id)).text, streamed.text);
  assert.equal((await chatDetail(user, chatId)).messages.length, 2);
  const changed = await user.call('POST /api/chat/turn-inputs', submission(chatId, 'Other', {}, body.message.id));
  assert.deepEqual([changed.status, changed.body.error.code], [409, 'input_conflict']);
});

test("another user's id is a conflict without details", async () => {
  const [first, second] = [await app.signIn(), await app.signIn()];
  const body = submission(await createChat(first), 'mine');
  assert.equal((await first.call('POST /api/chat/start', body)).status, 201);
  const other = await second.call('POST /api/chat/start', { ...body, chatId: await createChat(second) });
  assert.equal(other.status, 409);
  assert.equal(other.body.error.code, 'input_conflict');
  assert.equal((await second.call('POST /api/chat/start', body)).status, 404);
});

test('an input without a request starts after its grace period', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['words-3']);
  const chatId = await createChat(user);
  await submit(user, chatId, 'go');
  assert.equal((await chatDetail(user, chatId)).inputs.length, 1);
  await passGrace(user);
  const reply = await until(async () => (await chatDetail(user, chatId)).messages[1]);
  assert.equal(reply.role, 'assistant');
});

test('applies queued inputs one at a time in order, announced by data-next', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['words-5']);
  provider.enqueue('words-5', (call) => stream([...say('One'), { pause: true }, ...say(' two'), ...finish(call, 2)]));
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'first');
  const streaming = readStream(await postChat(user, { chatId, messageId }));
  const queued = [];
  for (const text of ['second', 'third']) {
    const { status, body } = await user.call('POST /api/chat/turn-inputs', submission(chatId, text));
    assert.equal(status, 201);
    assert.equal(body.input.state, 'queued');
    queued.push(body.input.id);
  }
  const listed = await user.call('GET /api/chat/turn-inputs', undefined, { query: { chatId } });
  assert.deepEqual(
    listed.body.inputs.map((input: { id: string }) => input.id),
    queued,
  );
  const waiting = await user.call('POST /api/chat', { chatId, messageId: queued[1] });
  assert.equal(waiting.status, 202);
  provider.release();
  const first = await streaming;
  const next = first.frames.at(-1)?.frame;
  assert.equal(next?.type, 'data-next');
  assert.equal(next?.type === 'data-next' && next.data.messageId, queued[0]);
  const detail = await until(async () => {
    const found = await chatDetail(user, chatId);
    return found.messages.length === 6 && found.response === null ? found : undefined;
  });
  assert.deepEqual(
    detail.messages
      .filter((message: { role: string }) => message.role === 'user')
      .map((message: { id: string }) => message.id),
    [messageId, ...queued],
  );
  assert.equal(detail.messages[5].id, waiting.body.assistantId);
  const retried = await user.call('POST /api/chat/turn-inputs', submission(chatId, 'second', {}, queued[0]));
  assert.equal(retried.status, 200);
  assert.equal(retried.body.input.state, 'applied');
});

test('a queued input can be canceled until it is applied, and a retry does not bring it back', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['words-2000@50']);
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'first');
  const streaming = readStream(await postChat(user, { chatId, messageId }));
  const body = submission(chatId, 'second');
  await user.call('POST /api/chat/turn-inputs', body);
  const query = { chatId, id: body.message.id };
  const cancelled = await user.call('DELETE /api/chat/turn-inputs', undefined, { query });
  assert.equal(cancelled.body.input.state, 'cancelled');
  assert.equal((await user.call('DELETE /api/chat/turn-inputs', undefined, { query })).status, 200);
  const retried = await user.call('POST /api/chat/turn-inputs', body);
  assert.equal(retried.status, 200);
  assert.equal(retried.body.input.state, 'cancelled');
  assert.equal((await user.call('POST /api/chat', { chatId, messageId: body.message.id })).status, 409);
  const late = await user.call('DELETE /api/chat/turn-inputs', undefined, { query: { chatId, id: messageId } });
  assert.equal(late.body.error.code, 'input_applied');
  await user.call(`POST /api/chat/${chatId}/stop`, {});
  const first = await streaming;
  assert.notEqual(first.frames.at(-1)?.frame.type, 'data-next');
  assert.equal((await chatDetail(user, chatId)).messages.length, 2);
});

test('admission rejects foreign conversations, unknown parents and models, archived conversations and too many inputs', async () => {
  const user = await app.signIn();
  const other = await app.signIn();
  const foreign = await createChat(other);
  const chatId = await createChat(user);
  const start = (body: object) => user.call('POST /api/chat/start', body);
  const missing = await start(submission(nextId('c'), 'x'));
  const notMine = await start(submission(foreign, 'x'));
  assert.equal(missing.status, 404);
  assert.deepEqual({ ...missing.body.error, requestId: '' }, { ...notMine.body.error, requestId: '' });
  assert.equal((await start(submission(chatId, 'x', { parentId: 'nope' }))).status, 404);
  assert.equal((await start(submission(chatId, 'x', { modelId: 'nope' }))).status, 404);
  assert.equal((await start(submission(chatId, 'x', { modelPinned: true }))).status, 400);
  assert.equal((await start(submission(chatId, '   '))).status, 400);
  await user.call('PATCH /api/chats', { id: chatId, archived: true });
  assert.equal((await start(submission(chatId, 'x'))).body.error.code, 'conversation_archived');
  assert.equal((await start(submission(chatId, 'x', { modelId: 'nope' }))).status, 404, 'before the state');
});

test('regenerating makes a sibling and editing a branch, and nothing is deleted', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['words-3']);
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'first');
  await answer(user, chatId, messageId);
  const regenerated = await answer(user, chatId, messageId, { regenerate: true });
  assert.equal(regenerated.status, 200);
  const detail = await chatDetail(user, chatId);
  assert.equal(detail.messages.length, 2);
  assert.equal(detail.messages[1].siblingIds.length, 2);
  const edited = await submit(user, chatId, 'edited', { parentId: null });
  await answer(user, chatId, edited);
  const branch = await chatDetail(user, chatId);
  assert.equal(branch.messages[0].id, edited);
  assert.deepEqual(branch.messages[0].siblingIds, [messageId, edited]);
  const back = await user.call('PATCH /api/chats', { id: chatId, activeMessageId: messageId });
  assert.equal(back.status, 200);
  assert.equal((await chatDetail(user, chatId)).messages[0].id, messageId);
});

test('a stopped response can be continued and keeps its text', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['words']);
  provider.enqueue('words', stream([{ words: 300, rate: 100 }, { hang: true }]));
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'first');
  const response = await postChat(user, { chatId, messageId });
  const spoke = Promise.withResolvers<void>();
  const streaming = readStream(response, ({ frame }) => {
    if (frame.type === 'text-delta') spoke.resolve();
    return false;
  });
  await spoke.promise;
  await user.call(`POST /api/chat/${chatId}/stop`, {});
  const stopped = await streaming;
  provider.script('words', (call) => stream([...say('and this is the rest'), ...finish(call, 5)]));
  const resumed = await readStream(await postChat(user, { chatId, resume: true }));
  assert.ok(resumed.text.startsWith(stopped.text), 'begins with what was there');
  assert.ok(resumed.text.length > stopped.text.length);
  const detail = await chatDetail(user, chatId);
  assert.equal(detail.messages.length, 2);
  assert.equal(detail.messages[1].status, 'complete');
  assert.ok((resumed.frames[0]?.id ?? 0) > (stopped.frames.at(-1)?.id ?? 0), 'sequence numbers go on');
  const nothing = await user.call('POST /api/chat', { chatId, resume: true });
  assert.equal(nothing.status, 409);
});

test('deleting a model between admission and start fails the response, not the conversation', async () => {
  const user = await app.signIn();
  const [, second] = await addModels(user, provider, ['words-3', 'words-4']);
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'go', { modelPinned: true, modelId: second });
  await user.call('DELETE /api/models', undefined, { query: { id: second ?? '' } });
  const failed = await answer(user, chatId, messageId);
  assert.equal(failed.status, 404);
  const detail = await chatDetail(user, chatId);
  assert.equal(detail.messages[1].status, 'failed');
  assert.equal(detail.chat.modelPinned, false);
  const next = await submit(user, chatId, 'again');
  assert.equal((await answer(user, chatId, next)).status, 200);
});

test("a message's file is an artifact or includes its bytes, and any other address is rejected", async () => {
  const user = await app.signIn();
  const chatId = await createChat(user);
  const withFile = (url: string) => {
    const body = submission(chatId, 'Look at this');
    return { ...body, message: { ...body.message, parts: [{ type: 'file', mediaType: 'image/png', url }] } };
  };
  for (const url of ['https://elsewhere.example/x.png', 'file:///etc/passwd', 'javascript:alert(1)', '/api/me', 'x']) {
    for (const route of ['POST /api/chat/start', 'POST /api/chat/turn-inputs']) {
      const { status, body } = await user.call(route, withFile(url));
      assert.deepEqual([status, body.error.details[0].path], [400, 'message.parts.0.url'], url);
    }
  }
  const inline = await user.call('POST /api/chat/start', withFile('data:image/png;base64,iVBORw0KGgo='));
  assert.equal(inline.status, 201);
});
