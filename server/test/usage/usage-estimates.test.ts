import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { addModels, answer, createChat, idle, submit } from '../chat/chat-harness.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';
import { finish, say } from '../fakes/provider/provider-scripts.ts';
import { callsOf, setPrices, sumsDiffer } from './usage-makers.ts';

/** The cost of a maker's model that a server unknown to the registry answers, such as a proxy. */

let app: TestApp;
let provider: FakeProvider;
before(async () => {
  provider = await startFakeProvider();
  for (const name of ['gpt-4o', 'deepseek-chat']) {
    provider.script(name, (call) => ({ steps: [...say('Hello'), ...finish(call, 40)] }));
  }
  app = await startTestApp();
});
after(async () => {
  assert.deepEqual(await sumsDiffer(app), []);
  await app.stop();
  await provider.close();
});

async function ask(user: SignedIn, modelId: string): Promise<void> {
  const chatId = await createChat(user);
  await answer(user, chatId, await submit(user, chatId, 'Hello', { modelId, modelPinned: true }));
  await idle(app);
}

async function modelsOf(user: SignedIn) {
  const { body } = await user.call('GET /api/providers');
  return body.providers.flatMap(({ models }: { models: object[] }) => models);
}

test('counts the cost as an estimate, which budgets follow, until a price is entered', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['gpt-4o', 'deepseek-chat']);
  const [known, unclear] = await modelsOf(user);
  assert.deepEqual([known.prices, unclear.prices, unclear.estimatedPrices], [null, null, null]);
  assert.deepEqual(known.estimatedPrices, {
    input: 2_500_000,
    output: 10_000_000,
    cachedInput: 1_250_000,
    cacheWrite: null,
  });
  await ask(user, known.id);
  await ask(user, unclear.id);
  const report = async () => (await user.call('GET /api/me/usage')).body.usage.total;
  const total = await until('both answers are counted', async () => {
    const sums = await report();
    return sums.calls >= 2 ? sums : undefined;
  });
  assert.ok(total.cost > 0, JSON.stringify(total));
  assert.deepEqual([total.estimatedPriceCalls, total.unpricedCalls], [1, 1]);
  const spent = await app.database.database.pool.query('select sum(cost)::int as cost from usage_totals');
  assert.equal(spent.rows[0].cost, total.cost);
  await setPrices(user);
  await ask(user, known.id);
  const calls = await callsOf(app, user.id);
  assert.equal(calls.length, 3);
  assert.equal((await report()).estimatedPriceCalls, 1);
  // A person who says that the price is not known gets no estimate.
  await setPrices(user, null);
  assert.equal((await modelsOf(user))[0].estimatedPrices, null);
});
