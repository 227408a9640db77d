import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Page } from '@playwright/test';
import { textSeparator } from '../../../contracts/test/text-separator.ts';
import { addModels, type Caller } from '../../product.ts';
import { test as base, expect } from '../fixtures.ts';
import { exfiltrations, scripts } from '../hostile-payloads.ts';

/** Diagrams are drawn in a page of their own, whose policy refuses the handlers that they hold. */
const test = base.extend({
  quiet: async ({ page }, use) => {
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (message) => {
      const isOfDiagram = message.location().url.includes('/assets/frames/');
      const isRequest = message.text().startsWith('Failed to load resource');
      if (message.type() === 'error' && !isRequest && !isOfDiagram) errors.push(message.text());
    });
    await use(undefined);
    expect(errors).toEqual([]);
  },
});

/** Counts requests; there should be none. */
async function startCanary() {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(request.url ?? '');
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No port');
  return { url: `http://localhost:${address.port}`, seen, close: () => server.close() };
}

/** Reports whatever runs, opens, requests or leaks. */
async function watch(page: Page, origin: string): Promise<string[]> {
  const events: string[] = [];
  await page.exposeFunction('hit', () => events.push('a script ran'));
  page.on('dialog', (dialog) => {
    events.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('popup', () => events.push('a window opened'));
  page.context().on('request', (request) => {
    const { protocol, origin: asked } = new URL(request.url());
    if (asked !== origin && protocol !== 'data:' && protocol !== 'blob:') events.push(`asked for ${request.url()}`);
  });
  return events;
}

async function ask(page: Page, text: string): Promise<void> {
  const answers = page.locator('[data-role="assistant"][aria-busy="false"]');
  const before = await answers.count();
  const field = page.getByLabel('Message', { exact: true });
  await field.fill(text);
  await field.press('Enter');
  await expect(answers).toHaveCount(before + 1);
}

test('runs no script of an answer and sends no request, streamed and stored', async ({
  page,
  installation,
  person,
  provider,
}) => {
  const canary = await startCanary();
  await addModels(person.caller, provider, ['texts']);
  const events = await watch(page, installation.url);
  const payloads = [...scripts, ...exfiltrations(canary.url)];
  expect(scripts.length).toBeGreaterThanOrEqual(60);
  expect(payloads.length - scripts.length).toBeGreaterThanOrEqual(40);
  const parts = page.locator('[data-role="assistant"] [data-part="text"]');
  for (let at = 0; at < payloads.length; at += 40) {
    const some = payloads.slice(at, at + 40);
    await page.goto(installation.url);
    await ask(page, some.join(textSeparator));
    await expect(parts).toHaveCount(some.length);
    expect(events, some.join('\n')).toEqual([]);
    await page.reload();
    await expect(parts).toHaveCount(some.length);
    await expect(page.getByLabel('Message', { exact: true })).toBeVisible();
    // Lays out off-screen texts too.
    for (const part of await parts.all()) await part.scrollIntoViewIfNeeded();
    expect(
      await parts
        .locator('script, style, iframe, object, embed, form, img:not([src^="blob:"]), video, audio, link, meta, base')
        .count(),
      'a drawn diagram is a picture without scripts',
    ).toBe(0);
    const links: string[] = await page.evaluate(
      `[...document.querySelectorAll('[data-role="assistant"] a')].map((link) => link.getAttribute('href') ?? '')`,
    );
    expect(links.filter((link) => !/^(https?|mailto):/.test(link))).toEqual([]);
  }
  expect(events).toEqual([]);
  expect(canary.seen).toEqual([]);
  canary.close();
});

test('renders a line of a megabyte and a table of ten thousand rows within limits', async ({
  page,
  installation,
  person,
}) => {
  const rows = Array.from({ length: 10_000 }, (_, index) => `| ${index} | name ${index} |`).join('\n');
  const answers = [
    `word ${'x'.repeat(1_000_000)}`,
    `| n | name |\n|---|---|\n${rows}`,
    `\`\`\`js\n${'a();'.repeat(250_000)}\n\`\`\``,
    '['.repeat(100_000),
    '*a_'.repeat(50_000),
    '> '.repeat(20_000),
    '`'.repeat(99_999),
    '![a]('.repeat(30_000),
    '$a'.repeat(50_000),
    '<a '.repeat(50_000),
    'a\u0301'.repeat(50_000),
    '\u202e'.repeat(10_000),
  ];
  for (const [index, answer] of answers.entries()) {
    const chatId = await answered(page, person.caller, index, answer);
    await page.goto(`${installation.url}/c/${chatId}`);
    await expect(page.locator('[data-role="assistant"] [data-part="text"]')).toBeVisible();
    await expect(page.getByLabel('Message', { exact: true })).toBeEnabled();
    const size: { elements: number; characters: number } = await page.evaluate(`(() => {
      const element = document.querySelector('[data-role="assistant"]');
      return { elements: element.querySelectorAll('*').length, characters: element.textContent.length };
    })()`);
    expect(size.elements, answer.slice(0, 20)).toBeLessThan(2_500);
    expect(size.characters, answer.slice(0, 20)).toBeLessThan(210_000);
  }
});

/** A conversation as the server would return it, with this answer, so that no provider has to send a megabyte. */
async function answered(page: Page, caller: Caller, index: number, answer: string): Promise<string> {
  const { chat } = await caller.must('POST', '/api/chats', { title: `Bounded ${index}` });
  const at = new Date().toISOString();
  const common = { chatId: chat.id, status: 'complete', createdAt: at };
  const own = `own-${index}-0000`;
  await page.route(`**/api/chats?id=${chat.id}*`, (route) =>
    route.fulfill({
      json: {
        chat,
        messages: [
          {
            ...common,
            id: own,
            parentId: null,
            siblingIds: [own],
            role: 'user',
            parts: [{ type: 'text', text: 'Go' }],
          },
          {
            ...common,
            id: `answer-${index}-0000`,
            parentId: own,
            siblingIds: [`answer-${index}-0000`],
            role: 'assistant',
            parts: [{ type: 'text', text: answer, state: 'done' }],
          },
        ],
        inputs: [],
        summaries: [],
        plan: null,
        response: null,
        nextBefore: null,
      },
    }),
  );
  return chat.id;
}

test('ignores malformed frames and frames of a later version', async ({ page, installation, person, provider }) => {
  await addModels(person.caller, provider, ['echo']);
  const frames = [
    '{"type":"start","messageId":"@"}',
    '{"type":',
    'null',
    '[]',
    '42',
    '{"type":7}',
    '{"type":"hologram-start","id":"h","depth":3}',
    '{"type":"start-step"}',
    '{"type":"text-start","id":"t"}',
    '{"type":"text-delta","id":"t","delta":"Whole "}',
    '{"type":"text-delta","id":"t"}',
    '{"type":"text-delta","id":"t","delta":{"a":1}}',
    '{"type":"text-delta","delta":"lost"}',
    '{"type":"tool-output-available","toolCallId":"none","output":1}',
    '{"type":"tool-input-available","toolCallId":"c1","toolName":7,"input":{"a":1}}',
    '{"type":"data-notice","data":null}',
    '{"type":"data-next"}',
    '{"type":"source-url","sourceId":"s","url":"javascript:hit()"}',
    '{"type":"file","url":"https://evil.example/x.png","mediaType":"image/png"}',
    '{"type":"text-delta","id":"t","delta":"and well."}',
    '{"type":"text-end","id":"t"}',
    '{"type":"finish","finishReason":"stop","messageMetadata":{"usage":"many"}}',
  ];
  const events = await watch(page, installation.url);
  await page.route('**/api/chat/*/stream*', (route) => {
    const id = /"assistantId":"([^"]+)"/.exec(started)?.[1] ?? 'none';
    const body = frames.map((frame, index) => `id: ${index + 1}\ndata: ${frame.replace('@', id)}\n\n`).join('');
    return route.fulfill({
      contentType: 'text/event-stream',
      body: `: comment\n\nnonsense\n\n${body}data: [DONE]\n\n`,
    });
  });
  let started = '';
  await page.route('**/api/chat', async (route) => {
    const answer = await route.fetch();
    started = await answer.text();
    await route.fulfill({ response: answer, body: started });
  });
  await page.goto(installation.url);
  const field = page.getByLabel('Message', { exact: true });
  await field.fill('From the provider');
  await field.press('Enter');
  await expect(page.locator('[data-role="assistant"][aria-busy="false"]')).toHaveCount(1);
  await expect(field).toBeEnabled();
  expect(events).toEqual([]);
});
