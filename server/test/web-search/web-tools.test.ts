import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import type { SignedIn } from '../app.ts';
import { callSteps } from '../assistants/agent-makers.ts';
import { nextId } from '../chat/chat-harness.ts';
import { chunk, say } from '../fakes/provider/provider-scripts.ts';
import { article } from '../fakes/web-site.ts';
import { runCalls, webApp } from './web-makers.ts';

/** The tools web_search and read_page, and the sources that stay with an answer. */

const web = webApp();

const searching = (query: string, more: object = {}) => ({ name: 'web_search', input: { query, ...more } });
const reading = (path: string, more: object = {}) => ({
  name: 'read_page',
  input: { url: `${web.site.url}${path}`, ...more },
});
const sourcesOf = async (user: SignedIn, chatId: string, messageId: string) =>
  user.call('GET /api/chats/sources', undefined, { query: { chatId, messageId } });
const toolsOf = (model: string): string[] => {
  const request = web.agents.provider.requests.findLast(({ body }) => body.model === model);
  return request?.body.tools?.flatMap((tool) => tool.function?.name ?? []) ?? [];
};

test('searches, reads a result by its id, and keeps what was read with the answer', async () => {
  const chat = await web.agents.startChat();
  web.finds('/harbor', '/other');
  web.site.page('/harbor', article('The harbor', '<p>Ships of <a href="/rules#top">all nations</a> may enter.</p>'));
  const { outputs, messageId } = await runCalls(web, chat, [
    [searching('harbor hours', { count: 1, language: 'en', freshness: 'month', domains: ['example.org'] })],
    [{ name: 'read_page', input: { resultId: '1' } }],
  ]);
  const [found, page] = outputs;
  assert.deepEqual(
    found.results.map(({ id, number, title }: { id: string; number: number; title: string }) => [id, number, title]),
    [['1', 1, 'About /harbor']],
  );
  const asked = web.service.requests.at(-1)?.query;
  assert.deepEqual(
    [asked?.get('q'), asked?.get('language'), asked?.get('time_range')],
    ['harbor hours site:example.org', 'en', 'month'],
  );
  assert.deepEqual([page.number, page.cite, page.title, page.page, page.of], [1, '[1]', 'The harbor', 1, 1]);
  assert.match(page.text, new RegExp(`Ships of \\[all nations\\]\\(${web.site.url}/rules\\) may enter\\.`));
  assert.doesNotMatch(page.text, /Imprint|Menu/);
  const { body } = await sourcesOf(chat.user, chat.chatId, messageId);
  assert.equal(body.sources.length, 1);
  const [source] = body.sources;
  assert.equal(source.url, `${web.site.url}/harbor`);
  assert.equal(source.text, page.text);
  assert.equal(source.hash, createHash('sha256').update(source.text).digest('hex'));
  const stranger = await web.app.signIn();
  assert.equal((await sourcesOf(stranger, chat.chatId, messageId)).status, 404);
  assert.equal((await sourcesOf(chat.user, chat.chatId, 'none')).status, 404);
});

test('marks the quotes that are not in the source word for word', async () => {
  const chat = await web.agents.startChat();
  web.site.page('/quotes', article('Quotes', '<p>The tide\u00a0 rises “twice” a day.</p>'));
  const answer = [
    'It says “The tide rises "twice" a day.” [1] and also "thrice a day" [1].',
    '> The harbor opens at six in the morning\n\n[1]',
    'Nothing is quoted here [1].',
  ].join('\n\n');
  let count = 0;
  web.agents.provider.script(chat.model, () => {
    count += 1;
    if (count > 1) return { steps: [...say(answer), chunk({}, 'stop')] };
    return { steps: [...callSteps([reading('/quotes')]), chunk({}, 'tool_calls')] };
  });
  const messageId = nextId('m');
  const message = { id: messageId, parts: [{ type: 'text', text: 'go' }] };
  await chat.user.call('POST /api/chat/start', { chatId: chat.chatId, message });
  const stream = await chat.user.fetch('/api/chat', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ chatId: chat.chatId, messageId }),
  });
  await stream.text();
  const { body: detail } = await chat.user.call('GET /api/chats', undefined, { query: { id: chat.chatId } });
  const { body } = await sourcesOf(chat.user, chat.chatId, detail.messages[1].id);
  assert.deepEqual(body.sources[0].quotes, [
    { text: 'The tide rises "twice" a day.', found: true },
    { text: 'thrice a day', found: false },
    { text: 'The harbor opens at six in the morning', found: true },
  ]);
});

