import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { Page } from '@playwright/test';
import { addModels, type Caller } from '../../product.ts';
import { expectAccessible, expectNoSidewaysScroll } from '../accessible.ts';
import { expect, type Installation, test } from '../fixtures.ts';

/** The parts of an answer besides its text, copying, and search hits. */

const field = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true });
const answer = (page: Page) => page.locator('[data-role="assistant"]').last();

async function newChat(caller: Caller, title = 'Harbour notes'): Promise<string> {
  return (await caller.must('POST', '/api/chats', { title })).chat.id;
}

/** A response stream whose frames the test sends one by one; the page gets it instead of the product's. */
async function playStream(page: Page) {
  let sequence = 0;
  let follower: ServerResponse | undefined;
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    follower = response;
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No port');
  const url = `http://127.0.0.1:${address.port}/stream`;
  await page.route('**/api/chat/*/stream*', (route) => route.continue({ url }));
  const send = async (...frames: Record<string, unknown>[]) => {
    await expect.poll(() => follower !== undefined).toBe(true);
    for (const frame of frames) {
      sequence += 1;
      follower?.write(`id: ${sequence}\ndata: ${JSON.stringify(frame)}\n\n`);
    }
  };
  const close = () => {
    follower?.destroy();
    server.close();
  };
  return { send, close };
}

const tool = (toolCallId: string, toolName: string) => ({ toolCallId, toolName, dynamic: true });

/** Transform of a right-pointing icon that points down. */
const quarterTurn = 'matrix(0, 1, -1, 0, 0, 0)';

/** Icons of rows that lost their size, words that are cut, and subjects of which little is seen. */
const shrunk = (page: Page) =>
  page.evaluate<string[]>(`
  [...document.querySelectorAll('[data-role="assistant"] summary > *')]
    .filter((each) => each.checkVisibility())
    .filter((each) => {
      const { left, right, width, height } = each.getBoundingClientRect();
      if (each.tagName === 'svg') return width !== 15 || height !== 15;
      const isSubject = each.hasAttribute('dir');
      const isCut = each.scrollWidth > each.clientWidth && !(isSubject && width > 250);
      return isCut || left < 0 || right > innerWidth;
    })
    .map((each) => each.tagName + ' ' + each.textContent + ' ' + each.getBoundingClientRect().width)`);

