import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Frame } from '@homeport/contracts/chat/frames';
import { until } from '../../../../contracts/test/until.ts';
import { claimInput } from '../../../src/chat/ledger/claims.ts';
import { endResponse } from '../../../src/chat/ledger/response-end.ts';
import { storeFrames } from '../../../src/chat/log/frame-store.ts';
import { followResponse } from '../../../src/chat/run/follow.ts';
import { createCaller, type SignedIn, startTestApp, type TestApp } from '../../app.ts';
import { type FakeProvider, startFakeProvider } from '../../fakes/provider/provider.ts';
import { finish, stream } from '../../fakes/provider/provider-scripts.ts';
import {
  addModels,
  chatDetail,
  createChat,
  partsOf,
  passLease,
  postChat,
  readStream,
  submit,
} from '../chat-harness.ts';

let first: TestApp;
let second: TestApp;
let provider: FakeProvider;
const timings = { heartbeatMs: 200, sweepMs: 200, dispatchMs: 100 };
before(async () => {
  provider = await startFakeProvider();
  first = await startTestApp({ timings });
  second = await startTestApp({ timings, database: first.database });
});
after(async () => {
  await second.stop();
  await first.stop();
  await provider.close();
});

/** The same session at the other replica. */
function at(app: TestApp, user: SignedIn): SignedIn {
  return { ...createCaller(app.url, user.cookie), id: user.id, email: user.email };
}

test('a response made by one replica is followed from its beginning at the other, to the same text', async () => {
  const user = await first.signIn();
  await addModels(user, provider, ['words']);
  // Continues once all follow.
  provider.enqueue('words', (call) =>
    stream([{ words: 40, rate: 200 }, { pause: true }, { words: 160, rate: 200 }, ...finish(call, 200)]),
  );
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'go');
  const paused = Promise.withResolvers<void>();
  const here = readStream(await postChat(user, { chatId, messageId }), ({ frame }) => {
    if (frame.type === 'text-delta' && frame.delta.includes('word39')) paused.resolve();
    return false;
  });
  const elsewhere = at(second, user);
  const joined = readStream(await postChat(elsewhere, { chatId, messageId }));
  const part = await readStream(await elsewhere.fetch(`/api/chat/${chatId}/stream`), ({ id }) => id > 200);
  // As a browser's EventSource reconnects: with its first address.
  const back = await elsewhere.fetch(`/api/chat/${chatId}/stream?after=1`, {
    headers: { 'last-event-id': String(part.frames.at(-1)?.id) },
  });
  await paused.promise;
  provider.release();
  const [a, b, rest] = await Promise.all([here, joined, readStream(back)]);
  assert.equal(a.done && b.done && rest.done, true);
  assert.deepEqual(partsOf(b.frames), partsOf(a.frames));
  assert.equal(part.text + rest.text, a.text);
  assert.equal(b.frames.at(-1)?.id, a.frames.at(-1)?.id);
});

test('Stop at one replica ends the response of the other', async () => {
  const user = await first.signIn();
  await addModels(user, provider, ['words-5001@50']);
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'go');
  const streaming = readStream(await postChat(user, { chatId, messageId }));
  const elsewhere = at(second, user);
  await until(async () => (await chatDetail(elsewhere, chatId)).response !== null);
  const stopped = await elsewhere.call(`POST /api/chat/${chatId}/stop`, {});
  assert.equal(stopped.body.stopped, true);
  const request = provider.requests.find((candidate) => candidate.body.model === 'words-5001@50');
  assert.equal(await request?.closed, 'aborted');
  const streamed = await streaming;
  assert.ok(streamed.frames.some(({ frame }) => frame.type === 'abort'));
});

