import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { type Answer, type SignedIn, startTestApp, type TestApp } from '../app.ts';
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
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { type DatabaseProxy, startDatabaseProxy } from '../fakes/database-proxy.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';
import { finish, say } from '../fakes/provider/provider-scripts.ts';

/** The database becomes unreachable behind a proxy, cut off or silent: answers meanwhile, and the recovery. */

let database: TestDatabase;
let proxy: DatabaseProxy;
let provider: FakeProvider;
let app: TestApp;
let user: SignedIn;
let counting: string | undefined;
/** How often a part of a response was about to be stored. */
let writes = 0;
const words = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, index) => ` word${from + index}`).join('');
before(async () => {
  database = await createTestDatabase();
  proxy = await startDatabaseProxy(database);
  provider = await startFakeProvider();
  provider.script('counts', (call) => ({
    steps: [
      ...[...say(words(0, 20)), { pause: true } as const],
      ...[...say(words(20, 100)), { pause: true } as const],
      ...[...say(words(100, 200)), ...finish(call, 200)],
    ],
  }));
  app = await startTestApp({
    givesUp: true,
    database: proxy.database,
    trace: (sql, work) => {
      if (sql.includes('insert into response_frames')) writes += 1;
      return work();
    },
  });
  user = await app.signIn();
  [, counting] = await addModels(user, provider, ['echo', 'counts']);
});
afterEach(() => proxy.set('pass'));
after(async () => {
  proxy.set('pass');
  await app.stop();
  proxy.close();
  await provider.close();
  await database.drop();
});

/**
 * The answer, and whether it arrived before this much time had passed: generous, for a busy machine. Counted in ticks,
 * so that a pause of the whole machine is one of them.
 */
async function within(milliseconds: number, asked: Promise<Answer>): Promise<Answer> {
  const late = Promise.withResolvers<never>();
  let passed = 0;
  const timer = setInterval(() => {
    passed += 10;
    if (passed >= milliseconds) late.reject(new Error(`No answer within ${milliseconds} ms`));
  }, 10);
  return Promise.race([asked, late.promise]).finally(() => clearInterval(timer));
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

test('reports that the process is alive regardless of its database', async () => {
  proxy.set('stall');
  const { status, body } = await within(5_000, app.anonymous.call('GET /api/live'));
  assert.deepEqual([status, body], [200, { ok: true, version: '0.0.0-test' }]);
  proxy.set('pass');
  await recovered();
});

test('health reports ok: false for a cut connection and for a silent one, and ok: true after recovery', async () => {
  assert.deepEqual((await health()).body, { ok: true });
  for (const mode of ['cut', 'stall'] as const) {
    proxy.set(mode);
    // The promise is 2 s; the remaining time is for the machine.
    const { status, body } = await within(5_000, health());
    assert.deepEqual([status, body], [503, { ok: false }], mode);
    proxy.set('pass');
    await recovered();
  }
});

test('answers every request with a typed 503 while the connection is cut, and works again afterwards', async () => {
  const chatId = await createChat(user);
  proxy.set('cut');
  for (const [route, given] of await askEverything(chatId)) assertUnavailable(given, route);
  proxy.set('pass');
  await recovered();
  // Signing out was refused with the others: the session is still valid.
  const { chat } = await chatDetail(user, chatId);
  assert.equal(chat.title, 'New conversation');
  assert.equal((await answer(user, chatId, await submit(user, chatId, 'Still there?'))).done, true);
});

test('a database that falls silent blocks no request forever', { timeout: 300_000 }, async () => {
  const chatId = await createChat(user);
  proxy.set('stall');
  const asked = askEverything(chatId);
  assert.deepEqual((await within(5_000, health())).body, { ok: false });
  // All of them are answered while the database is still silent.
  for (const [route, given] of await asked) assertUnavailable(given, route);
  proxy.set('pass');
  await recovered();
  assert.equal((await answer(user, chatId, await submit(user, chatId, 'Still there?'))).done, true);
});

/** A response that has begun and waits to be released; `heard` waits until the follower has received a word. */
async function answering() {
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'Count');
  let [id, text] = ['', ''];
  const reading = readStream(await postChat(user, { chatId, messageId, modelId: counting }), ({ frame }) => {
    if (frame.type === 'start') id = frame.messageId;
    if (frame.type === 'text-delta') text += frame.delta;
    return false;
  });
  const received = (last: number) => until(`word${last}`, () => text.endsWith(` word${last}`));
  await received(19);
  const run = app.service.deps.responses.find(id);
  const request = provider.requests.findLast(({ body }) => body.model === 'counts');
  assert.ok(run !== undefined && request !== undefined);
  return { chatId, reading, received, run, request };
}

for (const mode of ['cut', 'stall'] as const) {
  test(`a running response survives a short outage (${mode}) and ends complete`, async () => {
    const { chatId, reading, received } = await answering();
    const before = writes;
    proxy.set(mode);
    provider.release();
    await received(99);
    await until('a write', () => writes > before);
    // Later requests are refused, as the write was.
    assert.equal((await health()).status, 503);
    proxy.set('pass');
    provider.release();
    await assertComplete(chatId, await reading);
  });

  test(`stores a response that ends during an outage (${mode}) when the database is back`, async () => {
    const { chatId, reading, received, run, request } = await answering();
    const before = writes;
    proxy.set(mode);
    provider.release();
    await received(99);
    provider.release();
    assert.equal(await request.closed, 'complete');
    await received(199);
    // In silence, the end waits for the write before it.
    await until('the end', () => run.ending || (mode === 'stall' && writes > before));
    assert.equal((await health()).status, 503);
    // The follower gets no success before then.
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

test('a download that breaks off half-way is visibly incomplete, and shows nothing of the database', async () => {
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
