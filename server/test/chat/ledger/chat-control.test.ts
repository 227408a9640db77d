import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../../../../contracts/test/until.ts';
import { sessionCheckMs } from '../../../src/accounts/session-watch.ts';
import { type Clock, systemClock } from '../../../src/platform/clock.ts';
import { createCaller, type SignedIn, startTestApp, type TestApp } from '../../app.ts';
import { type FakeProvider, startFakeProvider } from '../../fakes/provider/provider.ts';
import { say } from '../../fakes/provider/provider-scripts.ts';
import {
  addModels,
  chatDetail,
  createChat,
  postChat,
  readStream,
  submission,
  submit,
  untilStored,
} from '../chat-harness.ts';

let maker: TestApp;
let other: TestApp;
let provider: FakeProvider;
// Heartbeats, leases and checks of sessions are due long after any test ends, so none of them ends a stream here.
const clock: Clock = {
  ...systemClock,
  every: (milliseconds, work) => systemClock.every(milliseconds === sessionCheckMs ? 300_000 : milliseconds, work),
};
const timings = { leaseMs: 600_000, heartbeatMs: 300_000, sweepMs: 300_000, dispatchMs: 100, watchMs: 100 };
before(async () => {
  provider = await startFakeProvider();
  provider.script('silent', () => ({ steps: [...say('Some words first'), { hang: true }] }));
  maker = await startTestApp({ timings, clock });
  other = await startTestApp({ timings, clock, database: maker.database });
});
after(async () => {
  await other.stop();
  await maker.stop();
  await provider.close();
});

function at(app: TestApp, user: SignedIn): SignedIn {
  return { ...createCaller(app.url, user.cookie), id: user.id, email: user.email };
}

/** A response of a model that falls silent, made by a replica that receives no signals. */
async function askSilentModel() {
  const unsignaled = await startTestApp({ timings, database: maker.database });
  await unsignaled.service.deps.responses.signals.stop();
  const user = await unsignaled.signIn();
  await addModels(user, provider, ['silent']);
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'go');
  const streaming = readStream(await postChat(user, { chatId, messageId }));
  const asked = provider.requests.at(-1);
  return { unsignaled, user, chatId, streaming, asked };
}

test('Stop reaches a silent response at a replica that receives no signals', async () => {
  const { unsignaled, user, chatId, streaming, asked } = await askSilentModel();
  const stopped = await at(other, user).call(`POST /api/chat/${chatId}/stop`, {});
  assert.equal(stopped.body.stopped, true);
  assert.equal(await asked?.closed, 'aborted');
  assert.ok((await streaming).frames.some(({ frame }) => frame.type === 'abort'));
  await unsignaled.stop();
});

test('deleting a conversation at another replica ends its silent response without a signal', async () => {
  const { unsignaled, user, chatId, streaming, asked } = await askSilentModel();
  await untilStored(unsignaled, chatId, 'first');
  const deleted = await at(other, user).call('DELETE /api/chats', undefined, { query: { id: chatId } });
  assert.equal(deleted.status, 200);
  assert.equal(await asked?.closed, 'aborted');
  assert.equal((await streaming).done, false);
  await unsignaled.stop();
});

test('an earlier Stop does not affect a response that is continued at another replica', async () => {
  const user = await maker.signIn();
  await addModels(user, provider, ['words-5003@50']);
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'go');
  const streaming = readStream(await postChat(user, { chatId, messageId }));
  await user.call(`POST /api/chat/${chatId}/stop`, {});
  const stopped = await streaming;
  const elsewhere = at(other, user);
  const until = (stopped.frames.at(-1)?.id ?? 0) + 300;
  const resumed = await readStream(await postChat(elsewhere, { chatId, resume: true }), ({ id }) => id > until);
  assert.ok(resumed.text.length > 200, 'it goes on');
  assert.equal((await chatDetail(user, chatId)).messages[1].status, 'streaming');
  await elsewhere.call(`POST /api/chat/${chatId}/stop`, {});
});

test('disabling an account ends its streams at every replica and starts none of its queued inputs', async () => {
  const user = await maker.signIn();
  await addModels(user, provider, ['silent']);
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'go');
  const here = readStream(await postChat(user, { chatId, messageId }));
  const elsewhere = readStream(await at(other, user).fetch(`/api/chat/${chatId}/stream`));
  await user.call('POST /api/chat/turn-inputs', submission(chatId, 'next'));
  const calls = provider.requests.length;
  const { deps } = maker.service;
  const administrator = at(other, await maker.signIn({ role: 'admin' }));
  const enable = (enabled: boolean) => administrator.call('PATCH /api/admin/users', { id: user.id, enabled });
  assert.equal((await enable(false)).body.user.enabled, false);
  for (const { done, frames } of await Promise.all([here, elsewhere])) {
    assert.ok(done, 'the stream ends as one does');
    assert.ok(
      frames.some(({ frame }) => frame.type === 'abort'),
      'and says that the answer was stopped',
    );
  }
  const messages = deps.db.kysely.selectFrom('messages').where('chat_id', '=', chatId).where('role', '=', 'assistant');
  await until('the response is stopped', async () => {
    const { status } = await messages.select('status').executeTakeFirstOrThrow();
    return status === 'stopped';
  });
  assert.equal((await user.call('GET /api/me')).body.error.code, 'account_disabled');
  await maker.service.deps.responses.startNext(chatId);
  await other.service.deps.responses.startNext(chatId);
  assert.equal(provider.requests.length, calls);
  assert.equal(
    (await deps.db.kysely.selectFrom('responses').where('chat_id', '=', chatId).selectAll().execute()).length,
    1,
  );

  assert.equal((await enable(true)).body.user.enabled, true);
  assert.equal((await user.call('GET /api/me')).body.error.code, 'unauthorized');
  await until(async () => provider.requests.length > calls);
  await deps.responses.startNext(chatId);
});