test('folds, times and groups thoughts and tools while they arrive', async ({
  page,
  person,
  installation,
  provider,
}) => {
  await addModels(person.caller, provider, ['hang-5']);
  const chatId = await newChat(person.caller);
  await page.clock.install();
  const stream = await playStream(page);
  await page.goto(`${installation.url}/c/${chatId}`);
  const announcements: string[] = [];
  await page.exposeFunction('announced', (text: string) => announcements.push(text));
  await field(page).fill('Go');
  await expect(page.locator('main > [role="status"]')).toBeAttached();
  await page.evaluate(`new MutationObserver((records) => {
    for (const { target } of records) announced(target.textContent);
  }).observe(document.querySelector('main > [role="status"]'), { childList: true, characterData: true, subtree: true })`);
  await field(page).press('Enter');
  await expect(page.getByRole('button', { name: 'Stop' })).toBeVisible();
  await expect(page.getByText('Thinking', { exact: true })).toBeVisible();
  await expect(page.getByRole('log')).toHaveAttribute('aria-live', 'off');

  await test.step('shows thoughts', async () => {
    await stream.send(
      { type: 'start', messageId: (await person.caller.must('GET', `/api/chats?id=${chatId}`)).response.assistantId },
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning-delta', id: 'r', delta: 'Tides **turn** twice a day.' },
    );
    await expect(answer(page)).toContainText('Thinking…');
    await page.clock.fastForward(5_000);
    await expect(answer(page)).toContainText(/Thinking for \d+ s/);
    await stream.send({ type: 'reasoning-end', id: 'r' });
    await expect(answer(page)).toContainText(/Thought for \d+ s/);
    await expect(answer(page).getByText('Tides turn twice a day.')).toBeHidden();
    await answer(page)
      .getByText(/Thought for/)
      .click();
    await expect(answer(page).getByText('Tides turn twice a day.')).toBeVisible();
  });

  await test.step('shows a tool', async () => {
    await stream.send(
      { type: 'tool-input-start', ...tool('c1', 'tide_table') },
      { type: 'tool-input-delta', toolCallId: 'c1', inputTextDelta: '{"port":' },
    );
    await expect(answer(page)).toContainText('preparing');
    await stream.send({ type: 'tool-input-available', ...tool('c1', 'tide_table'), input: { port: 'Emden' } });
    await expect(answer(page)).toContainText('running');
    await page.clock.fastForward(8_000);
    await stream.send({ type: 'tool-output-available', toolCallId: 'c1', output: { high: '06:12' }, dynamic: true });
    await expect(answer(page)).toContainText(/done\s*\d+ s/);
    await expect(answer(page).getByText('06:12')).toBeHidden();
    await answer(page).getByText('tide_table').click();
    await expect(answer(page).getByText('06:12')).toBeVisible();
    await expect(answer(page).getByText('Emden')).toBeVisible();
  });

  await test.step('groups many tools in one line with the current step and failures', async () => {
    await stream.send(
      { type: 'tool-input-available', ...tool('c2', 'weather'), input: {} },
      { type: 'tool-output-error', toolCallId: 'c2', errorText: 'No wind data', dynamic: true },
      { type: 'tool-input-available', ...tool('c3', 'ferries'), input: {} },
    );
    const steps = answer(page).locator('[data-part="steps"]');
    await expect(steps.locator('> summary')).toHaveText(/3 steps\s*ferries\s*1 failed/);
    await steps.locator('> summary').click();
    await steps.getByText('weather').click();
    await expect(steps.getByText('No wind data')).toBeVisible();
    // The transition begins at once, so the closed one has also arrived when its icon turns.
    await expect(steps.locator('> summary > svg').first()).toHaveCSS('transform', quarterTurn);
    const chevron = (tool: string) => steps.locator('[data-state] > summary', { hasText: tool }).locator('svg').first();
    await expect(chevron('weather')).toHaveCSS('transform', quarterTurn);
    for (const closed of ['tide_table', 'ferries']) await expect(chevron(closed)).toHaveCSS('transform', 'none');
    await expectAccessible(page);
  });

  await test.step('shows text, and a part of an unknown type', async () => {
    await stream.send(
      { type: 'tool-output-available', toolCallId: 'c3', output: 'ok', dynamic: true },
      { type: 'hologram', depth: 3 },
      { type: 'text-start', id: 't' },
      { type: 'text-delta', id: 't', delta: 'High water is at 06:12.' },
    );
    await expect(answer(page)).toContainText('High water is at 06:12.');
  });

  await test.step('shows the icon of an embedded file by type', async () => {
    const files = answer(page).getByRole('link', { name: 'File', exact: true });
    await stream.send({ type: 'file', mediaType: 'text/csv', url: 'data:text/csv,a%2Cb' });
    await expect(files.locator('svg')).toHaveClass(/file-spreadsheet/);
    await stream.send({ type: 'file', mediaType: 'audio/ogg', url: 'data:audio/ogg,a' });
    await expect(files.last().locator('svg')).toHaveClass(/file-music/);
  });

  await test.step('keeps icon sizes and whole words on a phone', async () => {
    const command = 'node scripts/berths.mjs --from 2031-05-01 --to 2031-05-31 --harbour Emden';
    const end = { kind: 'exit', code: 1 };
    const longName = 'mcp__Harbour_office__berth_reservations_of_the_week_before_last';
    await stream.send(
      { type: 'tool-input-available', ...tool('c4', 'bash'), input: { command } },
      {
        type: 'tool-output-available',
        toolCallId: 'c4',
        output: { text: 'No', end, milliseconds: 9_000 },
        dynamic: true,
      },
      { type: 'tool-input-available', ...tool('c5', longName), input: {} },
    );
    await page.setViewportSize({ width: 390, height: 844 });
    await expect(answer(page)).toContainText('berth_reservations_of_the_week_before_last');
    await expect(answer(page).locator('summary', { hasText: 'exit code 1' })).toContainText(command);
    await expect.poll(() => shrunk(page)).toEqual([]);
    await expectNoSidewaysScroll(page);
  });

  await person.caller.must('POST', `/api/chat/${chatId}/stop`, {});
  await page.unroute('**/api/chat/*/stream*');
  stream.close();
  await page.clock.runFor(20_000);
  await expect(page.getByText('You stopped this answer.')).toBeVisible();
  await expect.poll(() => announcements).toEqual(['Answer in progress.', 'Answer stopped.']);
});

