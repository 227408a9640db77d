import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Json, startTestApp, type TestApp } from '../../app.ts';
import { type FakeProvider, startFakeProvider } from '../../fakes/provider/provider.ts';
import { addModels } from '../chat-harness.ts';
import { ask, eventsOf } from './front-clients.ts';
import { type GatewayUser, gatewayUser } from './gateway-user.ts';

/** Turns that a client asks to keep: ordinary conversations of the person. */

let app: TestApp;
let provider: FakeProvider;
before(async () => {
  provider = await startFakeProvider();
  app = await startTestApp();
});
after(async () => {
  await app.stop();
  await provider.close();
});

const scopes = ['models', 'chats:write'];

async function json(response: Response): Promise<Json> {
  return JSON.parse(await response.text());
}

/** Role and text of each message of a conversation's active branch. */
async function said(user: GatewayUser, chatId: string): Promise<string[]> {
  const { body } = await user.signedIn.call('GET /api/chats', undefined, { query: { id: chatId } });
  return body.messages.map(
    ({ role, parts }: Json) => `${role}: ${parts.map((part: Json) => part.text ?? part.toolName ?? '').join('')}`,
  );
}

test('stores a response as a conversation, continues it and deletes its record', async () => {
  const [user, other] = [await gatewayUser(app, scopes), await gatewayUser(app, scopes)];
  for (const each of [user, other]) await addModels(each.signedIn, provider, ['echo']);
  const first = await user.send('/v1/responses', { model: 'echo', input: 'My name is Ada', store: true });
  const chatId = first.headers.get('x-homeport-conversation') ?? '';
  const stored = await json(first);
  assert.equal(stored.store, true, JSON.stringify(stored));
  assert.deepEqual(await json(await user.send(`/v1/responses/${stored.id}`)), stored);
  assert.deepEqual(await said(user, chatId), ['user: My name is Ada', 'assistant: My name is Ada']);

  const body = { model: 'echo', input: 'Who am I?', store: true, stream: true, previous_response_id: stored.id };
  const second = await user.send('/v1/responses', body);
  const { response } = eventsOf(await second.text()).at(-1) ?? {};
  assert.equal(response.previous_response_id, stored.id);
  assert.deepEqual(
    provider.requests.at(-1)?.body.messages?.map(({ content }) => content),
    ['My name is Ada', 'My name is Ada', 'Who am I?'],
  );
  assert.equal(second.headers.get('x-homeport-conversation'), chatId);
  assert.equal((await said(user, chatId)).length, 4);

  for (const [path, method] of [
    [`/v1/responses/${stored.id}`, 'GET'],
    [`/v1/responses/${stored.id}`, 'DELETE'],
    [`/v1/responses/${stored.id}/cancel`, 'POST'],
  ] as const) {
    assert.equal((await other.send(path, undefined, { method })).status, 404, `${method} ${path}`);
  }
  const foreign = await other.send('/v1/responses', { input: 'x', previous_response_id: stored.id });
  assert.equal(foreign.status, 404);
  const canceled = await user.send(`/v1/responses/${stored.id}/cancel`, undefined, { method: 'POST' });
  assert.deepEqual(await json(canceled), stored);
  const deleted = await user.send(`/v1/responses/${stored.id}`, undefined, { method: 'DELETE' });
  assert.deepEqual(await json(deleted), { id: stored.id, object: 'response', deleted: true });
  assert.equal((await user.send(`/v1/responses/${stored.id}`)).status, 404);
  assert.equal((await said(user, chatId)).length, 4);
});

test('keeps calls of tools and their results in one answer', async () => {
  const user = await gatewayUser(app, scopes);
  await addModels(user.signedIn, provider, ['tools-2']);
  const extra = { store: true };
  const first = await ask(user.send, 'responses', { model: 'tools-2', tool: 'look_up', extra });
  const { id } = JSON.parse(first.raw);
  const input = first.calls.map((call) => ({ type: 'function_call_output', call_id: call.id, output: 'It is 42' }));
  const tools = [{ type: 'function', name: 'look_up', parameters: {} }];
  const second = await user.send('/v1/responses', {
    model: 'tools-2',
    input,
    tools,
    store: true,
    previous_response_id: id,
  });
  const chatId = second.headers.get('x-homeport-conversation') ?? '';
  assert.equal((await json(second)).output[0].content[0].text, 'Done after 2 tool results.');
  assert.deepEqual(await said(user, chatId), ['user: Hello', 'assistant: look_uplook_upDone after 2 tool results.']);
  const unknown = [{ type: 'function_call_output', call_id: 'none', output: 'x' }];
  const refused = await user.send('/v1/responses', { model: 'tools-2', input: unknown, previous_response_id: id });
  assert.equal(refused.status, 400, await refused.text());
});

test('keeps turns of every API in the conversation that the header names, and nothing without it', async () => {
  const user = await gatewayUser(app, scopes);
  const reader = await gatewayUser(app, ['models']);
  for (const each of [user, reader]) await addModels(each.signedIn, provider, ['echo']);
  const messages = [{ role: 'user', content: 'One' }];
  await user.send('/v1/chat/completions', { messages });
  const { body: none } = await user.signedIn.call('GET /api/chats');
  assert.equal(none.chats.length, 0);
  const first = await user.send(
    '/v1/chat/completions',
    { messages },
    { headers: { 'x-homeport-conversation': 'new' } },
  );
  const chatId = first.headers.get('x-homeport-conversation') ?? '';
  assert.equal(first.status, 200, await first.text());
  const headers = { 'x-homeport-conversation': chatId };
  const history = [...messages, { role: 'assistant', content: 'Something else' }, { role: 'user', content: 'Two' }];
  const second = await user.send('/v1/messages', { max_tokens: 100, messages: history }, { headers });
  assert.equal(second.status, 200, await second.text());
  assert.deepEqual(
    provider.requests.at(-1)?.body.messages?.map(({ content }) => content),
    ['One', 'One', 'Two'],
  );
  assert.deepEqual(await said(user, chatId), ['user: One', 'assistant: One', 'user: Two', 'assistant: Two']);
  const foreign = await reader.send('/v1/chat/completions', { messages }, { headers });
  assert.deepEqual([foreign.status, (await json(foreign)).error.code], [403, 'insufficient_scope']);
  const stranger = await gatewayUser(app, scopes);
  await addModels(stranger.signedIn, provider, ['echo']);
  assert.equal((await stranger.send('/v1/chat/completions', { messages }, { headers })).status, 404);
  await user.signedIn.call('PATCH /api/chats', { id: chatId, archived: true });
  assert.equal((await user.send('/v1/chat/completions', { messages }, { headers })).status, 409);
});
