import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { addModels, createChat, postChat, readStream, submission, submit } from '../chat/chat-harness.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { type DatabaseProxy, startDatabaseProxy } from '../fakes/database-proxy.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';
import { finish, say } from '../fakes/provider/provider-scripts.ts';

/** The log of a database outage: one line at its begin, one at its end. */

let database: TestDatabase;
let proxy: DatabaseProxy;
let provider: FakeProvider;
let app: TestApp;
let user: SignedIn;
let counting: string | undefined;
type Line = { level: number; msg: string; status?: number; linesLeftOut?: number; job?: string };
let lines: Line[] = [];
before(async () => {
  database = await createTestDatabase();
  proxy = await startDatabaseProxy(database);
  provider = await startFakeProvider();
  provider.script('waits', (call) => ({ steps: [...say('one'), { pause: true }, ...say(' two'), ...finish(call, 2)] }));
  app = await startTestApp({
    givesUp: true,
    database: proxy.database,
    // Responses lose their lease during the outage.
    timings: { leaseMs: 2_000, graceMs: 500 },
    log: (line) => void lines.push(JSON.parse(line)),
  });
  user = await app.signIn();
  [, counting] = await addModels(user, provider, ['echo', 'waits']);
});
beforeEach(() => {
  lines = [];
});
after(async () => {
  proxy.set('pass');
  await app.stop();
  proxy.close();
  await provider.close();
  await database.drop();
});

const serious = () => lines.filter(({ level }) => level >= 40).map(({ msg }) => msg);
const begun = 'the database is unreachable: requests are answered with 503 until it is back';
const ended = 'the database is reachable again';
const count = (msg: string) => lines.filter((line) => line.msg === msg).length;

async function answers(number: number): Promise<void> {
  for (let index = 0; index < number; index += 1) {
    const chatId = await createChat(user);
    const messageId = await submit(user, chatId, 'Count');
    const response = await postChat(user, { chatId, messageId, modelId: counting });
    void readStream(response, () => false).catch(() => undefined);
  }
}

test('logs connections that the database closes once while it answers', async () => {
  await until(async () => (await user.call('GET /api/me')).status === 200);
  await Promise.all(Array.from({ length: 5 }, () => app.service.deps.db.pool.query('select pg_sleep(0.05)')));
  lines = [];
  await database.database.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
  );
  await until('the line', () => serious().length > 0);
  assert.deepEqual(serious(), ['connections to the database were lost or refused, and it answers again']);
});

for (const mode of ['cut', 'stall'] as const) {
  test(`logs an outage (${mode}) in two lines, regardless of running, requested and failed work`, {
    timeout: 300_000,
  }, async () => {
    await answers(3);
    lines = [];
    proxy.set(mode);
    await until('the begin', () => serious().includes(begun));
    const asked = [
      user.call('GET /api/me'),
      user.call('POST /api/chats', {}),
      user.call('POST /api/chat/start', submission('chat-of-nobody', 'Hello')),
    ];
    for (const { status } of await Promise.all(asked)) assert.equal(status, 503);
    // Jobs that fail repeatedly are in the log at level debug.
    const jobs = mode === 'cut' ? 10 : 2;
    await until('failing jobs', () => count('a background job for responses failed') >= jobs);
    assert.ok(lines.every(({ level, msg }) => msg !== 'a background job for responses failed' || level === 20));
    assert.equal(
      lines.filter(({ msg, status, level }) => msg === 'request' && status === 503 && level === 30).length,
      3,
    );
    proxy.set('pass');
    await until('the end', () => serious().includes(ended));
    assert.deepEqual(serious(), [begun, ended]);
    assert.ok((lines.find(({ msg }) => msg === ended)?.linesLeftOut ?? 0) >= jobs);
    await until(async () => (await user.call('GET /api/me')).status === 200);
  });
}

test('logs a failure that only looks like one of the database', async () => {
  const { log } = app.service.deps;
  const refused = Object.assign(new Error('connect ECONNREFUSED 10.0.0.9:443'), { code: 'ECONNREFUSED' });
  proxy.set('cut');
  await until('the begin', () => serious().includes(begun));
  log.warn({ cause: refused }, 'tool failed');
  log.warn({ cause: new Error('of another kind') }, 'something failed');
  proxy.set('pass');
  await until('the end', () => serious().includes(ended));
  assert.deepEqual(serious(), [begun, 'tool failed', 'something failed', ended]);
});
