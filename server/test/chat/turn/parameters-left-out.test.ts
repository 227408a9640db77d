import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../../app.ts';
import { bodyMembers, voices } from '../../fakes/provider/strict-rules.ts';
import { type StrictServer, startStrictServer } from '../../fakes/provider/strict-server.ts';
import { answer, chatDetail, createChat, submit } from '../chat-harness.ts';

/** Parameters that a model does not get are named in the answer. */

let app: TestApp;
let user: SignedIn;
let server: StrictServer;
before(async () => {
  const refuse = (name: string) => voices.openai(`Unsupported parameter: '${name}' is not supported.`, name);
  server = await startStrictServer([bodyMembers(['seed'], refuse)], { callId: () => 'call_0', reasoning: [] });
  app = await startTestApp();
  user = await app.signIn();
});
after(async () => {
  await app.stop();
  await server.close();
});

const able = { images: true, documents: false, tools: true, temperature: true, reasoning: ['low', 'high'] };

async function addModel(changes: object = {}): Promise<string> {
  const abilities = { ...able, ...changes };
  const { body } = await user.call('POST /api/providers', { name: 'Strict', kind: 'openai', baseUrl: server.url });
  const sizes = { contextWindow: 100_000, maxOutputTokens: 4_000, tier: 1 };
  const model = { providerId: body.provider.id, providerModelId: 'm', displayName: 'M', abilities, ...sizes };
  const made = await user.call('POST /api/models', model);
  assert.equal(made.status, 201, made.text);
  return made.body.model.id;
}

/** Asks with these parameters; resolves with the answer's notices and the last request. */
async function ask(chatId: string, modelId: string, parameters: object): Promise<{ notices: Json[]; sent: Json }> {
  const messageId = await submit(user, chatId, 'Hello', { modelPinned: true, modelId, parameters });
  assert.equal((await answer(user, chatId, messageId)).status, 200);
  const { parts } = (await chatDetail(user, chatId)).messages.at(-1);
  const notices = parts.filter(({ type }: Json) => type === 'data-notice').map(({ data }: Json) => data);
  return { notices, sent: server.requests.at(-1)?.body ?? {} };
}

test('names a refused parameter once in a conversation', async () => {
  const modelId = await addModel();
  const chatId = await createChat(user);
  const { notices, sent } = await ask(chatId, modelId, { seed: 1, temperature: 0.5 });
  assert.deepEqual(
    notices.map(({ code, details }) => ({ code, details })),
    [{ code: 'parameter_refused', details: { parameter: 'seed' } }],
  );
  assert.deepEqual([sent.seed, sent.temperature], [undefined, 0.5]);
  assert.deepEqual((await ask(chatId, modelId, { seed: 2 })).notices, []);
  assert.equal((await ask(await createChat(user), modelId, { seed: 3 })).notices.length, 1);
});

test('names parameters that the facts of the model exclude', async () => {
  const modelId = await addModel({ temperature: false, reasoning: false });
  const chatId = await createChat(user);
  const { notices, sent } = await ask(chatId, modelId, { temperature: 0.5, reasoningEffort: 'high', topP: 0.5 });
  assert.deepEqual(
    notices.map(({ details }) => details),
    [{ parameter: 'temperature' }, { parameter: 'reasoningEffort' }],
  );
  assert.deepEqual([sent.temperature, sent.reasoning_effort, sent.top_p], [undefined, undefined, 0.5]);
  assert.deepEqual((await ask(await createChat(user), modelId, { reasoningEffort: 'none' })).notices, []);
});
