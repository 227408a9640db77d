import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';
import { callTool, type FakeScript, failure, finish, say, stream, think } from '../fakes/provider/provider-scripts.ts';
import {
  addModels,
  answer,
  type Collected,
  chatDetail,
  createChat,
  idle,
  postChat,
  readStream,
  submit,
} from './chat-harness.ts';

/** Answers of stand-ins (contract.md section 12 "Stand-ins"). */

let app: TestApp;
let first: FakeProvider;
let second: FakeProvider;
before(async () => {
  first = await startFakeProvider();
  second = await startFakeProvider();
  const tool = { name: 'look', description: 'Looks', inputSchema: { type: 'object' }, execute: async () => 'seen' };
  app = await startTestApp({ findTools: async () => [tool] });
});
after(async () => {
  await app.stop();
  await first.close();
  await second.close();
});

type Setup = { user: SignedIn; chosen: string; standIn: string; chosenProvider: string; standInProvider: string };

/** A person whose model `chosen` of the first provider has the model `stand-in` of the second one. */
async function setUp(script: FakeScript, { models = ['chosen'], standIn = 'stand-in' } = {}): Promise<Setup> {
  const user = await app.signIn();
  const [chosen = ''] = await addModels(user, first, models);
  const [other = ''] = await addModels(user, second, [standIn]);
  const { providers } = (await user.call('GET /api/providers')).body;
  await user.call('PATCH /api/models', { id: chosen, standIns: [other] });
  first.script('chosen', () => script);
  second.script('stand-in', (call) => stream([...say('from the stand-in'), ...finish(call, 3)]));
  first.requests.length = 0;
  second.requests.length = 0;
  return { user, chosen, standIn: other, chosenProvider: providers[0].id, standInProvider: providers[1].id };
}

async function ask(user: SignedIn): Promise<{ stream: Collected; message: Json; chatId: string }> {
  const chatId = await createChat(user);
  const read = await answer(user, chatId, await submit(user, chatId, 'hello'));
  return { stream: read, message: (await chatDetail(user, chatId)).messages[1], chatId };
}

const dropped = (...steps: FakeScript['steps']): FakeScript => stream([...steps, { drop: true }]);
const overload = failure(503, 'The server is overloaded');

for (const [name, script, reason] of [
  ['overload', overload, 'overloaded'],
  ['529', failure(529, 'Overloaded'), 'overloaded'],
  ['500', failure(500), 'error'],
  ['502', failure(502), 'error'],
  ['a rate limit', failure(429, 'Too many requests'), 'rate_limit'],
  ['a rate limit over 10 s', failure(429, 'Too many requests', { 'retry-after': '11' }), 'rate_limit'],
  ['401', failure(401, 'Invalid API key'), 'error'],
  ['403', failure(403, 'Forbidden'), 'error'],
  ['404', failure(404, 'The model does not exist'), 'error'],
  ['no head', { head: false, steps: [{ drop: true }] }, 'unreachable'],
  ['a cut before the first token', dropped(), 'unreachable'],
  [
    'an overload in the stream',
    stream([{ event: { error: { type: 'overloaded_error', message: 'Overloaded' } } }]),
    'overloaded',
  ],
] as [string, FakeScript, string][]) {
  test(`a stand-in answers after ${name}, after one question to the chosen model`, async () => {
    const { user, standIn } = await setUp(script);
    const { stream: read, message } = await ask(user);
    assert.equal(read.text, 'from the stand-in');
    assert.equal(first.requests.length, 1);
    assert.deepEqual(message.servedBy, { modelId: standIn, reason });
    assert.deepEqual([message.status, message.modelId], ['complete', standIn]);
    const types = read.frames.map(({ frame }) => frame.type);
    assert.deepEqual(types.slice(0, 3), ['start', 'data-served-by', 'start-step']);
    assert.deepEqual(read.frames[1]?.frame, { type: 'data-served-by', data: { modelId: standIn, reason } });
  });
}

for (const [name, script] of [
  ['400', failure(400, 'Bad request')],
  ['413', failure(413, 'Too large')],
  ['422', failure(422, 'Unprocessable')],
  ['a content filter', failure(403, 'content_policy violation')],
] as [string, FakeScript][]) {
  test(`no stand-in answers after ${name}`, async () => {
    const { user, chosen } = await setUp(script);
    const { message } = await ask(user);
    assert.deepEqual([message.status, message.servedBy, message.modelId], ['failed', undefined, chosen]);
    assert.equal(second.requests.length, 0);
  });
}

