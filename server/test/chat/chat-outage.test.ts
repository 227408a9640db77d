import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, afterEach, before, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { storeFrames } from '../../src/chat/log/frame-store.ts';
import { notify } from '../../src/chat/log/signals.ts';
import type { Tool } from '../../src/chat/tools/tool-run.ts';
import { type Clock, systemClock } from '../../src/platform/clock.ts';
import { createCaller, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { type DatabaseProxy, startDatabaseProxy } from '../fakes/database-proxy.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';
import { chunk, finish, say } from '../fakes/provider/provider-scripts.ts';
import {
  addModels,
  chatDetail,
  createChat,
  passLease,
  postChat,
  readStream,
  type StreamedFrame,
  submit,
} from './chat-harness.ts';

/**
 * A replica that loses its database for longer than a lease, next to one that does not; and one that stops while tools
 * run.
 */

// Expires only when a test moves the clock.
const leaseMs = 3_600_000;
const leaseLookMs = 50;
const timings = { leaseMs, heartbeatMs: 200, sweepMs: 200, dispatchMs: 100, leaseLookMs };
let database: TestDatabase;
let proxy: DatabaseProxy;
let provider: FakeProvider;
/** Behind the proxy. */
let cutOff: TestApp;
const { clock, passLeases } = movableClock();
before(async () => {
  database = await createTestDatabase();
  proxy = await startDatabaseProxy(database);
  provider = await startFakeProvider();
  provider.script('paused', (call) => ({
    steps: [...say(words(20)), { pause: true }, ...say(words(100).slice(words(20).length)), ...finish(call, 100)],
  }));
  cutOff = await startTestApp({ timings, clock, database: proxy.database, givesUp: true });
});
afterEach(() => proxy.set('pass'));
after(async () => {
  proxy.set('pass');
  await cutOff.stop();
  proxy.close();
  await provider.close();
  await database.drop();
});

function at(app: TestApp, user: SignedIn): SignedIn {
  return { ...createCaller(app.url, user.cookie), id: user.id, email: user.email };
}

const words = (count: number): string => Array.from({ length: count }, (_, index) => `word${index}`).join(' ');

/** A response whose first words are read; the provider sends no more until it is released. */
async function answering(model: string, app = cutOff) {
  const user = await app.signIn();
  await addModels(user, provider, [model]);
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'Count');
  const begun = Promise.withResolvers<void>();
  let text = '';
  const onFrame = ({ frame }: StreamedFrame): boolean => {
    if (frame.type === 'text-delta') text += frame.delta;
    if (text.includes('word19')) begun.resolve();
    return false;
  };
  const reading = readStream(await postChat(user, { chatId, messageId }), onFrame);
  await begun.promise;
  const run = app.service.deps.responses.find((await firstResponse(chatId, app.database)).id);
  assert.ok(run !== undefined);
  const request = provider.requests.findLast(({ body }) => body.model === model);
  assert.ok(request !== undefined);
  return { user, chatId, messageId, reading, run, request };
}

async function firstResponse(chatId: string, from = database): Promise<{ id: string; state: string }> {
  const { rows } = await from.database.pool.query('select id, state from responses where chat_id = $1', [chatId]);
  return rows[0];
}

/** For one replica. */
function movableClock() {
  let shift = 0;
  let looks = 0;
  /** The sleeps in progress, a second long at most. */
  const waits = new Set<Promise<void>>();
  const clock: Clock = {
    ...systemClock,
    now: () => systemClock.now() + shift,
    elapsed: () => systemClock.elapsed() + shift,
    sleep: (milliseconds, signal) => {
      const slept = systemClock.sleep(milliseconds, signal);
      if (milliseconds > 1_000) return slept;
      waits.add(slept);
      return slept.finally(() => waits.delete(slept));
    },
    every: (milliseconds, work) =>
      systemClock.every(milliseconds, () => {
        if (milliseconds === leaseLookMs) looks += 1;
        return work();
      }),
  };
  /** More than twice, there and in the database; in one step, the process would seem to have been paused. */
  const passLeases = async (chatId: string, stored = database): Promise<void> => {
    for (let step = 0; step < 4; step += 1) {
      shift += 0.6 * leaseMs;
      const before = looks;
      await until('leases are looked at', () => looks > before);
    }
    // Including the second after which followers learn of an expired lease.
    await Promise.allSettled(waits);
    await passLease({ database: stored }, chatId);
  };
  return { clock, passLeases };
}

