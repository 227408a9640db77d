import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { type Json, type SignedIn, startTestApp } from '../app.ts';
import { ManualClock } from '../fakes/manual-clock.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';
import { failure, finish, say, stream } from '../fakes/provider/provider-scripts.ts';
import { addModels, answer, chatDetail, createChat, postChat, readStream, submit } from './chat-harness.ts';

/** Circuit breakers of providers. */

let first: FakeProvider;
let second: FakeProvider;
before(async () => {
  first = await startFakeProvider();
  second = await startFakeProvider();
});
after(async () => {
  await first.close();
  await second.close();
});

async function ask(user: SignedIn): Promise<Json> {
  const chatId = await createChat(user);
  await answer(user, chatId, await submit(user, chatId, 'hello'));
  return (await chatDetail(user, chatId)).messages[1];
}

test('a dead provider is asked by the first turns only, its outage is shown, and stand-ins answer', async () => {
  // The pause of a circuit must not end while the turns of a busy machine run.
  const own = await startTestApp({ clock: new ManualClock() });
  try {
    const user = await own.signIn();
    const [chosen] = await addModels(user, first, ['dead']);
    const [standIn] = await addModels(user, second, ['alive']);
    await user.call('PATCH /api/models', { id: chosen, standIns: [standIn] });
    first.script('dead', () => failure(503, 'overloaded'));
    second.script('alive', (call) => stream([...say('alive'), ...finish(call, 1)]));
    for (let turn = 0; turn < 12; turn += 1) {
      assert.deepEqual((await ask(user)).servedBy, { modelId: standIn, reason: 'overloaded' });
    }
    assert.equal(first.requests.length, 5);
    const { providers } = (await user.call('GET /api/providers')).body;
    const { since, retryAt, reason } = providers[0].outage;
    assert.equal(reason, 'overloaded');
    assert.equal(Date.parse(retryAt) - Date.parse(since), 10_000);
    assert.equal(providers[1].outage, undefined);
  } finally {
    await own.stop();
  }
});

test('people without a stand-in wait for one probe, and are answered once the provider is back', async () => {
  const clock = new ManualClock();
  const own = await startTestApp({ clock });
  try {
    const user = await own.signIn();
    await addModels(user, first, ['back']);
    first.requests.length = 0;
    first.script('back', () => failure(503, 'overloaded', { 'retry-after': '61' }));
    for (let turn = 0; turn < 5; turn += 1) {
      const chatId = await createChat(user);
      await readStream(await postChat(user, { chatId, messageId: await submit(user, chatId, 'hello') }));
    }
    const asked = first.requests.length;
    first.script('back', (call) => stream([...say('back'), ...finish(call, 1)]));
    const chats = await Promise.all([1, 2, 3].map(() => createChat(user)));
    const waiting = chats.map(() => Promise.withResolvers<void>());
    const reads = chats.map(async (chatId, index) => {
      const messageId = await submit(user, chatId, 'hello');
      return readStream(await postChat(user, { chatId, messageId }), ({ frame }) => {
        if (frame.type === 'data-retry') waiting[index]?.resolve();
        return false;
      });
    });
    await Promise.all(waiting.map(({ promise }) => promise));
    const sleeping = clock.waiting;
    assert.equal(first.requests.length, asked);
    clock.advance(10_000);
    await until('the others wait for the probe', async () => clock.waiting >= sleeping - 1);
    const probe = await Promise.race(reads);
    assert.deepEqual([probe.text, first.requests.length], ['back', asked + 1]);
    clock.advance(1_000);
    const texts = (await Promise.all(reads)).map(({ text }) => text);
    assert.deepEqual(texts, ['back', 'back', 'back']);
  } finally {
    await own.stop();
  }
});
