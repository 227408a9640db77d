import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { Chat } from '@ai-sdk/react';
import { LLMock } from '@copilotkit/aimock';
import { chromium } from '@playwright/test';
import { DefaultChatTransport, type UIMessage } from 'ai';
import { build } from 'esbuild';
import { until } from '../contracts/test/until.ts';
import { chromiumPath } from './chromium.ts';
import {
  allMessages,
  chatDetail,
  createChat,
  postChat,
  releaseWhile,
  sentText,
  settled,
  startDetached,
  submission,
  textOf,
} from './faults/conversation.ts';
import {
  addModels,
  type Caller,
  type Json,
  type Running,
  readEvents,
  scratchFolder,
  setUp,
  startProduct,
  startProvider,
} from './product.ts';

/**
 * Clients and providers that we did not write: `useChat` of the AI SDK follows our stream, and aimock answers our
 * requests.
 */

let product: Running;
let provider: Running;
let caller: Caller;
let answers = 0;

before(async () => {
  provider = await startProvider();
  product = await startProduct(scratchFolder());
  caller = await setUp(product.url);
  await addModels(caller, provider.url, ['pause-awkward-150@100']);
});

test('resumes a detached response in a Chat of @ai-sdk/react with its default transport', async () => {
  const { chatId, question } = await ask('node');
  const transport = new DefaultChatTransport<UIMessage>({
    api: `${product.url}/api/chat`,
    headers: { cookie: caller.cookie },
  });
  const chat = new Chat<UIMessage>({ id: chatId, messages: [question], transport });
  const resumed = chat.resumeStream();
  await releaseWhile(provider, resumed);
  assert.equal(chat.error, undefined);
  assert.equal(chat.status, 'ready');
  await assertFollowed(chatId, chat.messages, question);
  // No response is running anymore: 204, and the client keeps its messages.
  await chat.resumeStream();
  assert.equal(chat.messages.length, 2);
});

/** A busy machine takes long to start a browser. */
const patience = 120_000;
const skip = !existsSync(chromiumPath) && process.env.REQUIRE_BROWSER !== '1' && 'no browser is installed';

test('resumes it in a browser with the unmodified useChat hook', { skip }, async () => {
  const { chatId, question } = await ask('browser');
  const browser = await chromium.launch({
    timeout: patience,
    executablePath: chromiumPath,
    args: ['--no-sandbox'],
  });
  try {
    const context = await browser.newContext();
    const [name = '', value = ''] = caller.cookie.split(/=(.*)/s);
    await context.addCookies([{ name, value, url: product.url }]);
    const page = await context.newPage();
    page.setDefaultTimeout(patience);
    const html = `<!doctype html><div id="root"></div><script type="module">${await bundlePage(chatId, question)}</script>`;
    await page.route('**/follow', (route) => route.fulfill({ contentType: 'text/html; charset=utf-8', body: html }));
    await page.goto(`${product.url}/follow`);
    await page.locator('#root[data-status=streaming]').waitFor();
    await releaseWhile(provider, page.locator('#root[data-status=ready]').waitFor());
    await assertFollowed(chatId, JSON.parse((await page.locator('pre').textContent()) ?? ''), question);
  } finally {
    await browser.close();
  }
});

