import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import {
  addModels,
  answer,
  chatDetail,
  createChat,
  postChat,
  readStream,
  submission,
  submit,
} from '../chat/chat-harness.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';

/**
 * How much one account can do at the same time: work above the limit waits or is refused, and other accounts don't
 * notice.
 */

let app: TestApp;
let provider: FakeProvider;
before(async () => {
  provider = await startFakeProvider();
  app = await startTestApp({
    config: { answersPerAccount: 2, streamsPerAccount: 3 },
    timings: { graceMs: 100, dispatchMs: 50 },
  });
});
after(async () => {
  await app.stop();
  await provider.close();
});

async function begin(user: SignedIn, count: number): Promise<{ chatId: string; status: number }[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const chatId = await createChat(user);
      const messageId = await submit(user, chatId, 'Hello');
      const response = await postChat(user, { chatId, messageId, detach: true });
      return { chatId, status: response.status };
    }),
  );
}

/** Conversations with a response in progress; one with queued messages is running as well. */
async function running(user: SignedIn, at = app): Promise<string[]> {
  const { rows } = await at.database.database.pool.query<{ chat_id: string }>(
    `select chat_id from responses where owner_id = $1 and state = 'running'`,
    [user.id],
  );
  return rows.map((row) => row.chat_id);
}

test('queues responses above the limit of an account and starts those of other accounts', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['hang-1']);
  const begun = await begin(user, 6);
  assert.deepEqual(
    begun.map(({ status }) => status),
    Array(6).fill(202),
  );
  const other = await app.signIn();
  await addModels(other, provider, ['words-3']);
  const [theirs] = await begin(other, 1);
  await until(async () => (await chatDetail(other, theirs?.chatId ?? '')).messages.at(-1)?.status === 'complete');
  const answered = new Set<string>();
  while (answered.size < 6) {
    const now = await running(user);
    assert.ok(now.length <= 2, `${now.length} at once`);
    for (const chatId of now.filter((id) => !answered.has(id))) {
      answered.add(chatId);
      const { status } = await user.call(`POST /api/chat/${chatId}/stop`, {});
      assert.equal(status, 200);
    }
  }
  await until(async () => (await running(user)).length === 0);
  assert.equal(answered.size, 6);
});

/** An account with one place, whose statements with the text wait from `hold()` until `release()`. */
async function startHeld(context: TestContext, text: string, model: string, dispatchMs: number) {
  const reached = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  let holding = false;
  const slow = await startTestApp({
    config: { answersPerAccount: 1 },
    timings: { dispatchMs },
    trace: async (statement, work) => {
      if (holding && statement.includes(text)) {
        reached.resolve();
        await held.promise;
      }
      return work();
    },
  });
  context.after(async () => {
    held.resolve();
    await slow.stop();
  });
  const user = await slow.signIn();
  await addModels(user, provider, [model]);
  const hold = () => {
    holding = true;
  };
  /** Releases, and asserts that a response begins in this conversation alone. */
  const assertBegins = async (chatId: string) => {
    held.resolve();
    await until(async () => (await running(user, slow)).length > 0);
    assert.deepEqual(await running(user, slow), [chatId]);
  };
  return { slow, user, hold, reached: reached.promise, release: held.resolve, assertBegins };
}

/** Resolves when a request for a response is queued. */
async function assertNoPlace(user: SignedIn, at: TestApp): Promise<void> {
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'Hello');
  assert.equal((await postChat(user, { chatId, messageId, detach: true })).status, 202);
  assert.deepEqual(await running(user, at), [], 'the only place is taken');
}

/** The first statement that claims the work which a replica starts without a request. */
const claimingNext = 'from "users" where "enabled"';

test('a message that the replica starts on its own takes its place before it is claimed', async (context) => {
  const { slow, user, hold, reached, assertBegins } = await startHeld(context, claimingNext, 'hang-1', 50);
  hold();
  const queued = await createChat(user);
  await user.call('POST /api/chat/turn-inputs', submission(queued, 'Hello'));
  await reached;
  await assertNoPlace(user, slow);
  await assertBegins(queued);
});

test('the next message of a conversation takes over the place of the response that ended', async (context) => {
  const { slow, user, hold, reached, assertBegins } = await startHeld(context, claimingNext, 'hang-1', 3_600_000);
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'Hello');
  await postChat(user, { chatId, messageId, detach: true });
  await user.call('POST /api/chat/turn-inputs', submission(chatId, 'And then?'));
  hold();
  await user.call(`POST /api/chat/${chatId}/stop`, {});
  await reached;
  await assertNoPlace(user, slow);
  await assertBegins(chatId);
});

test('a requested summary takes its place before it is claimed', async (context) => {
  const { slow, user, hold, reached, release } = await startHeld(context, 'insert into "responses"', 'words-3', 50);
  const chatId = await createChat(user);
  for (const text of ['One', 'Two', 'Three', 'Four']) await answer(user, chatId, await submit(user, chatId, text));
  hold();
  const summary = user.call('POST /api/chats/compact', { id: chatId });
  await reached;
  await assertNoPlace(user, slow);
  release();
  assert.equal((await summary).status, 202);
});

test('refuses work that cannot wait, with the time to retry', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['hang-1']);
  const [first, second] = await begin(user, 2);
  await until(async () => (await running(user)).length === 2);
  for (const chatId of [first?.chatId ?? '', second?.chatId ?? '']) {
    await user.call(`POST /api/chat/${chatId}/stop`, {});
  }
  await until(async () => (await running(user)).length === 0);
  // The places are free a moment later.
  await until(async () => !app.service.deps.responses.answers.isFull(user.id));
  await begin(user, 2);
  await until(async () => (await running(user)).length === 2);
  const refused = await postChat(user, { chatId: first?.chatId ?? '', resume: true });
  assert.equal(refused.status, 429);
  assert.equal(refused.headers.get('retry-after'), '5');
  const { error }: Json = await refused.json();
  assert.equal(error.code, 'rate_limited');
});

test('joins a running response when the account is at its limit', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['hang-1']);
  const [first] = await begin(user, 2);
  await until(async () => (await running(user)).length === 2);
  const joined = await postChat(user, { chatId: first?.chatId ?? '', resume: true });
  assert.equal(joined.status, 200);
  await joined.body?.cancel();
});

test('refuses streams above the limit of an account and answers the message without one', async () => {
  const user = await app.signIn();
  const [, words] = await addModels(user, provider, ['hang-1', 'words-3']);
  const chatId = await createChat(user);
  const first = await postChat(user, { chatId, messageId: await submit(user, chatId, 'Hello') });
  const path = `/api/chat/${chatId}/stream`;
  const more = await Promise.all([user.fetch(path), user.fetch(path)]);
  assert.deepEqual(
    [first, ...more].map(({ status }) => status),
    [200, 200, 200],
  );
  const refused = await user.fetch(path);
  assert.equal(refused.status, 429);
  const elsewhere = await createChat(user);
  const { message, ...rest } = submission(elsewhere, 'Hello');
  const admitted = await user.call('POST /api/chat/start', { ...rest, message, modelId: words, modelPinned: true });
  assert.equal(admitted.status, 201);
  assert.equal((await postChat(user, { chatId: elsewhere, messageId: message.id })).status, 429);
  await until(async () => (await chatDetail(user, elsewhere)).messages.at(-1)?.status === 'complete');
  for (const response of [first, ...more]) await response.body?.cancel();
  await until(async () => {
    const again = await user.fetch(path);
    await again.body?.cancel();
    return again.status === 200;
  });
  await user.call(`POST /api/chat/${chatId}/stop`, {});
  await readStream(await user.fetch(path));
});
