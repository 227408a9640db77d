import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { limits } from '@homeport/contracts/limits';
import { until } from '../../../contracts/test/until.ts';
import { createCaller, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';
import { addModels, answer, createChat, submit } from './chat-harness.ts';

/** Events that a window receives about conversations changed on other devices and replicas. */

let here: TestApp;
let there: TestApp;
let provider: FakeProvider;
before(async () => {
  provider = await startFakeProvider();
  here = await startTestApp();
  there = await startTestApp({ database: here.database });
  await until(async () => (await listeners()) === 2);
});
after(async () => {
  await there.stop();
  await here.stop();
  await provider.close();
});

/** The number of replicas that listen to signals. */
async function listeners(): Promise<number> {
  const { rows } = await here.database.database.pool.query(
    `select 1 from pg_stat_activity where datname = current_database() and query = 'listen homeport' and state = 'idle'`,
  );
  return rows.length;
}

const path = '/api/chats/activity';

/** Reads the stream; `next` resolves with the conversation of the next event, or undefined at the end. */
async function listen(user: SignedIn, app: TestApp) {
  const caller = createCaller(app.url, user.cookie);
  const response = await caller.fetch(path);
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('x-vercel-ai-ui-message-stream'), null);
  const reader = response.body?.getReader();
  assert.ok(reader !== undefined);
  const decoder = new TextDecoder();
  let text = '';
  const next = async (): Promise<string | undefined> => {
    for (;;) {
      const event = /^data: (.*)\n\n/.exec(text);
      if (event !== null) {
        text = text.slice(event[0].length);
        return JSON.parse(event[1] ?? '').chatId;
      }
      const { done, value } = await reader.read();
      if (done) return undefined;
      text += decoder.decode(value, { stream: true });
    }
  };
  return { next, leave: () => reader.cancel() };
}

test("sends events of responses, changes and deletions at one replica to their owner's streams at the other, and to no other user", async () => {
  const user = await here.signIn();
  const other = await here.signIn();
  for (const person of [user, other]) await addModels(person, provider, ['echo']);
  const mine = await listen(user, there);
  const theirs = await listen(other, there);
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'go');
  assert.equal((await answer(user, chatId, messageId)).done, true);
  assert.deepEqual([await mine.next(), await mine.next()], [chatId, chatId]);
  await answer(user, chatId, messageId, { regenerate: true });
  assert.deepEqual([await mine.next(), await mine.next()], [chatId, chatId]);
  await user.call('PATCH /api/chats', { id: chatId, title: 'Renamed' });
  assert.equal(await mine.next(), chatId);
  await user.call('DELETE /api/chats', undefined, { query: { id: chatId } });
  assert.equal(await mine.next(), chatId);
  // The first event of the other user is about their own conversation.
  const own = await createChat(other);
  await answer(other, own, await submit(other, own, 'go'));
  assert.equal(await theirs.next(), own);
  await Promise.all([mine.leave(), theirs.leave()]);
});

test('limits the streams of one account, and closing one frees its place', async () => {
  const user = await here.signIn();
  const held = await Promise.all(Array.from({ length: limits.activityStreamsPerUser }, () => listen(user, here)));
  const refused = await user.call(`GET ${path}`);
  assert.deepEqual([refused.status, refused.body.error.code], [429, 'rate_limited']);
  assert.equal(refused.headers.get('retry-after'), '30');
  await held[0]?.leave();
  await until(async () => {
    const again = await user.fetch(path);
    await again.body?.cancel();
    return again.status === 200;
  });
  await Promise.all(held.map(({ leave }) => leave()));
});

test('the stream ends with its session, and when its replica stops', async () => {
  const user = await here.signIn();
  const leaving = await startTestApp({ database: here.database });
  const [stopping, signedOut] = [await listen(user, leaving), await listen(user, here)];
  await leaving.stop();
  assert.equal(await stopping.next(), undefined);
  await user.call('POST /api/auth/sign-out', {});
  assert.equal(await signedOut.next(), undefined);
  assert.equal((await user.fetch(path)).status, 401);
});
