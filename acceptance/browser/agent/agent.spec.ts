import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Page } from '@playwright/test';
import { addModels, type Json } from '../../product.ts';
import { expectAccessible, expectNoSidewaysScroll } from '../accessible.ts';
import { expect, test } from '../fixtures.ts';

/** Plans and questions of the model. */

const field = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true });
const items = [
  { content: 'Look at the harbour', status: 'completed' },
  { content: 'Draw the map', status: 'in_progress' },
];
const questions = [
  {
    header: 'Colour',
    question: 'Which colour?',
    options: [{ label: 'Red' }, { label: 'Blue', description: 'Like the sea' }],
  },
  { question: 'What is it called?', options: [] },
];

/** A model that plans, asks, and answers "done". */
async function startAgent() {
  const uses = [
    ['plan', JSON.stringify({ items })],
    ['ask', JSON.stringify({ questions })],
  ] as const;
  const server = createServer(async (request, response) => {
    const { messages = [] }: { messages?: Json[] } = JSON.parse((await text(request)) || '{}');
    const results = messages.filter(({ role }) => role === 'tool').length;
    const use = uses[results];
    const call = { index: 0, id: `call-${results}`, function: { name: use?.[0], arguments: use?.[1] } };
    const delta = use === undefined ? { content: 'It is drawn.' } : { tool_calls: [call] };
    const events = [
      { choices: [{ index: 0, delta }] },
      { choices: [{ index: 0, delta: {}, finish_reason: use === undefined ? 'stop' : 'tool_calls' }] },
    ];
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')}data: [DONE]\n\n`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No port');
  return { url: `http://127.0.0.1:${address.port}/v1`, close: () => server.close() };
}

test('shows a plan above the field, and answers questions by keyboard', async ({ page, person, installation }) => {
  const provider = await startAgent();
  await addModels(person.caller, provider.url, ['agent']);
  const { chat } = await person.caller.must('POST', '/api/chats', { title: 'Harbour map' });
  await page.goto(`${installation.url}/c/${chat.id}`);
  await field(page).fill('Draw it');
  await field(page).press('Enter');
  const composer = page.locator('section', { has: field(page) });
  await expect(composer.locator('[data-plan]')).toContainText('1 of 2 done');
  const card = page.getByRole('region', { name: 'Questions for you' });
  await expect(card).toContainText('Which colour?');
  await expect(card.getByRole('button', { name: 'Answer' })).toBeDisabled();
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await page.setViewportSize({ width: 390, height: 844 });
  await expectNoSidewaysScroll(page);
  await card.getByRole('radio', { name: /Red/ }).focus();
  await page.keyboard.press('ArrowDown');
  await expect(card.getByRole('radio', { name: /Blue/ })).toBeChecked();
  await card.getByRole('textbox').last().fill('Old Harbour');
  await page.keyboard.press('Enter');
  await expect(page.getByText('It is drawn.')).toBeVisible();
  await expect(card).toContainText('Old Harbour');
  await page.reload();
  await expect(card).toContainText('Blue');
  provider.close();
});