for (const [name, steps] of [
  ['text', say('some')],
  ['reasoning', think('hm')],
  ['a call', callTool(0, 'c1', 'look', '{}')],
] as const) {
  test(`no stand-in answers after the first ${name}`, async () => {
    const { user } = await setUp(dropped(...steps));
    const { message } = await ask(user);
    assert.deepEqual([message.status, message.servedBy], ['failed', undefined]);
    assert.equal(second.requests.length, 0);
  });
}

test('no stand-in answers the second step of a turn, which keeps its own retries', async () => {
  const { user } = await setUp(overload);
  first.enqueue(
    'chosen',
    ...[(call: Json) => stream([...callTool(0, 'c1', 'look', '{}'), ...finish(call, 1, 'tool_calls')])],
  );
  first.enqueue('chosen', failure(503, 'overloaded', { 'retry-after': '0' }), (call) =>
    stream([...say('done'), ...finish(call, 1)]),
  );
  const { message } = await ask(user);
  assert.deepEqual([message.status, message.servedBy, message.parts.at(-1).text], ['complete', undefined, 'done']);
  assert.deepEqual([first.requests.length, second.requests.length], [3, 0]);
});

test('the chosen model is asked twice where the pause is at most 10 s', async () => {
  const { user } = await setUp(failure(429, 'Too many requests', { 'retry-after': '0' }));
  const { message } = await ask(user);
  assert.deepEqual([first.requests.length, message.servedBy?.reason], [2, 'rate_limit']);
});

test('a region that is not allowed, and none, is not used', async () => {
  for (const [region, isUsed] of [
    [null, false],
    ['US', false],
    ['eu', true],
  ] as const) {
    const { user, chosenProvider, standInProvider } = await setUp(failure(401, 'Invalid API key'));
    await user.call('PATCH /api/providers', { id: chosenProvider, region: 'US', onlyRegions: ['EU'] });
    await user.call('PATCH /api/providers', { id: standInProvider, region });
    const { message } = await ask(user);
    assert.equal(message.servedBy !== undefined, isUsed, String(region));
    assert.equal(second.requests.length > 0, isUsed, String(region));
  }
});

test('a disabled stand-in is left out, and the next one answers', async () => {
  const { user, chosen, standIn, standInProvider } = await setUp(overload);
  const [third] = await addModels(user, second, ['third']);
  await user.call('PATCH /api/models', { id: chosen, standIns: [standIn, third] });
  await user.call('PATCH /api/providers', { id: standInProvider, enabled: false });
  second.script('third', (call) => stream([...say('third'), ...finish(call, 1)]));
  assert.deepEqual((await ask(user)).message.servedBy, { modelId: third, reason: 'overloaded' });
});

test('a failing stand-in is followed by the next one, with the reason of the chosen model', async () => {
  const { user, chosen, standIn } = await setUp(overload);
  const [third] = await addModels(user, second, ['third']);
  await user.call('PATCH /api/models', { id: chosen, standIns: [standIn, third] });
  second.script('stand-in', () => failure(401, 'Invalid API key'));
  second.script('third', (call) => stream([...say('third'), ...finish(call, 1)]));
  const { stream: read, message } = await ask(user);
  assert.deepEqual([message.servedBy, read.text], [{ modelId: third, reason: 'overloaded' }, 'third']);
  assert.equal(read.frames.filter(({ frame }) => frame.type === 'data-served-by').length, 1);
});

test('without an answer the failure is the chosen model’s', async () => {
  const { user, chosen } = await setUp(overload);
  second.script('stand-in', () => failure(401, 'Invalid API key'));
  const { message } = await ask(user);
  assert.deepEqual([message.status, message.servedBy, message.modelId], ['failed', undefined, chosen]);
  assert.equal(message.error.details.reason, 'overloaded');
});

