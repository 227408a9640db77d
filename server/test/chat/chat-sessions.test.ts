import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { insertPassword } from '../../src/accounts/credentials.ts';
import { hashPassword } from '../../src/accounts/passwords.ts';
import { cookieRule, sessionCookie } from '../../src/accounts/session-cookie.ts';
import { SessionWatch } from '../../src/accounts/session-watch.ts';
import { insertSession } from '../../src/accounts/sessions.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { createCaller, type SignedIn, startTestApp, type TestApp, testConfig } from '../app.ts';
import { ManualClock } from '../fakes/manual-clock.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';
import { finish, say, stream } from '../fakes/provider/provider-scripts.ts';
import { addModels, chatDetail, createChat, idle, postChat, readStream, submit } from './chat-harness.ts';

/** A stream of a response belongs to the session that asked for it, and ends with it; the response continues. */

let first: TestApp;
let second: TestApp;
let provider: FakeProvider;
before(async () => {
  provider = await startFakeProvider();
  first = await startTestApp();
  second = await startTestApp({ database: first.database });
});
after(async () => {
  provider.release();
  await second.stop();
  await first.stop();
  await provider.close();
});

const password = 'correct horse 1';

/** Another session of the same user, at any replica. */
async function anotherSession(user: SignedIn, app: TestApp): Promise<SignedIn> {
  const from = { address: '127.0.0.1', userAgent: 'other' };
  const { token } = await insertSession(first.database.database.kysely, user.id, from, Date.now());
  const [cookie] = sessionCookie(cookieRule(testConfig), token).split(';');
  return { ...createCaller(app.url, cookie), id: user.id, email: user.email };
}

/** A response that its provider holds back, followed by two sessions at both replicas. */
async function follow() {
  const user = await first.signIn();
  await insertPassword(first.database.database.kysely, user.id, await hashPassword(password));
  await addModels(user, provider, ['words']);
  // In the middle of its text, until it is released.
  provider.enqueue('words', (call) =>
    stream([...say('Words'), { pause: true }, { words: 199, rate: 200 }, ...finish(call, 200)]),
  );
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'go');
  const path = `/api/chat/${chatId}/stream`;
  const begun = await postChat(user, { chatId, messageId });
  const there = { ...createCaller(second.url, user.cookie), id: user.id, email: user.email };
  const other = { here: await anotherSession(user, first), there: await anotherSession(user, second) };
  const mine = [readStream(begun), readStream(await user.fetch(path)), readStream(await there.fetch(path))];
  const others = [readStream(await other.here.fetch(path)), readStream(await other.there.fetch(path))];
  return { user, other, chatId, path, mine, others };
}

async function assertOthersGoOn(chatId: string, others: Promise<{ done: boolean; text: string }>[], by: SignedIn) {
  provider.release();
  for (const { done, text } of await Promise.all(others))
    assert.deepEqual([done, text.split(' ').length > 100], [true, true]);
  await idle(first);
  assert.equal((await chatDetail(by, chatId)).messages[1].status, 'complete');
}

test('streams end on every replica when their session signs out, and the response continues', async () => {
  const { user, other, chatId, path, mine, others } = await follow();
  await user.call('POST /api/auth/sign-out', {});
  for (const { done, status } of await Promise.all(mine)) assert.deepEqual([done, status], [false, 200]);
  assert.equal((await user.fetch(path)).status, 401);
  await assertOthersGoOn(chatId, others, other.here);
});

test("other sessions' streams end when the password changes, and when another session ends them", async () => {
  const { user, other, chatId, mine, others } = await follow();
  assert.equal((await user.call('DELETE /api/me/sessions', undefined, { query: { others: '1' } })).status, 200);
  for (const { done } of await Promise.all(others)) assert.equal(done, false);
  const body = { currentPassword: password, newPassword: 'another horse 2' };
  const changed = await user.call('POST /api/auth/change-password', body);
  assert.equal(changed.status, 200);
  for (const { done } of await Promise.all(mine)) assert.equal(done, false);
  assert.equal((await other.here.call('GET /api/me')).status, 401);
  provider.release();
  await idle(first);
  const { rows } = await first.database.database.pool.query(
    `select status from messages where role = 'assistant' and chat_id = $1`,
    [chatId],
  );
  assert.deepEqual(rows, [{ status: 'complete' }]);
});

/**
 * Resources held open for two sessions, one of which is over, with a stopped clock; records which were ended, and why.
 */
async function watchTwo() {
  const { database: db } = first.database;
  const user = await first.signIn();
  const clock = new ManualClock();
  const sessions = new SessionWatch({ db, clock, log: createLogger('silent') });
  const from = { address: '127.0.0.1', userAgent: 'other' };
  const [live, over] = [
    await insertSession(db.kysely, user.id, from, clock.now()),
    await insertSession(db.kysely, user.id, from, clock.now()),
  ];
  await db.kysely.deleteFrom('sessions').where('id', '=', over.id).execute();
  const ended: string[] = [];
  const watch = (name: string, id: string, endsUnchecked: boolean) =>
    sessions.watch(id, ({ code }) => ended.push(`${name}: ${code}`), { endsUnchecked });
  const unwatch = [watch('stream', live.id, false), watch('terminal', live.id, true), watch('over', over.id, false)];
  const leave = (): void => {
    for (const stop of unwatch) stop();
  };
  return { clock, ended, leave };
}

test('checks sessions every 2.5 seconds, and 2 more without an answer end a terminal, but no stream', async () => {
  const checked = await watchTwo();
  checked.clock.advance(2_499);
  assert.equal(checked.clock.waiting, 1, 'no check has begun');
  checked.clock.advance(1);
  await until('the end of what stayed open', () => checked.ended.length > 0);
  assert.deepEqual(checked.ended, ['over: unauthorized']);
  checked.leave();
  assert.equal(checked.clock.waiting, 0, 'nobody is watched any more');

  const unanswered = await watchTwo();
  const locker = await first.database.database.pool.connect();
  try {
    await locker.query('begin');
    await locker.query('lock table sessions in access exclusive mode');
    unanswered.clock.advance(2_500);
    unanswered.clock.advance(1_999);
    assert.equal(unanswered.clock.waiting, 2, 'the check still waits for its answer');
    unanswered.clock.advance(1);
    assert.equal(unanswered.clock.waiting, 1, 'its time is over');
    await until('the end of the terminal', () => unanswered.ended.length > 0);
    assert.deepEqual(unanswered.ended, ['terminal: workspace_request_failed']);
  } finally {
    await locker.query('rollback');
    locker.release();
    unanswered.leave();
  }
});