test('copies an answer as Markdown and as rich text, and code alone', async ({
  page,
  context,
  person,
  installation,
  provider,
}) => {
  await addModels(person.caller, provider, ['echo']);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const text = '## Tides\n\nHigh **water** at [six](https://tides.example/).\n\n```js\nconst a = 1;\n```';
  await page.goto(installation.url);
  await field(page).fill(text);
  await field(page).press('Enter');
  await expect(page.locator('[data-role="assistant"][aria-busy="false"]')).toBeVisible();
  await answer(page).getByRole('button', { name: 'Copy message' }).click();
  await expect(answer(page).getByRole('button', { name: 'Message copied' })).toBeVisible();
  const copied: Record<string, string> = await page.evaluate(`(async () => {
    const [item] = await navigator.clipboard.read();
    const entries = item.types.map(async (type) => [type, await (await item.getType(type)).text()]);
    return Object.fromEntries(await Promise.all(entries));
  })()`);
  expect(copied['text/plain']?.trim()).toBe(text);
  expect(copied['text/html']).toContain('<strong>water</strong>');
  expect(copied['text/html']).toContain('href="https://tides.example/"');
  expect(copied['text/html']).not.toMatch(/class=|<button|style=/);
  await answer(page).getByRole('button', { name: 'Copy code' }).click();
  await expect(answer(page).getByRole('button', { name: 'Code copied' })).toBeVisible();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe('const a = 1;');
});

/** A conversation of `count` messages, as if it had been held. */
async function holdConversation(installation: Installation, chatId: string, count: number): Promise<void> {
  await installation.query(`
    insert into messages (id, chat_id, parent_id, role, parts, status, search, created_at)
    select '${chatId}-' || n, c.id, case when n > 1 then '${chatId}-' || (n - 1) end,
      case when n % 2 = 1 then 'user' else 'assistant' end,
      json_build_array(json_build_object('type', 'text', 'state', 'done', 'text', x.words))::text,
      'complete', to_tsvector('simple', x.words) || array_to_tsvector(array[':' || c.owner_id]), now()
    from chats c, generate_series(1, ${count}) n,
      lateral (select case when n = 4 then 'The lighthouse stands here' else 'Message number ' || n end as words) x
    where c.id = '${chatId}' order by n;
    update chats set active_message_id = '${chatId}-${count}' where id = '${chatId}'`);
}

test('opens a hit far back, and loads older messages without a jump', async ({ page, person, installation }) => {
  const chatId = await newChat(person.caller);
  await holdConversation(installation, chatId, 160);
  await page.goto(`${installation.url}/c/${chatId}`);
  const messages = page.locator('[data-message]');
  await expect(page.getByText('Message number 160', { exact: true })).toBeInViewport();
  const loaded = await messages.count();
  expect(loaded).toBeLessThan(160);
  const first = messages.first();
  await first.scrollIntoViewIfNeeded();
  const id = await first.getAttribute('data-message');
  const anchor = page.locator(`[data-message="${id}"]`);
  const before = (await anchor.boundingBox())?.y ?? 0;
  await page.getByRole('button', { name: 'Show older messages' }).click();
  await expect.poll(() => messages.count()).toBeGreaterThan(loaded);
  await expect.poll(async () => Math.abs(((await anchor.boundingBox())?.y ?? 0) - before)).toBeLessThan(4);

  await page.reload();
  await page.getByRole('searchbox').fill('lighthouse');
  const hit = page.getByRole('link', { name: /Harbour notes/ });
  // Until the answer is there, it is the row of the list.
  await expect(hit).toHaveAttribute('href', /find=lighthouse/);
  await hit.click();
  const bar = page.getByRole('search', { name: 'Matches in this conversation' });
  await expect(bar).toContainText('1 of 1');
  await expect(page.getByText('The lighthouse stands here')).toBeInViewport();
});