test('a shared model’s stand-in answers only for those who may use it', async () => {
  const admin = await app.signIn({ role: 'admin' });
  const reader = await app.signIn();
  const [chosen] = await addModels(admin, first, ['chosen']);
  const [standIn] = await addModels(admin, second, ['stand-in']);
  await admin.call('PATCH /api/models', { id: chosen, standIns: [standIn] });
  const { providers } = (await admin.call('GET /api/providers')).body;
  const share = (index: number) =>
    admin.call('PATCH /api/providers', { id: providers[index].id, sharedWith: { userIds: [reader.id] } });
  first.script('chosen', () => failure(401, 'Invalid API key'));
  second.script('stand-in', (call) => stream([...say('from the stand-in'), ...finish(call, 3)]));
  await share(0);
  second.requests.length = 0;
  assert.equal((await ask(reader)).message.status, 'failed');
  assert.equal(second.requests.length, 0);
  await share(1);
  assert.deepEqual((await ask(reader)).message.servedBy, { modelId: standIn, reason: 'error' });
});

test('usage and cost are the stand-in’s, and nothing is counted for the failed question', async () => {
  const { user, chosen, standIn } = await setUp(overload);
  const price = (input: number) => ({ input, output: input, cachedInput: null, cacheWrite: null });
  await user.call('PATCH /api/models', { id: chosen, prices: price(1_000_000_000) });
  await user.call('PATCH /api/models', { id: standIn, prices: price(1_000_000) });
  const { message } = await ask(user);
  const { inputTokens, outputTokens, cost } = message.usage;
  assert.equal(cost, inputTokens + outputTokens);
  const { rows } = await app.database.database.pool.query(
    'select provider_model_id from usage_calls where owner_id = $1',
    [user.id],
  );
  assert.deepEqual(rows, [{ provider_model_id: 'stand-in' }]);
});

test('a long conversation fits the stand-in’s smaller window', async () => {
  const { user, standIn } = await setUp(overload);
  await user.call('PATCH /api/models', { id: standIn, contextWindow: 6_000, maxOutputTokens: 1_000 });
  const chatId = await createChat(user);
  const say3 = (call: Json) => stream([...say('fine'), ...finish(call, 1)]);
  first.enqueue('chosen', say3, say3);
  for (const text of ['a '.repeat(6_000), 'b '.repeat(6_000)]) {
    await answer(user, chatId, await submit(user, chatId, text));
  }
  await answer(user, chatId, await submit(user, chatId, 'last'));
  const { messages } = await chatDetail(user, chatId);
  assert.deepEqual(messages.at(-1).servedBy, { modelId: standIn, reason: 'overloaded' });
  const sent = JSON.stringify(second.requests.at(-1)?.body.messages);
  assert.ok(sent.length < 12_000 && sent.includes('last'), `${sent.length} characters`);
  assert.ok(JSON.stringify(first.requests.at(-1)?.body.messages).length > 24_000);
});

test('a continued answer stays with the stand-in that began it, unless another model is chosen', async () => {
  const { user, standIn } = await setUp(overload);
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'hello');
  second.enqueue('stand-in', stream([...say('one two three'), { hang: true }]));
  await readStream(await postChat(user, { chatId, messageId }), ({ frame }) => frame.type === 'text-delta');
  await user.call(`POST /api/chat/${chatId}/stop`, {});
  await idle(app);
  const stopped = (await chatDetail(user, chatId)).messages[1];
  assert.deepEqual([stopped.status, stopped.servedBy], ['stopped', { modelId: standIn, reason: 'overloaded' }]);
  const asked = first.requests.length;
  const read = await readStream(await postChat(user, { chatId, resume: true }));
  assert.equal(read.frames.filter(({ frame }) => frame.type === 'data-served-by').length, 1);
  const { messages } = await chatDetail(user, chatId);
  assert.deepEqual([messages.length, messages[1].status, messages[1].modelId], [2, 'complete', standIn]);
  assert.equal(first.requests.length, asked);
});

test('a person’s stop ends the turn instead of asking a stand-in', async () => {
  const { user } = await setUp(stream([{ hang: true }]));
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'hello');
  const waiting = postChat(user, { chatId, messageId });
  await until('the question', async () => first.requests.length > 0);
  await user.call(`POST /api/chat/${chatId}/stop`, {});
  await readStream(await waiting);
  await idle(app);
  assert.equal((await chatDetail(user, chatId)).messages[1].status, 'stopped');
  assert.equal(second.requests.length, 0);
});
