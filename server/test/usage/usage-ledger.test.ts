import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { claimInput } from '../../src/chat/ledger/claims.ts';
import { endResponse } from '../../src/chat/ledger/response-end.ts';
import { storeFrames } from '../../src/chat/log/frame-store.ts';
import type { Tool } from '../../src/chat/tools/tool-run.ts';
import type { LedgerRow } from '../../src/usage/ledger.ts';
import { startTestApp, type TestApp } from '../app.ts';
import {
  addModels,
  answer,
  chatDetail,
  createChat,
  idle,
  passLease,
  postChat,
  readStream,
  submit,
} from '../chat/chat-harness.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';
import { say, stream } from '../fakes/provider/provider-scripts.ts';
import { callsOf, setPrices, sumsDiffer } from './usage-makers.ts';

let app: TestApp;
let provider: FakeProvider;
const timings = { heartbeatMs: 200, sweepMs: 200, dispatchMs: 100 };
const lookUp: Tool = {
  name: 'look_up',
  description: 'Looks a number up',
  inputSchema: { type: 'object', properties: { number: { type: 'integer' } } },
  execute: async (input) => ({ found: input.number }),
};
before(async () => {
  provider = await startFakeProvider();
  app = await startTestApp({ timings, findTools: async () => [lookUp], config: { modelTitles: true } });
});
after(async () => {
  assert.deepEqual(await sumsDiffer(app), []);
  await app.stop();
  await provider.close();
});

test('each call of a model is one row, and the response has the cost of its calls', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['tools-2']);
  await setPrices(user);
  const chatId = await createChat(user);
  await answer(user, chatId, await submit(user, chatId, 'look up'));
  const calls = await until(async () => {
    const found = await callsOf(app, user.id);
    return found.length === 3 ? found : undefined;
  });
  assert.deepEqual(
    calls.map(({ kind, step, estimated }) => [kind, step, estimated]),
    [
      ['answer', 1, false],
      ['answer', 2, false],
      ['title', 1, false],
    ],
  );
  for (const { input_tokens: input, output_tokens: output, cost } of calls) assert.equal(cost, input + 2 * output);
  const { usage } = (await chatDetail(user, chatId)).messages[1];
  const own = calls.filter(({ kind }) => kind === 'answer');
  assert.equal(
    usage.cost,
    own.reduce((sum, { cost }) => sum + (cost ?? 0), 0),
  );
  assert.equal(
    usage.outputTokens,
    own.reduce((sum, { output_tokens: tokens }) => sum + tokens, 0),
  );
});

test('the ledger outlives the conversation, and a cost without prices is unknown', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['echo']);
  const chatId = await createChat(user);
  await answer(user, chatId, await submit(user, chatId, 'Hello'));
  assert.equal((await chatDetail(user, chatId)).messages[1].usage.cost, null);
  await until(async () => (await callsOf(app, user.id)).length === 2);
  await idle(app);
  await user.call('DELETE /api/chats', undefined, { query: { id: chatId } });
  const calls = await callsOf(app, user.id);
  assert.deepEqual(
    calls.map(({ cost }) => cost),
    [null, null],
  );
  const { body } = await user.call('GET /api/me/usage', undefined, { query: { by: 'model' } });
  assert.deepEqual([body.usage.total.calls, body.usage.total.cost, body.usage.total.unpricedCalls], [2, null, 2]);
});

test('a response with impossible counts or costs completes, and the ledger records none of them', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['echo']);
  const dearest = 1_000_000_000_000;
  await setPrices(user, { input: dearest, output: dearest, cachedInput: null, cacheWrite: null });
  const chatId = await createChat(user);
  const impossible = { prompt_tokens: Number.MAX_SAFE_INTEGER, completion_tokens: 1_000_000_000 };
  provider.enqueue(
    'echo',
    stream([...say('Hello'), { event: { choices: [], usage: impossible } }, { event: '[DONE]' }]),
  );
  await answer(user, chatId, await submit(user, chatId, 'Hello'));
  const { messages, response } = await chatDetail(user, chatId);
  assert.deepEqual([messages.at(-1).status, response], ['complete', null]);
  const [call] = (await callsOf(app, user.id)).filter(({ kind }) => kind === 'answer');
  assert.deepEqual([call?.input_tokens, call?.output_tokens, call?.cost], [0, 1_000_000_000, 10_000_000_000_000]);
});

test('counts a stopped response by estimate, once', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['words-4003@50']);
  await setPrices(user);
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'go');
  await readStream(await postChat(user, { chatId, messageId }), ({ id }) => id > 60);
  await user.call(`POST /api/chat/${chatId}/stop`, {});
  await until(async () => (await chatDetail(user, chatId)).response === null);
  const [call, ...others] = await callsOf(app, user.id);
  assert.equal(others.length, 0);
  assert.equal(call?.estimated, true);
  assert.ok((call?.input_tokens ?? 0) > 0 && (call?.output_tokens ?? 0) > 5);
});

test('counts the call of a lost replica once, whichever replica ends the response', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['words-3']);
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'go');
  const { deps } = app.service;
  const outcome = await claimInput(
    deps,
    { chatId, ownerId: user.id, messageId, decision: {}, isFull: false },
    { replica: 'gone', leaseMs: 3_600_000, requestedAt: 0 },
  );
  assert.equal(outcome.kind, 'claimed');
  if (outcome.kind !== 'claimed') return;
  const { id, generation } = outcome.response;
  const frames = [
    { type: 'start', messageId: id },
    { type: 'start-step' },
    { type: 'text-start', id: 't' },
    { type: 'text-delta', id: 't', delta: 'What followers saw' },
  ];
  const row = { seqFrom: 0, seqTo: 21, frames: frames.map((frame) => JSON.stringify(frame)).join('\n') };
  assert.ok((await storeFrames(deps, [{ id, generation, row }])).has(id));
  await passLease(app, chatId);
  await until(async () => (await chatDetail(user, chatId)).response === null);
  const [estimate] = await callsOf(app, user.id);
  assert.equal(estimate?.estimated, true);

  // It was only slow: its counts arrive too late, and twice.
  const late: LedgerRow = {
    ownerId: user.id,
    responseId: id,
    generation,
    step: 1,
    kind: 'answer',
    estimated: false,
    model: { providerName: 'Fake', providerModelId: 'words-3', prices: null },
    usage: { inputTokens: 7, outputTokens: 3, cost: null },
  };
  for (let attempt = 0; attempt < 2; attempt++) {
    const finish = { reason: 'stop', detail: null } as const;
    const end = { state: 'complete', parts: [], frames: [], seq: 26, calls: [late], finish } as const;
    assert.equal(await endResponse(deps, outcome.response, { ...end, frames: [], parts: [] }), undefined);
  }
  assert.deepEqual(await callsOf(app, user.id), [estimate]);

  // Continued, it is another call.
  await readStream(await postChat(user, { chatId, resume: true }));
  const answers = (await callsOf(app, user.id)).filter(({ kind }) => kind === 'answer');
  assert.deepEqual(
    answers.map(({ step, estimated }) => [step, estimated]),
    [
      [1, true],
      [2, false],
    ],
  );
});