test('tests, discovers and streams with aimock, an OpenAI-compatible server', async () => {
  const key = 'sk-of-the-mock';
  const mock = new LLMock({ auth: { apiKeys: [key] }, chunkSize: 7, logLevel: 'silent' });
  const content = 'Grüße from a server that is not ours: 日本語, 👩‍👩‍👧‍👦, and *Markdown*.';
  mock.addFixture({
    match: { model: 'mock-large', userMessage: 'hello' },
    response: { content, reasoning: 'Be polite.' },
  });
  await mock.start();
  after(() => mock.stop());
  const baseUrl = `${mock.url}/v1`;

  const refused = await caller.call('POST', '/api/providers/test', { baseUrl, apiKey: 'sk-wrong' });
  assert.deepEqual([refused.status, refused.body.error.code], [502, 'provider_error'], refused.text);
  const { provider: created } = await caller.must('POST', '/api/providers', { name: 'aimock', baseUrl, apiKey: key });
  const tested = await caller.must('POST', '/api/providers/test', { id: created.id });
  assert.equal(tested.ok, true);
  assert.ok(
    tested.models.some(({ id }: Json) => id === 'mock-large'),
    JSON.stringify(tested),
  );
  const { model } = await caller.must('POST', '/api/models', {
    providerId: created.id,
    providerModelId: 'mock-large',
    displayName: 'Mock',
    contextWindow: 32_000,
    maxOutputTokens: 1_000,
    tier: 1,
  });

  const chatId = await createChat(caller);
  await caller.must('POST', '/api/chat/start', { ...submission(chatId, 'mocked', 'hello there'), modelId: model.id });
  const streamed = await readEvents(await postChat(caller, { chatId, messageId: 'mocked' }));
  assert.ok(streamed.done && streamed.events.filter(({ frame }) => frame.type === 'text-delta').length > 0);
  assert.equal(streamed.text, content);
  await settled(caller, chatId);
  const [, answer] = await allMessages(caller, chatId);
  assert.deepEqual([answer.status, textOf(answer)], ['complete', content]);
  assert.equal(answer.parts.find((part: Json) => part.type === 'reasoning').text, 'Be polite.');
  assert.ok(answer.usage.inputTokens > 0 && answer.usage.outputTokens > 0, 'usage is reported');

  // It refuses what it does not know: our failure, not its text.
  const other = await createChat(caller);
  await caller.must('POST', '/api/chat/start', { ...submission(other, 'unknown', 'no fixture'), modelId: model.id });
  const failed = await postChat(caller, { chatId: other, messageId: 'unknown' });
  assert.equal(failed.status, 502);
  assert.equal(JSON.parse(await failed.text()).error.code, 'provider_error');
});

/** A response that has begun and does not end before it is released; `question` as the client shows it. */
async function ask(name: string): Promise<{ chatId: string; question: UIMessage }> {
  const chatId = await createChat(caller);
  const id = `asked-in-${name}`;
  await startDetached(caller, chatId, id);
  return { chatId, question: { id, role: 'user', parts: [{ type: 'text', text: id }] } };
}

/** Asserts that the client has the question and the whole answer as stored and as sent by the provider. */
async function assertFollowed(chatId: string, messages: readonly Json[], question: UIMessage): Promise<void> {
  await settled(caller, chatId);
  const { messages: stored } = await chatDetail(caller, chatId);
  assert.deepEqual(
    messages.map(({ id, role }) => [id, role]),
    [
      [question.id, 'user'],
      [stored[1].id, 'assistant'],
    ],
  );
  assert.equal(stored[1].status, 'complete');
  assert.deepEqual(JSON.parse(JSON.stringify(messages[1].parts)), stored[1].parts);
  const sent = await until('the provider has answered', () => sentText(provider, 'openai', answers));
  answers += 1;
  assert.ok(sent.length > 500);
  assert.equal(textOf(messages[1]), sent);
}

async function bundlePage(chatId: string, question: UIMessage): Promise<string> {
  const contents = `
    import { useChat } from '@ai-sdk/react';
    import { createElement } from 'react';
    import { createRoot } from 'react-dom/client';
    const root = document.getElementById('root');
    function Follower() {
      const { messages, status } = useChat({ id: ${JSON.stringify(chatId)}, messages: [${JSON.stringify(question)}], resume: true });
      const hasAnswer = messages.length > 1;
      root.dataset.status = hasAnswer ? status : 'waiting';
      return createElement('pre', null, JSON.stringify(messages));
    }
    createRoot(root).render(createElement(Follower));`;
  const built = await build({
    stdin: { contents, resolveDir: import.meta.dirname },
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  const script = built.outputFiles[0]?.text ?? '';
  return script.replaceAll('</script', '<\\/script');
}
