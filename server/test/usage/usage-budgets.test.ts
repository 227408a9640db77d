import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import type { Tool } from '../../src/chat/tools/tool-run.ts';
import { createCaller, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import {
  addModels,
  answer,
  chatDetail,
  createChat,
  idle,
  postChat,
  readStream,
  submission,
  submit,
} from '../chat/chat-harness.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';
import { callsOf, setPrices, sumsDiffer } from './usage-makers.ts';

let replicas: TestApp[];
let app: TestApp;
let provider: FakeProvider;
let admin: SignedIn;
const lookUp: Tool = {
  name: 'look_up',
  description: 'Looks a number up',
  inputSchema: { type: 'object', properties: { number: { type: 'integer' } } },
  execute: async (input) => ({ found: input.number }),
};
const timings = { dispatchMs: 100 };
before(async () => {
  provider = await startFakeProvider();
  app = await startTestApp({ timings, findTools: async () => [lookUp], config: { modelTitles: true } });
  const { database } = app;
  const others = [1, 2].map(() => startTestApp({ timings, database, findTools: async () => [lookUp] }));
  replicas = [app, ...(await Promise.all(others))];
  admin = await app.signIn({ role: 'admin' });
});
after(async () => {
  assert.deepEqual(await sumsDiffer(app), []);
  for (const replica of replicas.toReversed()) await replica.stop();
  await provider.close();
});

const tokensADay = { unit: 'tokens', period: 'day' } as const;

async function setBudgets(...budgets: object[]): Promise<void> {
  const answered = await admin.call('PUT /api/admin/budgets', { budgets });
  assert.equal(answered.status, 200, answered.text);
}

test('an exhausted budget refuses with the time of its reset, and an admitted message shows that in the thread', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['echo']);
  await setPrices(user);
  const chatId = await createChat(user);
  await setBudgets({ scope: 'person', userId: user.id, ...tokensADay, limit: 1 });
  // Nothing is used until the first call has ended.
  await answer(user, chatId, await submit(user, chatId, 'Hello'));
  for (const path of ['start', 'turn-inputs']) {
    const refused = await user.call(`POST /api/chat/${path}`, submission(chatId, 'More'));
    assert.deepEqual([refused.status, refused.body.error.code], [429, 'budget_exhausted']);
    const tomorrow = new Date(Math.ceil((Date.now() + 1) / 86_400_000) * 86_400_000).toISOString();
    assert.equal(refused.body.error.details.resetsAt, tomorrow);
    assert.ok(Number(refused.headers.get('retry-after')) <= 86_400);
  }
  const { messages } = await chatDetail(user, chatId);
  const again = await postChat(user, { chatId, messageId: messages[0].id, regenerate: true });
  assert.equal(again.status, 429);
  assert.equal((await user.call('POST /api/chats/compact', { id: chatId })).status, 429);
  assert.equal((await chatDetail(user, chatId)).messages.length, 2);
  // Titles are made from the first words then.
  await idle(app);
  const [, title] = await callsOf(app, user.id);
  assert.equal(title, undefined);
  const own = (await user.call('GET /api/me/usage')).body.budgets;
  assert.equal(own.length, 1);
  assert.ok(own[0].percent >= 100 && own[0].spent > own[0].limit);
  // Other users are not affected.
  const other = await app.signIn();
  await addModels(other, provider, ['echo']);
  const elsewhere = await createChat(other);
  assert.equal((await answer(other, elsewhere, await submit(other, elsewhere, 'Hello'))).text, 'Hello');
  await setBudgets();
  assert.equal((await postChat(user, { chatId, messageId: messages[0].id, regenerate: true })).status, 200);
});

test('an input that waited while the budget was exhausted fails, and can be continued with a larger one', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['words-5004@40', 'echo']);
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'go');
  const streaming = readStream(await postChat(user, { chatId, messageId }));
  await until(async () => (await chatDetail(user, chatId)).response !== null);
  const waiting = await user.call('POST /api/chat/turn-inputs', submission(chatId, 'More'));
  assert.equal(waiting.status, 201);
  await setBudgets({ scope: 'each', ...tokensADay, limit: 0 });
  await user.call(`POST /api/chat/${chatId}/stop`, {});
  await streaming;
  const failed = await until(async () => {
    const { messages } = await chatDetail(user, chatId);
    return messages.at(-1).status === 'failed' ? messages.at(-1) : undefined;
  });
  assert.equal(failed.error.code, 'budget_exhausted');
  await setBudgets();
  assert.equal((await postChat(user, { chatId, resume: true })).status, 200);
  await user.call(`POST /api/chat/${chatId}/stop`, {});
});