const textOf = (message: { parts: { text?: string }[] }): string =>
  message.parts.map(({ text }) => text ?? '').join('');

for (const mode of ['cut', 'stall'] as const) {
  test(`a replica without its database sends nothing more after its lease expires (${mode})`, async () => {
    const other = await startTestApp({ timings, database });
    try {
      const { user, chatId, messageId, reading, request } = await answering('paused');
      proxy.set(mode);
      await passLeases(chatId);
      // Its database is still unreachable.
      const seen = await reading;
      assert.equal(seen.done, true);
      const last = seen.frames.at(-1)?.frame;
      assert.ok(last?.type === 'finish');
      assert.equal(last.messageMetadata?.status, 'interrupted');
      assert.equal(await request.closed, 'aborted');
      const elsewhere = at(other, user);
      // As in `passLeases`, in case a heartbeat had reached the database before that was cut off.
      const detail = await until('the other one ends it', async () => {
        await passLease({ database }, chatId);
        const found = await chatDetail(elsewhere, chatId);
        return found.response === null && found;
      });
      assert.deepEqual([detail.messages[1].parentId, detail.messages[1].status], [messageId, 'interrupted']);
      assert.ok(seen.text.startsWith(textOf(detail.messages[1])));
      proxy.set('pass');
      await until(async () => cutOff.service.deps.responses.size === 0);
      assert.deepEqual((await chatDetail(elsewhere, chatId)).messages[1], detail.messages[1]);
    } finally {
      await other.stop();
    }
  });

  test(`stores a response that clients saw to its end, however long the database was unreachable (${mode})`, async () => {
    const { user, chatId, reading, run, request } = await answering('paused');
    proxy.set(mode);
    provider.release();
    assert.equal(await request.closed, 'complete');
    await until(async () => run.ending);
    await passLeases(chatId);
    assert.ok(clock.elapsed() - run.leasedAt > 2 * leaseMs);
    proxy.set('pass');
    // A client that returns immediately finds it here, and no replica ends it with less.
    const again = await until(async () => {
      const response = await user.fetch(`/api/chat/${chatId}/stream`);
      return response.status < 300 && response;
    });
    await again.body?.cancel();
    const seen = await reading;
    assert.equal(seen.done, true);
    assert.equal(seen.text, words(100));
    const last = seen.frames.at(-1)?.frame;
    assert.equal(last?.type === 'finish' && last.messageMetadata?.status, 'complete');
    const [, message] = (await chatDetail(user, chatId)).messages;
    assert.deepEqual([message.status, textOf(message)], ['complete', seen.text]);
  });
}

test('a response that clients saw to its end is complete, though its prompt context still waits for the database', async () => {
  const back = Promise.withResolvers<void>();
  let isAway = false;
  // No other replica can end it.
  const own = await createTestDatabase();
  const { clock, passLeases } = movableClock();
  const app = await startTestApp({
    timings,
    clock,
    database: own,
    trace: async (statement, work) => {
      if (isAway || statement.includes('insert into told_texts')) await back.promise;
      return work();
    },
  });
  try {
    const { user, chatId, reading, run, request } = await answering('paused', app);
    isAway = true;
    provider.release();
    assert.equal(await request.closed, 'complete');
    await passLeases(chatId, own);
    assert.ok(clock.elapsed() - run.leasedAt > 2 * leaseMs);
    isAway = false;
    back.resolve();
    const seen = await reading;
    const last = seen.frames.at(-1)?.frame;
    assert.ok(last?.type === 'finish');
    assert.equal(last.messageMetadata?.status, 'complete');
    const [, message] = (await chatDetail(user, chatId)).messages;
    assert.deepEqual([message.status, textOf(message)], ['complete', words(100)]);
  } finally {
    back.resolve();
    await app.stop();
    await own.drop();
  }
});

