import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { providerKinds } from '@homeport/contracts/catalogue/provider-kinds';
import { Client } from 'pg';
import { until } from '../../contracts/test/until.ts';
import {
  Caller,
  type Event,
  type Json,
  pause,
  type Running,
  readEvents,
  type StreamEnd,
  scratchFolder,
  setUp,
  startProduct,
  startProgram,
  startProvider,
} from '../product.ts';
import {
  addEveryKind,
  allMessages,
  createChat,
  type ModelOfKind,
  postChat,
  providerRequests,
  releaseWhile,
  settled,
  startDetached,
  submission,
  textOf,
} from './conversation.ts';

/**
 * Two replicas on one database, a response in each protocol: follow and stop across them; one that stood still for
 * longer than its lease writes nothing more (contract.md section 6: `interrupted` within 30 s, with all that followers
 * had seen up to 1 s before).
 */

const standstillMs = Number(process.env.ZOMBIE_SECONDS ?? 25) * 1_000;
const interruptedWithinMs = 30_000;
const frozenChats = providerKinds.length;

let database: Running;
let provider: Running;
let first: Running;
let second: Running;
/** The same session on both replicas. */
let here: Caller;
let there: Caller;
let rows: Client;
let model: (name: string, turn: number) => ModelOfKind;
const models = { slow: 'words-5000@50', short: 'words-40@200', finishing: 'pause-words-250@50' };

before(async () => {
  database = await startProgram('scripts/test/throw-away-postgres.mjs');
  const secrets = { AUTH_SECRET: randomUUID(), SETTINGS_ENCRYPTION_KEY: randomUUID() };
  const env = { DATABASE_URL: database.url, ...secrets };
  provider = await startProvider();
  // Together, so that the migrations race.
  [first, second] = await Promise.all([startProduct(scratchFolder(), env), startProduct(scratchFolder(), env)]);
  here = await setUp(first.url);
  there = new Caller(second.url, here.cookie);
  model = await addEveryKind(here, provider.url, Object.values(models));
  rows = new Client({ connectionString: database.url });
  rows.on('error', () => undefined);
  await rows.connect();
});
after(async () => {
  await rows?.end();
  first?.kill('SIGKILL');
  second?.kill('SIGKILL');
  database?.kill('SIGTERM');
  await database?.exited;
});

test('streams and stops responses through the other replica', async () => {
  const renewed: boolean[] = [];
  for (const [turn, kind] of providerKinds.entries()) {
    const id = `across-${kind}`;
    const chatId = await createChat(here);
    const assistantId = await startDetached(here, chatId, id, { modelId: model(models.slow, turn).id });
    const heard = new Set<string>();
    const hears = (place: string) => (event: Event) => {
      if (event.frame.type === 'text-delta') heard.add(place);
      return false;
    };
    const local = readEvents(await postChat(here, { chatId, messageId: id }), hears('here'));
    const remote = readEvents(await there.fetch(`/api/chat/${chatId}/stream`), hears('there'));
    await until('both followers have text', () => heard.size === 2);
    const lease = await leaseOf(assistantId);
    const stopped = await there.must('POST', `/api/chat/${chatId}/stop`, { assistantId });
    assert.deepEqual(stopped, { stopped: true, assistantId });
    await until('the provider is left', async () =>
      (await providerRequests(provider)).some(({ lastText, aborted }) => lastText === id && aborted),
    );
    const [a, b] = await Promise.all([local, remote]);
    assert.ok(a.done && b.done && a.text.length > 0);
    assert.equal(b.text, a.text);
    const messages = await allMessages(there, chatId);
    assert.deepEqual([messages[1].status, textOf(messages[1])], ['stopped', a.text]);
    renewed.push((await leaseOf(assistantId)) !== lease);
  }
  // Within 1 s, says the contract. A heartbeat alone could do it only after renewing the lease, each time.
  assert.ok(renewed.includes(false), 'stopped without waiting for a heartbeat');
});

