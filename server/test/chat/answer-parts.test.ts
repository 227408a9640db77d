import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../app.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';
import { chunk, type FakeStep, finish, say } from '../fakes/provider/provider-scripts.ts';
import { addModels, answer, chatDetail, createChat, partsOf, submit } from './chat-harness.ts';

/** Sources and pictures of an answer: streamed, stored, exported, and sent back. */

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const images = [{ type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }];

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

async function begin(modelId: string) {
  const user = await app.signIn();
  const [model = ''] = await addModels(user, provider, [modelId]);
  const chatId = await createChat(user);
  const ask = async (text: string) => answer(user, chatId, await submit(user, chatId, text));
  return { user, model, chatId, ask };
}

test('streams, stores and exports the sources of an answer, each address once', async () => {
  const citations = ['https://a.test/x', 'https://b.test/y', 'https://a.test/x', 'javascript:alert(1)'];
  const search_results = [{ url: 'https://a.test/x', title: 'A “page”' }];
  const cited = (content: string): FakeStep => {
    return { event: { choices: [{ index: 0, delta: { content } }], citations, search_results } };
  };
  provider.script('cites', (call) => ({ steps: [cited('Yes [1]'), cited(' and [2].'), ...finish(call, 3)] }));
  const { user, chatId, ask } = await begin('cites');
  const streamed = await ask('Is it so?');
  const sources = [
    { type: 'source-url', sourceId: '1', url: 'https://a.test/x', title: 'A “page”' },
    { type: 'source-url', sourceId: '2', url: 'https://b.test/y' },
  ];
  const isSource = ({ type }: { type: string }) => type.startsWith('source-');
  assert.deepEqual(partsOf(streamed.frames).filter(isSource), sources);
  const { messages } = await chatDetail(user, chatId);
  assert.deepEqual(messages.at(-1)?.parts.filter(isSource), sources);
  assert.equal(streamed.text, 'Yes [1] and [2].');
  const query = { id: chatId, format: 'markdown' };
  const markdown = await user.call('GET /api/chats/export', undefined, { query });
  assert.match(markdown.text, /\*\*Sources\*\*\n\n1\. \[A “page”\]\(<https:\/\/a\.test\/x>\)\n2\. \[https:\/\/b/);
});

test('stores a picture of an answer as a file of the conversation and sends it back in the next turn', async () => {
  provider.script('paints', (call) => ({
    steps: [...say('Here it is.'), chunk({ content: '', images }), ...say(' Like it?'), ...finish(call, 3)],
  }));
  const { user, model, chatId, ask } = await begin('paints');
  const streamed = await ask('Paint a dot');
  const [file] = partsOf(streamed.frames).flatMap((part) => (part.type === 'file' ? [part] : []));
  assert.match(file?.url ?? '', /^artifact:\/\/[\w-]+$/);
  assert.equal(file?.mediaType, 'image/png');
  const { messages } = await chatDetail(user, chatId);
  assert.deepEqual(
    messages.at(-1)?.parts.filter(({ type }: { type: string }) => type === 'file'),
    [file],
  );
  const query = { chatId, id: file?.url.slice('artifact://'.length) ?? '' };
  const stored = await user.fetch(`/api/artifacts/download?${new URLSearchParams(query)}`);
  assert.equal(Buffer.from(await stored.arrayBuffer()).toString('base64'), png);

  await ask('Another one');
  const sent = JSON.stringify(provider.requests.at(-1)?.body.messages);
  assert.ok(sent.includes(`data:image/png;base64,${png}`), sent);
  assert.ok(!sent.includes('artifact://'), sent);

  const abilities = { images: false, documents: false, tools: true, temperature: true, reasoning: [] };
  const patched = await user.call('PATCH /api/models', { id: model, abilities });
  assert.equal(patched.status, 200, patched.text);
  const after = await ask('And now without');
  assert.match(after.text, /Here it is/);
  const blind = JSON.stringify(provider.requests.at(-1)?.body.messages);
  assert.ok(!blind.includes(png) && blind.includes('A picture was left out'), blind);
});