test('a turn ends before the step that its budget does not allow, with its results kept', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['tool-loop']);
  await setPrices(user);
  await setBudgets({ scope: 'person', userId: user.id, unit: 'cost', period: 'month', limit: 400 });
  const chatId = await createChat(user);
  const { frames } = await answer(user, chatId, await submit(user, chatId, 'go on for ever'));
  const calls = await callsOf(app, user.id);
  assert.ok(calls.length > 1 && calls.length < 32, `${calls.length} calls`);
  const costs = calls.map(({ cost }) => cost ?? 0);
  const before = costs.slice(0, -1).reduce((sum, cost) => sum + cost, 0);
  assert.ok(before < 400 && before + (costs.at(-1) ?? 0) >= 400, `${costs}`);
  const message = (await chatDetail(user, chatId)).messages.at(-1);
  assert.deepEqual([message.status, message.error.code], ['failed', 'budget_exhausted']);
  assert.equal(message.usage.cost, before + (costs.at(-1) ?? 0));
  const tools = message.parts.filter(({ type }: { type: string }) => type === 'dynamic-tool');
  assert.equal(tools.length, calls.length);
  assert.ok(tools.every(({ state }: { state: string }) => state === 'output-available'));
  assert.ok(frames.some(({ frame }) => frame.type === 'error'));
});

test('three replicas and many parallel turns exceed a budget by no more than the calls running at the time', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['tool-loop']);
  await setPrices(user);
  const limit = 6_000;
  await setBudgets({ scope: 'everyone', unit: 'cost', period: 'month', limit: limit + (await spentByAll()) });
  const turns = Number(process.env.BUDGET_TURNS ?? 12);
  await Promise.all(
    Array.from({ length: turns }, async (_, index) => {
      const replica = replicas[index % replicas.length] ?? app;
      const caller: SignedIn = { ...createCaller(replica.url, user.cookie), id: user.id, email: user.email };
      const chatId = await createChat(caller);
      const started = await caller.call('POST /api/chat/start', submission(chatId, `turn ${index}`));
      if (started.status === 201) await answer(caller, chatId, started.body.messageId);
    }),
  );
  const costs = (await callsOf(app, user.id)).map(({ cost }) => cost ?? 0);
  const spent = costs.reduce((sum, cost) => sum + cost, 0);
  assert.ok(spent >= limit, `${spent} of ${limit}`);
  assert.ok(spent <= limit + turns * Math.max(...costs), `${spent} of ${limit}, at most ${Math.max(...costs)} a call`);
  await setBudgets();
});

async function spentByAll(): Promise<number> {
  const { rows } = await app.database.database.pool.query<{ cost: string }>(
    'select sum(cost) as cost from usage_totals',
  );
  return Number(rows[0]?.cost ?? 0);
}

test('replaces budgets as a whole, and a user’s own replaces the one for each user', async () => {
  const user = await app.signIn();
  const budgets = [
    { scope: 'everyone', unit: 'cost', period: 'month', limit: 500_000_000 },
    { scope: 'each', ...tokensADay, limit: 1_000 },
    { scope: 'person', userId: user.id, ...tokensADay, limit: null },
  ];
  const { body } = await admin.call('PUT /api/admin/budgets', { budgets });
  assert.deepEqual(
    body.budgets.map(({ scope, userId, limit }: { scope: string; userId: string; limit: number }) => [
      scope,
      userId,
      limit,
    ]),
    [
      ['everyone', null, 500_000_000],
      ['each', null, 1_000],
      ['person', user.id, null],
    ],
  );
  assert.deepEqual((await admin.call('GET /api/admin/budgets')).body, body);
  const own = (await user.call('GET /api/me/usage')).body.budgets;
  assert.deepEqual(
    own.map(({ scope, limit, spent }: { scope: string; limit: number; spent: number }) => [scope, limit, spent]),
    [['everyone', null, null]],
  );
  const bad = [
    [{ scope: 'each', ...tokensADay, limit: null }],
    [{ scope: 'each', ...tokensADay, limit: -1 }],
    [{ scope: 'each', ...tokensADay, limit: 1.5 }],
    [{ scope: 'person', ...tokensADay, limit: 5 }],
    [{ scope: 'each', userId: user.id, ...tokensADay, limit: 5 }],
    [budgets[0], budgets[0]],
  ];
  for (const list of bad) {
    const refused = await admin.call('PUT /api/admin/budgets', { budgets: list });
    assert.deepEqual([refused.status, refused.body.error.code], [400, 'invalid_request'], JSON.stringify(list));
  }
  const missing = [{ scope: 'person', userId: 'nobody', ...tokensADay, limit: 5 }];
  assert.equal((await admin.call('PUT /api/admin/budgets', { budgets: missing })).status, 404);
  assert.deepEqual((await admin.call('GET /api/admin/budgets')).body, body);
  await setBudgets();
});
