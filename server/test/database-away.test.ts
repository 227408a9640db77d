import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { until } from '../../contracts/test/until.ts';
import { type Answer, type SignedIn, startTestApp, type TestApp } from './app.ts';
import { addModels, answer, chatDetail, createChat, postChat, readStream, submission, submit } from './chat-harness.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { type DatabaseProxy, startDatabaseProxy } from './fakes/database-proxy.ts';
import { type FakeProvider, startFakeProvider } from './fakes/provider.ts';

/**
 * The database goes away behind a proxy, is cut off or falls silent: what is answered meanwhile, and that all recovers.
 */

let database: TestDatabase;
let proxy: DatabaseProxy;
let provider: FakeProvider;
let app: TestApp;
let user: SignedIn;
before(async () => {
  database = await createTestDatabase();
  proxy = await startDatabaseProxy(database);
  provider = await startFakeProvider();
  app = await startTestApp({ database: proxy.database });
  user = await app.signIn();
  await addModels(user, provider, ['words-200@100', 'echo']);
});
afterEach(() => proxy.set('pass'));
after(async () => {
  proxy.set('pass');
  await app.stop();
  proxy.close();
  await provider.close();
  await database.drop();
});

/** The answer, and whether it came before this much time had passed: generous, for a busy machine. */
async function within(milliseconds: number, asked: Promise<Answer>): Promise<Answer> {
  const late = new Promise<never>((_resolve, reject) => {
    setTimeout(() => reject(new Error(`No answer within ${milliseconds} ms`)), milliseconds).unref();
  });
  return Promise.race([asked, late]);
}

const health = () => app.anonymous.call('GET /api/health');

async function recovered(): Promise<void> {
  await until(async () => (await health()).status === 200 && (await user.call('GET /api/me')).status === 200);
}

function assertUnavailable({ status, body, headers }: Answer, route: string): void {
  assert.deepEqual([status, body?.error?.code], [503, 'database_unavailable'], route);
  assert.equal(Number(headers.get('retry-after')) >= 1, true, route);
  assert.equal(body.error.requestId, headers.get('x-request-id'), route);
}

/** One of every kind: public and signed in, reading and writing, by statement and by transaction. */
async function askEverything(chatId: string): Promise<[route: string, answer: Answer][]> {
  const requests: [route: string, body?: unknown, query?: Record<string, string>][] = [
    ['GET /api/setup'],
    ['GET /api/public-config'],
    ['GET /api/me'],
    ['GET /api/chats'],
    ['GET /api/chats', undefined, { id: chatId }],
    ['GET /api/providers'],
    ['POST /api/chats', {}],
    ['PATCH /api/chats', { id: chatId, title: 'New title' }],
    ['POST /api/chat/start', submission(chatId, 'Hello')],
    ['POST /api/chat', { chatId, resume: true }],
    ['POST /api/auth/sign-in/email', { email: user.email, password: 'whatever it is 1' }],
    ['GET /api/auth/get-session'],
    ['POST /api/auth/sign-out', {}],
  ];
  return Promise.all(
    requests.map(
      async ([route, body, query]): Promise<[string, Answer]> => [
        route,
        await user.call(route, body, query === undefined ? {} : { query }),
      ],
    ),
  );
}

test('the process says that it lives, whatever its database does', async () => {
  proxy.set('stall');
  const { status, body } = await within(5_000, app.anonymous.call('GET /api/live'));
  assert.deepEqual([status, body], [200, { ok: true, version: '0.0.0-test' }]);
  proxy.set('pass');
  await recovered();
});

test('health says ok: false, for a cut connection and for a silent one, and ok: true when it is back', async () => {
  assert.deepEqual((await health()).body, { ok: true });
  for (const mode of ['cut', 'stall'] as const) {
    proxy.set(mode);
    // The promise is 2 s; the rest is for the machine.
    const { status, body } = await within(5_000, health());
    assert.deepEqual([status, body], [503, { ok: false }], mode);
    proxy.set('pass');
    await recovered();
  }
});

