import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../../contracts/test/until.ts';
import {
  addModels,
  type Caller,
  embeddedPid,
  freePort,
  pause,
  type Running,
  readEvents,
  scratchFolder,
  setUp,
  signal,
  startProduct,
  startProvider,
} from '../product.ts';
import { allMessages, createChat, postChat, settled, startDetached, submission, textOf } from './conversation.ts';

/** One process owns the embedded database, takes it over after kill -9, and restarts it when it dies. */

const databaseKills = 3;

let dataDir: string;
let port: number;
let product: Running;
let provider: Running;
let caller: Caller;

before(async () => {
  dataDir = scratchFolder();
  port = await freePort();
  provider = await startProvider();
  product = await startProduct(dataDir, {}, port);
  caller = await setUp(product.url);
  await addModels(caller, provider.url, ['words-150@50']);
});
after(async () => {
  product.kill('SIGTERM');
  await product.exited;
});

function databasePid(): number {
  return embeddedPid(dataDir) ?? 0;
}

test('refuses to start a second process on the same DATA_DIR, without disturbing the first', async () => {
  const pid = product.child.pid;
  const seconds = Array.from({ length: 3 }, () => startProduct(dataDir).then(() => 'started', String));
  for (const refused of await Promise.all(seconds)) {
    assert.match(refused, new RegExp(`Another Homeport \\(process ${pid}\\) is using the database in .*DATA_DIR`, 's'));
  }
  assert.equal(product.child.exitCode, null);
  await createChat(caller);
});

test('takes over the database after kill -9 of the service, with all acknowledged data', async () => {
  const chatId = await createChat(caller);
  const database = databasePid();
  await caller.must('POST', '/api/chat/start', submission(chatId, 'before-the-kill'));
  product.kill('SIGKILL');
  await product.exited;
  assert.ok(signal(database, 0), 'PostgreSQL outlives the service');
  product = await startProduct(dataDir, {}, port);
  assert.equal(databasePid(), database, 'the same PostgreSQL');
  await settled(caller, chatId);
  const messages = await allMessages(caller, chatId);
  assert.deepEqual([messages[0].id, messages[1].status], ['before-the-kill', 'complete']);
});

test(`answers with typed errors while PostgreSQL is killed ${databaseKills} times, recovers, and loses no data`, async () => {
  const seen = new Set<string>();
  for (let kill = 0; kill < databaseKills; kill += 1) {
    const chatId = await createChat(caller);
    const messageId = `over-kill-${kill}`;
    await startDetached(caller, chatId, messageId);
    const following = postChat(caller, { chatId, messageId }).then((response) => readEvents(response));
    const database = databasePid();
    await pause(500);
    signal(database, 'SIGKILL');
    await untilAnswered(seen);
    await until('PostgreSQL is back', async () => ![0, database].includes(databasePid()));
    const queued = submission(chatId, `after-kill-${kill}`);
    assert.equal((await caller.call('POST', '/api/chat/turn-inputs', queued)).status, 201);
    const followed = await following;
    await settled(caller, chatId);
    const [question, answer, ...rest] = await allMessages(caller, chatId);
    assert.deepEqual([question.id, answer.status], [messageId, 'complete'], JSON.stringify(answer.error));
    assert.equal(textOf(answer), followed.text);
    assert.ok(textOf(answer).endsWith('word149'));
    assert.deepEqual([rest[0].id, rest[1].status], [queued.message.id, 'complete']);
    assert.equal(followed.done, true);
  }
  console.log(`owner: while PostgreSQL was away: ${[...seen].sort().join(', ')}`);
  assert.equal(product.child.exitCode, null);
});

/** Keeps asking until all is well again: every response is a success or a typed 503, health within its 2 s. */
async function untilAnswered(seen: Set<string>): Promise<void> {
  const giveUpAt = performance.now() + 60_000;
  let unavailable = 0;
  for (let inARow = 0; inARow < 5; ) {
    assert.ok(performance.now() < giveUpAt, 'the database does not come back');
    const [health, list, made] = await Promise.all([
      caller.call('GET', '/api/health'),
      caller.call('GET', '/api/chats'),
      caller.call('POST', '/api/chats', {}),
    ]);
    seen.add(`health ${health.status}`).add(`list ${list.status}`).add(`create ${made.status}`);
    if (health.status !== 200) assert.deepEqual([health.status, health.body], [503, { ok: false }]);
    for (const answer of [list, made]) {
      if (answer.status < 300) continue;
      assert.deepEqual([answer.status, answer.body.error.code], [503, 'database_unavailable'], answer.text);
      unavailable += 1;
    }
    inARow = health.status + list.status + made.status === 200 + 200 + 201 ? inARow + 1 : 0;
    await pause(20);
  }
  seen.add(unavailable > 0 ? 'some requests refused' : 'no request refused');
}