test('offers the tools where a service is connected, unless the conversation or the turn says no', async () => {
  const chat = await web.agents.startChat();
  const ran = async (extra: object = {}) => {
    await runCalls(web, chat, [], { extra });
    return toolsOf(chat.model).filter((name) => ['web_search', 'read_page'].includes(name));
  };
  assert.deepEqual(await ran(), ['web_search', 'read_page']);
  assert.deepEqual(await ran({ web: false }), []);
  const patched = await chat.user.call('PATCH /api/chats', { id: chat.chatId, web: false });
  assert.equal(patched.body.chat.web, false);
  assert.deepEqual(await ran(), []);
  assert.deepEqual(await ran({ web: true }), ['web_search', 'read_page']);
  assert.deepEqual(await ran({ web: null }), ['web_search', 'read_page']);
  await chat.user.call('PATCH /api/chats', { id: chat.chatId, web: null });
  await web.admin.call('PUT /api/admin/web-search', { kind: 'searxng', baseUrl: web.service.url, forEveryone: false });
  assert.deepEqual(await ran(), []);
  await chat.user.call('PUT /api/me/web-search', { kind: 'searxng', baseUrl: web.service.url });
  assert.deepEqual(await ran(), ['web_search', 'read_page']);
  await web.admin.call('PUT /api/admin/web-search', { kind: 'searxng', baseUrl: web.service.url, forEveryone: true });
  const created = await chat.user.call('POST /api/chats', { web: false });
  assert.equal(created.body.chat.web, false);
  assert.equal((await chat.user.call('POST /api/chats', { web: 'yes' })).status, 400);
});

test('refuses arguments and addresses that are not of the web', async () => {
  const chat = await web.agents.startChat();
  const bad = [
    searching(''),
    searching('x'.repeat(401)),
    searching('a\u0007b'),
    searching('x', { count: 11 }),
    searching('x', { freshness: 'hour' }),
    searching('x', { domains: ['http://example.org'] }),
    ...[
      'file:///etc/passwd',
      'javascript:alert(1)',
      'data:text/html,hello',
      'ftp://example.org/',
      'https://name:word@example.org/',
      'http://example.org:22/',
      'http://169.254.169.254/latest/meta-data/',
      'http://metadata.google.internal/',
      `https://example.org/${'x'.repeat(2040)}`,
      'https://exa\nmple.org/',
      '//[::ffff:10.0.0.1]/',
    ].map((url) => ({ name: 'read_page', input: { url } })),
    { name: 'read_page', input: {} },
    { name: 'read_page', input: { resultId: '99' } },
    { name: 'read_page', input: { url: 'https://example.org', resultId: '1' } },
  ];
  const before = web.service.requests.length;
  const { calls } = await runCalls(web, chat, [bad]);
  assert.deepEqual(
    calls.map(({ state }) => state),
    bad.map(() => 'output-error'),
  );
  assert.equal(web.service.requests.length, before);
});

test('an answer has 12 searches and 20 pages', async () => {
  const chat = await web.agents.startChat();
  web.finds('/a');
  const searches = Array.from({ length: 13 }, (_, index) => searching(`words ${index}`));
  for (let index = 0; index < 21; index += 1) web.site.page(`/many/${index}`, article(`Page ${index}`, ''));
  const pages = Array.from({ length: 21 }, (_, index) => reading(`/many/${index}`));
  const { calls } = await runCalls(web, chat, [searches, pages], {
    text: pages.map(({ input }) => input.url).join(' '),
  });
  const failed = calls.filter(({ state }) => state === 'output-error').map(({ toolName }) => toolName);
  assert.deepEqual(failed, ['web_search', 'read_page']);
});

test('reads a long page in parts, and asks the site for it once', async () => {
  const chat = await web.agents.startChat();
  const lines = Array.from({ length: 600 }, (_, index) => `<p>Line ${index} of a page that is rather long indeed.</p>`);
  web.site.page('/long', article('Long', lines.join('')));
  const { outputs } = await runCalls(web, chat, [[reading('/long')], [reading('/long', { page: 2 })]], {
    text: `${web.site.url}/long`,
  });
  assert.deepEqual(
    outputs.map(({ number, page, of }) => [number, page, of]),
    [
      [1, 1, 2],
      [1, 2, 2],
    ],
  );
  assert.match(outputs[1].text, /Line 599 /);
  assert.equal(web.site.asked.filter((path) => path === '/long').length, 1);
});

test('the export of an account has the sources, and they go with the conversation', async () => {
  const chat = await web.agents.startChat();
  web.site.page('/kept', article('Kept', ''));
  await runCalls(web, chat, [[reading('/kept')]]);
  const exported = await chat.user.fetch('/api/me/export');
  const bytes = Buffer.from(await exported.arrayBuffer());
  assert.ok(bytes.includes(`sources/${chat.chatId}.jsonl`));
  await chat.user.call('DELETE /api/chats', undefined, { query: { id: chat.chatId } });
  const { rows } = await web.app.database.database.pool.query('select 1 from web_sources where chat_id = $1', [
    chat.chatId,
  ]);
  assert.equal(rows.length, 0);
});