test(`ends responses of a replica suspended for ${standstillMs / 1_000} s elsewhere, and fences its later writes`, {
  timeout: standstillMs + 120_000,
}, async () => {
  const asked = (await providerRequests(provider)).length;
  const chats: string[] = [];
  for (let index = 0; index < frozenChats; index += 1) {
    const chatId = await createChat(here);
    // The last one's provider is done while the replica stands still: its end is read in one go on waking up.
    const { id: modelId } = model(index === frozenChats - 1 ? models.finishing : models.slow, index);
    await startDetached(here, chatId, `frozen-${index}`, { modelId });
    chats.push(chatId);
  }
  const lastAsked = `frozen-${frozenChats - 1}`;
  const [resumedChat, queuedChat] = [chats[0] ?? '', chats[1] ?? ''];
  const streams = chats.map((chatId) => `/api/chat/${chatId}/stream`);
  const ownFollowers = await Promise.all(streams.map((path) => here.fetch(path)));
  const ownEnds = ownFollowers.map((response) => readEvents(response));
  const farSeen = chats.map((): { at: number; length: number }[] => []);
  const farEnds = streams.map((path, index) => followNoting(path, farSeen[index] ?? []));
  await until('all have text of more than a second ago', () =>
    farSeen.every((seen) => seen.some(({ at }) => at < performance.now() - 1_100)),
  );
  await there.must('POST', '/api/chat/turn-inputs', {
    ...submission(queuedChat, 'queued-behind'),
    modelId: model(models.short, 2).id,
  });

  const settledChats = chats.slice(1);
  let before: Json;
  const frozenAt = performance.now();
  first.kill('SIGSTOP');
  try {
    const isFinished = async () =>
      (await providerRequests(provider)).some(({ lastText, closed }) => lastText === lastAsked && closed);
    await Promise.all([
      interruptedInTime(chats, frozenAt),
      releaseWhile(provider, until("the last one's provider is done", isFinished)),
    ]);
    console.log(`zombie: all interrupted ${Math.round((performance.now() - frozenAt) / 1_000)} s after SIGSTOP`);
    for (const [index, end] of (await Promise.all(farEnds)).entries()) {
      const stored = textOf((await allMessages(there, chats[index] ?? ''))[1]);
      assert.equal(end.done, true, 'followers elsewhere are told of the end');
      assert.equal(end.text, stored);
      const promised = farSeen[index]?.findLast(({ at }) => at < frozenAt - 1_000)?.length ?? 0;
      assert.ok(promised > 0 && stored.length >= promised);
    }
    await until('the queued input is answered', async () =>
      (await allMessages(there, queuedChat)).some(
        ({ parentId, status }) => parentId === 'queued-behind' && status === 'complete',
      ),
    );
    // Continued elsewhere, and still running when the zombie wakes up: the same response, the next generation.
    const continued = await postChat(there, { chatId: resumedChat, resume: true, detach: true });
    assert.equal(continued.status, 202);
    await pause(Math.max(0, standstillMs - (performance.now() - frozenAt)));
    before = await snapshot(settledChats, chats);
  } finally {
    first.kill('SIGCONT');
  }

  for (const end of await Promise.all(ownEnds))
    assert.equal(end.done, false, 'its followers are cut, not told of an end');
  await until('the zombie leaves the provider', async () => {
    const own = (await providerRequests(provider)).slice(asked, asked + frozenChats);
    return own.every((request) => request.closed);
  });
  const rejoined = readEvents(await here.fetch(`/api/chat/${resumedChat}/stream`));
  const beside = readEvents(await there.fetch(`/api/chat/${resumedChat}/stream`));
  for (const chatId of settledChats) assert.equal((await here.fetch(`/api/chat/${chatId}/stream`)).status, 204);
  await pause(3_000);
  assert.deepEqual(await snapshot(settledChats, chats), before, 'nothing of the zombie was written');

  const { stopped } = await here.must('POST', `/api/chat/${resumedChat}/stop`, {});
  assert.equal(stopped, true);
  await settled(here, resumedChat);
  const resumed = (await allMessages(here, resumedChat)).filter(({ role }) => role === 'assistant');
  assert.deepEqual(
    resumed.map(({ status }) => status),
    ['stopped'],
  );
  for (const end of await Promise.all([rejoined, beside])) {
    assert.equal(end.done, true);
    assert.equal(end.text, textOf(resumed[0]));
  }
  for (const caller of [here, there]) {
    assert.deepEqual((await caller.must('GET', '/api/health')).ok, true);
    const chatId = await createChat(caller);
    await caller.must('POST', '/api/chat/start', {
      ...submission(chatId, `after-${chatId}`),
      modelId: model(models.short, 1).id,
    });
    const after = await readEvents(await postChat(caller, { chatId, messageId: `after-${chatId}` }));
    assert.ok(after.done && after.text.endsWith('word39'));
  }
});

/** When the lease of a response ends, as the database has it. */
async function leaseOf(id: string): Promise<string> {
  return (await rows.query('select lease_until::text as lease from responses where id = $1', [id])).rows[0].lease;
}

/** Until all are interrupted, in time. A look that took long counts as a second: the machine was busy meanwhile. */
async function interruptedInTime(chats: readonly string[], since: number): Promise<void> {
  let lookedAt = since;
  let waitedMs = 0;
  for (const chatId of chats) {
    while ((await allMessages(there, chatId))[1].status !== 'interrupted') {
      const now = performance.now();
      waitedMs += Math.min(now - lookedAt, 1_000);
      lookedAt = now;
      assert.ok(waitedMs < interruptedWithinMs, `${chatId} is not interrupted`);
      await pause(100);
    }
  }
}

async function followNoting(path: string, seen: { at: number; length: number }[]): Promise<StreamEnd> {
  let length = 0;
  return readEvents(await there.fetch(path), ({ frame }) => {
    if (frame.type === 'text-delta') {
      length += frame.delta.length;
      seen.push({ at: performance.now(), length });
    }
    return false;
  });
}

/** All that the database holds of the settled conversations, and the frames of every first generation. */
async function snapshot(settledChats: readonly string[], chats: readonly string[]): Promise<Json> {
  const query = async (text: string, ids: readonly string[]) => (await rows.query(text, [ids])).rows;
  return {
    messages: await query('select * from messages where chat_id = any($1) order by id', settledChats),
    responses: await query('select * from responses where chat_id = any($1) order by id', settledChats),
    inputs: await query('select * from inputs where chat_id = any($1) order by id', settledChats),
    frames: await query(
      `select f.* from response_frames f join responses r on r.id = f.response_id
        where r.chat_id = any($1) and f.generation = 1 order by f.response_id, f.seq_from`,
      chats,
    ),
  };
}