test('while the connection is cut every request is a typed 503, and works again afterwards', async () => {
  const chatId = await createChat(user);
  proxy.set('cut');
  for (const [route, given] of await askEverything(chatId)) assertUnavailable(given, route);
  proxy.set('pass');
  await recovered();
  // Signing out was refused with the rest: the session still stands.
  const { chat } = await chatDetail(user, chatId);
  assert.equal(chat.title, 'New conversation');
  assert.equal((await answer(user, chatId, await submit(user, chatId, 'Still there?'))).done, true);
});

test('a database that falls silent holds nobody for ever', { timeout: 90_000 }, async () => {
  const chatId = await createChat(user);
  proxy.set('stall');
  const asked = askEverything(chatId);
  assert.deepEqual((await within(5_000, health())).body, { ok: false });
  // All of them are answered while it is still silent.
  for (const [route, given] of await asked) assertUnavailable(given, route);
  proxy.set('pass');
  await recovered();
  assert.equal((await answer(user, chatId, await submit(user, chatId, 'Still there?'))).done, true);
});

for (const mode of ['cut', 'stall'] as const) {
  test(`a running response survives a short outage (${mode}) and ends complete`, async () => {
    const chatId = await createChat(user);
    const messageId = await submit(user, chatId, 'Count');
    const seen = { frames: 0 };
    const stream = await readStream(await postChat(user, { chatId, messageId }), () => {
      seen.frames += 1;
      if (seen.frames === 10) proxy.set(mode);
      // A busy machine makes fewer and longer frames of the 200 words.
      if (seen.frames === 30) proxy.set('pass');
      return false;
    });
    assert.ok(seen.frames > 30);
    await assertComplete(chatId, stream);
  });

  test(`a response that ends during an outage (${mode}) is stored when the database is back`, async () => {
    const chatId = await createChat(user);
    const messageId = await submit(user, chatId, 'Count');
    let frames = 0;
    const reading = readStream(await postChat(user, { chatId, messageId }), () => {
      frames += 1;
      if (frames === 10) proxy.set(mode);
      return false;
    });
    await until(async () => frames > 10);
    const request = await provider.waitForRequest(
      provider.requests.filter(({ path }) => path.endsWith('completions')).length - 1,
    );
    assert.equal(await request.closed, 'complete');
    // The follower is not told that all is well before it is.
    assert.equal(await Promise.race([reading.then(() => 'ended'), nextTicks()]), 'open');
    proxy.set('pass');
    await assertComplete(chatId, await reading);
  });
}

async function nextTicks(): Promise<string> {
  for (let tick = 0; tick < 20; tick += 1) await new Promise((resolve) => setImmediate(resolve));
  return 'open';
}

async function assertComplete(chatId: string, stream: { text: string; done: boolean }): Promise<void> {
  assert.equal(stream.done, true);
  assert.equal(stream.text.split(' word').length - 1, 200);
  await recovered();
  const { messages, response } = await chatDetail(user, chatId);
  assert.deepEqual([messages.at(-1).status, response], ['complete', null]);
  assert.equal(
    messages
      .at(-1)
      .parts.map((part: { text?: string }) => part.text ?? '')
      .join(''),
    stream.text,
  );
}

test('a download that breaks off half-way looks broken, and tells nothing of the database', async () => {
  const chatId = await createChat(user);
  const parts = JSON.stringify([{ type: 'text', text: 'x'.repeat(20_000) }]);
  await database.database.pool.query(
    `insert into messages (id, chat_id, role, parts, status)
     select 'export-' || n, $1, 'user', $2, 'complete' from generate_series(1, 2000) n`,
    [chatId, parts],
  );
  const response = await user.fetch(`/api/chats/export?id=${chatId}&format=json`);
  assert.ok(response.body);
  const decoder = new TextDecoder();
  let text = '';
  await assert.rejects(async () => {
    for await (const chunk of response.body ?? []) {
      if (text === '') proxy.set('cut');
      text += decoder.decode(chunk, { stream: true });
    }
  });
  assert.ok(text.length < 40_000_000);
  assert.doesNotMatch(text, /Error|terminated/);
});