test('responses that wait for the database hold at most 256 MiB together, and any beyond that is given up', async () => {
  const { responses } = cutOff.service.deps;
  const most = 256 * 2 ** 20;
  assert.equal(responses.keep(most - 1), true);
  try {
    const beyond = await answering('paused');
    const { user, chatId, run } = beyond;
    proxy.set('cut');
    provider.release();
    // Although its database is still unreachable: it would be kept for as long as that takes.
    await until('it is given up', () => responses.find(run.response.id) === undefined);
    assert.notEqual((await beyond.reading).done, true);
    assert.equal(responses.keep(2), false);
    proxy.set('pass');
    // Nothing hangs: it ends with the stored frames. A heartbeat sent before it was given up can renew its lease once
    // more.
    const detail = await until('it ends', async () => {
      await passLease({ database }, chatId);
      const found = await chatDetail(user, chatId).catch(() => undefined);
      return found?.response === null && found;
    });
    assert.equal(detail.messages[1].status, 'interrupted');
  } finally {
    proxy.set('pass');
    responses.keep(1 - most);
  }
  // Its reservation is free again.
  assert.equal(responses.keep(most), true);
  responses.keep(-most);
});

for (const count of [1, 51, 500]) {
  test(`${count} responses that send in one tick are all signaled to other replicas`, async () => {
    const { deps } = cutOff.service;
    const user = await cutOff.signIn();
    const ids = Array.from({ length: count }, () => randomUUIDv7());
    const { pool } = database.database;
    await pool.query("insert into chats (id, owner_id, title) select unnest($1::text[]), $2, 'Many'", [ids, user.id]);
    await pool.query(
      `insert into messages (id, chat_id, role, parts, status)
        select role || id, id, role, '[]', 'complete' from unnest($1::text[]) id, unnest(array['user', 'assistant']) role`,
      [ids],
    );
    await pool.query(
      `insert into responses (id, chat_id, message_id, owner_id, state, replica, lease_until, decision)
        select 'assistant' || id, id, 'user' || id, $2, 'running', 'other', now() + interval '1 hour', '{}'
        from unnest($1::text[]) id`,
      [ids, user.id],
    );
    const row = { seqFrom: 0, seqTo: 1, frames: '{"type":"start-step"}' };
    const batch = ids.map((id) => ({ id: `assistant${id}`, generation: 1, row }));
    const signaled = new Set<string>();
    const leave = deps.responses.signals.on((signal) => {
      if (signal.kind === 'frames') for (const id of signal.ids) signaled.add(id);
    });
    try {
      // It listens again a second after its database is back, and earlier signals are not repeated.
      await until('it listens', async () => {
        await notify(database.database.kysely, 'frames', ['probe']);
        return signaled.has('probe');
      });
      assert.equal((await storeFrames(deps, batch)).size, count);
      await until(async () => batch.every(({ id }) => signaled.has(id)));
    } finally {
      leave();
      await pool.query('delete from chats where owner_id = $1', [user.id]);
    }
  });
}

test('a tool that runs next to one that waits for approval keeps its result when the service stops', async () => {
  const running = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const slow: Tool = {
    name: 'slow',
    description: '',
    inputSchema: {},
    async execute(_input, { signal }) {
      running.resolve();
      await Promise.race([release.promise, new Promise((resolve) => signal.addEventListener('abort', resolve))]);
      return 'It has run';
    },
  };
  const asking: Tool = {
    name: 'asking',
    description: '',
    inputSchema: {},
    readPolicy: async () => 'ask',
    execute: async () => 'never',
  };
  provider.script('two-tools', (call) => {
    if (call.body.messages?.at(-1)?.role === 'tool') return { steps: [...say('done'), ...finish(call, 1)] };
    const calls = ['asking', 'slow'].map((name, index) => ({
      index,
      id: `call-${name}`,
      function: { name, arguments: '{}' },
    }));
    return { steps: [chunk({ tool_calls: calls }), ...finish(call, 2, 'tool_calls')] };
  });
  const stopping = await startTestApp({ timings, database, findTools: async () => [slow, asking] });
  const user = await stopping.signIn();
  await addModels(user, provider, ['two-tools']);
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'go');
  const reading = readStream(await postChat(user, { chatId, messageId }));
  await running.promise;
  const drained = stopping.service.deps.responses.drain(25_000);
  release.resolve();
  await drained;
  await reading;
  await stopping.stop();
  const [, message] = (await chatDetail(at(cutOff, user), chatId)).messages;
  assert.equal(message.status, 'interrupted');
  const states = message.parts.flatMap((part: { toolName?: string; state?: string; output?: unknown }) =>
    part.toolName === undefined ? [] : [[part.toolName, part.state, part.output]],
  );
  assert.deepEqual(states, [
    ['asking', 'approval-requested', undefined],
    ['slow', 'output-available', 'It has run'],
  ]);
});
