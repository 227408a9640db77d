import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { migrate } from '../../src/db/migrate.ts';
import { openDatabase } from '../../src/db/pool.ts';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { addModels, chatDetail, createChat, postChat, readStream, submission, submit } from '../chat/chat-harness.ts';
import { silentLog } from '../database.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';
import { finish, say } from '../fakes/provider/provider-scripts.ts';
import { startTestServer, type TestServer } from '../postgres.ts';

/** A PostgreSQL of its own whose processes are stopped by the kernel: it takes connections and answers nothing. */

let folder: string;
let server: TestServer;
let app: TestApp;
let provider: FakeProvider;
let user: SignedIn;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'homeport-frozen-'));
  server = await startTestServer({ folder, log: silentLog });
  const database = openDatabase({ connection: server.url, max: 10, log: silentLog });
  await migrate(database);
  provider = await startFakeProvider();
  provider.script('paused', (call) => ({
    steps: [...say('The one half'), { pause: true }, ...say(' and the other.'), ...finish(call, 6)],
  }));
  const { url } = server;
  app = await startTestApp({
    givesUp: true,
    database: { url, address: { connection: url }, database, drop: () => database.close() },
  });
  user = await app.signIn();
  await addModels(user, provider, ['paused']);
});
after(async () => {
  signal('SIGCONT');
  await app?.stop();
  await provider?.close();
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Every process of this server gets the signal: the postmaster and its children. */
function signal(name: 'SIGSTOP' | 'SIGCONT'): void {
  const postmaster = Number(readFileSync(join(folder, 'postgres/postmaster.pid'), 'utf8').split('\n', 1)[0]);
  process.kill(postmaster, name);
  for (const pid of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    if (parentOf(pid) === postmaster) signalProcess(Number(pid), name);
  }
}

/** One that has ended since needs no signal: a server that continues ends those whose clients have disconnected. */
function signalProcess(pid: number, name: 'SIGSTOP' | 'SIGCONT'): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

function parentOf(pid: string): number | undefined {
  try {
    return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    return undefined;
  }
}

async function recovered(): Promise<void> {
  await until(async () => (await user.call('GET /api/me')).status === 200);
}

test('answers every request with a typed 503 while the database is frozen, and works when it thaws', async () => {
  const chatId = await createChat(user);
  signal('SIGSTOP');
  const requests: [route: string, body?: unknown][] = [
    ['GET /api/me'],
    ['GET /api/chats'],
    ['GET /api/setup'],
    ['POST /api/chats', {}],
    ['PATCH /api/chats', { id: chatId, title: 'New title' }],
    ['POST /api/chat/start', submission(chatId, 'Hello')],
    ['POST /api/auth/sign-in/email', { email: user.email, password: 'whatever it is 1' }],
  ];
  const answers = await Promise.all(requests.map(([route, body]) => user.call(route, body)));
  for (const [index, { status, body }] of answers.entries()) {
    assert.deepEqual([status, body?.error?.code], [503, 'database_unavailable'], requests[index]?.[0]);
  }
  assert.equal((await app.anonymous.call('GET /api/health')).status, 503);
  assert.equal((await app.anonymous.call('GET /api/live')).status, 200);
  signal('SIGCONT');
  await recovered();
  assert.equal((await chatDetail(user, chatId)).chat.id, chatId);
});

test('a response that ended while the database was frozen is stored when it thaws', async () => {
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'Say it');
  let [id, text] = ['', ''];
  let isFinished = false;
  const reading = readStream(await postChat(user, { chatId, messageId }), ({ frame }) => {
    if (frame.type === 'start') id = frame.messageId;
    if (frame.type === 'text-delta') text += frame.delta;
    isFinished ||= frame.type === 'finish';
    return false;
  });
  reading.catch(() => undefined);
  await until('one half', () => text === 'The one half');
  const run = app.service.deps.responses.find(id);
  assert.ok(run !== undefined);
  signal('SIGSTOP');
  provider.release();
  assert.equal(await provider.requests.at(-1)?.closed, 'complete');
  await until('the other half', () => text === 'The one half and the other.');
  // A batch that hangs comes before it, until its connection has been silent for too long.
  await until('the end', () => run.ending, 180_000);
  // No client gets the end of the response before it is stored.
  assert.equal((await app.anonymous.call('GET /api/live')).status, 200);
  assert.equal(isFinished, false);
  signal('SIGCONT');
  assert.equal((await reading).done, true);
  await recovered();
  const { messages, response } = await chatDetail(user, chatId);
  assert.deepEqual([messages.at(-1).status, response], ['complete', null]);
});