test('a response of a lost replica becomes interrupted with all logged frames, and the next input continues', async () => {
  const user = await first.signIn();
  await addModels(user, provider, ['words-3']);
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'go');
  const dead = { replica: randomUUIDv7(), leaseMs: 3_600_000, requestedAt: 0 };
  const { deps } = first.service;
  const outcome = await claimInput(deps, { chatId, ownerId: user.id, messageId, decision: {}, isFull: false }, dead);
  assert.equal(outcome.kind, 'claimed');
  if (outcome.kind !== 'claimed') return;
  const { id, generation } = outcome.response;
  const frames: Frame[] = [
    { type: 'start', messageId: id },
    { type: 'start-step' },
    { type: 'text-start', id: 't' },
    { type: 'text-delta', id: 't', delta: 'What followers saw' },
  ];
  const row = { seqFrom: 0, seqTo: 21, frames: frames.map((frame) => JSON.stringify(frame)).join('\n') };
  assert.equal((await storeFrames(deps, [{ id, generation, row }])).has(id), true);
  const firstText = Promise.withResolvers<void>();
  const follower = readStream(await at(second, user).fetch(`/api/chat/${chatId}/stream`), ({ frame }) => {
    if (frame.type === 'text-delta') firstText.resolve();
    return false;
  });
  await firstText.promise;
  await passLease(first, chatId);
  const detail = await until(async () => {
    const found = await chatDetail(user, chatId);
    return found.response === null ? found : undefined;
  });
  assert.equal(detail.messages[1].status, 'interrupted');
  assert.equal(detail.messages[1].parts.at(-1).text, 'What followers saw');
  const followed = await follower;
  assert.equal(followed.text, 'What followers saw');
  assert.equal(followed.done, true);
  assert.ok(followed.frames.some(({ frame }) => frame.type === 'error'));

  // The lost replica returns: none of its writes can become visible.
  const late = { seqFrom: 21, seqTo: 26, frames: JSON.stringify({ type: 'text-delta', id: 't', delta: 'late!' }) };
  assert.equal((await storeFrames(deps, [{ id, generation, row: late }])).size, 0);
  const ended = await endResponse(deps, outcome.response, { state: 'complete', parts: [], frames: [], seq: 26 });
  assert.equal(ended, undefined);
  const after = await chatDetail(user, chatId);
  assert.deepEqual(after.messages[1], detail.messages[1]);
});

test('a client that joins a lost response gets the frames of the database, not those of its former replica', async () => {
  const user = await first.signIn();
  await addModels(user, provider, ['words-5003@50']);
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'go');
  await readStream(await postChat(user, { chatId, messageId }), ({ id }) => id > 40);
  const { deps } = first.service;
  const { rows } = await first.database.database.pool.query('select id from responses where chat_id = $1', [chatId]);
  const run = deps.responses.find(rows[0].id);
  assert.ok(run !== undefined);
  // As another replica does that takes it over and continues the response in its own name.
  const taken = `update responses set generation = generation + 1, replica = $2, last_seq = 0,
    lease_until = now() + interval '1 hour' where id = $1`;
  await first.database.database.pool.query(taken, [run.response.id, randomUUIDv7()]);
  let received = '';
  let isEnded = false;
  const follower = {
    closed: false,
    write: (events: string) => {
      received += events;
    },
    end: (events: string) => {
      received += events;
      isEnded = true;
    },
  };
  run.lose();
  const left = new AbortController();
  const following = followResponse(deps, run.response.id, 0, follower, left.signal);
  await run.done;
  assert.deepEqual([received, isEnded], ['', false]);
  left.abort();
  await following;
  assert.deepEqual([received, isEnded], ['', true]);
});

test('a stopping replica hands over its responses, and another one continues them', async () => {
  const third = await startTestApp({ timings, database: first.database });
  const user = await third.signIn();
  await addModels(user, provider, ['words-5002@50']);
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'go');
  const streaming = readStream(await postChat(user, { chatId, messageId }), ({ id }) => id > 40);
  const { text } = await streaming;
  await third.stop();
  const elsewhere = at(first, user);
  await until('another one goes on with it', async () => (await chatDetail(elsewhere, chatId)).response !== null);
  const joined = await readStream(await postChat(elsewhere, { chatId, resume: true }), ({ id }) => id > 200);
  assert.ok(text.length > 20 && joined.text.startsWith(text));
  await elsewhere.call(`POST /api/chat/${chatId}/stop`, {});
});

test('100 random disconnections and reconnections at both replicas assemble the identical text', async () => {
  const user = await first.signIn();
  await addModels(user, provider, ['words-400@100']);
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'go');
  const whole = readStream(await postChat(user, { chatId, messageId }));
  const callers = [user, at(second, user)];
  const follow = async (index: number): Promise<string> => {
    let text = '';
    let seen = 0;
    for (let leg = 0; ; leg += 1) {
      const caller = callers[(index + leg) % callers.length] ?? user;
      const response = await caller.fetch(`/api/chat/${chatId}/stream?after=${seen}`);
      const goal = seen + 100 + ((index * 37 + leg * 61) % 500);
      const part = await readStream(response, ({ id }) => id >= goal);
      // Ended between two legs: the remaining text is in the stored message, as for any client.
      if (part.status === 204) return (await chatDetail(caller, chatId)).messages[1].parts.at(-1).text;
      text += part.text;
      seen = part.frames.at(-1)?.id ?? seen;
      if (part.done) return text;
    }
  };
  const texts = await Promise.all(Array.from({ length: 20 }, (_, index) => follow(index)));
  const { text } = await whole;
  for (const followed of texts) assert.equal(followed, text);
});
