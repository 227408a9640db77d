import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { addModels, createChat, postChat, readStream, submit } from '../chat/chat-harness.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';
import { failure, finish, say, stream } from '../fakes/provider/provider-scripts.ts';

/** Lessons about a model: learned from a refusal, stored, shown, forgotten. */

let app: TestApp;
let provider: FakeProvider;
before(async () => {
  provider = await startFakeProvider();
  const tool = { name: 'look', description: 'Looks', inputSchema: { type: 'object' }, execute: async () => 'seen' };
  app = await startTestApp({ findTools: async () => [tool] });
});
after(async () => {
  await app.stop();
  await provider.close();
});

const refusal = failure(400, JSON.stringify({ error: { message: 'This model does not support tools.' } }));
const requests = (model: string) => provider.requests.filter(({ body }) => body.model === model);

async function ask(user: SignedIn): Promise<void> {
  const chatId = await createChat(user);
  await readStream(await postChat(user, { chatId, messageId: await submit(user, chatId, 'hello') }));
}

async function modelOf(user: SignedIn): Promise<Json> {
  const { providers } = (await user.call('GET /api/providers')).body;
  return providers[0].models[0];
}

async function learned(model: string): Promise<SignedIn> {
  const user = await app.signIn();
  await addModels(user, provider, [model]);
  provider.script(model, (call) =>
    call.body.tools === undefined ? stream([...say('plain'), ...finish(call, 1)]) : refusal,
  );
  await ask(user);
  await until('the lesson', async () => (await modelOf(user)).lessons.length === 1);
  return user;
}

test('a refused ability is learned once, stored with its day, and respected by later answers', async () => {
  const user = await learned('no-tools');
  const { lessons } = await modelOf(user);
  assert.deepEqual([lessons[0].about, lessons[0].value], ['tools', 'refused']);
  assert.ok(Math.abs(Date.parse(lessons[0].at) - Date.now()) < 60_000);
  assert.equal(requests('no-tools').length, 2);
  await ask(user);
  assert.equal(requests('no-tools').length, 3);
});

test('a forgotten lesson is tried again', async () => {
  const user = await learned('forgets');
  const { id } = await modelOf(user);
  const forgotten = await user.call('DELETE /api/models/lessons', undefined, { query: { id, about: 'tools' } });
  assert.deepEqual([forgotten.status, forgotten.body.model.lessons], [200, []]);
  const asked = requests('forgets').length;
  await ask(user);
  assert.equal(requests('forgets').length, asked + 2);
  const stranger = await app.signIn();
  const foreign = await stranger.call('DELETE /api/models/lessons', undefined, { query: { id, about: 'tools' } });
  assert.equal(foreign.status, 404);
});

test('no lesson survives a change of the address', async () => {
  const user = await learned('moves');
  const { providerId } = await modelOf(user);
  const baseUrl = provider.url.replace('127.0.0.1', 'localhost');
  await user.call('PATCH /api/providers', { id: providerId, baseUrl, apiKey: 'sk-test-key' });
  assert.deepEqual((await modelOf(user)).lessons, []);
});
