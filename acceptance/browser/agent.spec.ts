import type { Page } from '@playwright/test';
import { startFakeProvider } from '../../server/test/fakes/provider.ts';
import { chunk, finish, say } from '../../server/test/fakes/provider-scripts.ts';
import { addModels } from '../product.ts';
import { expectAccessible, expectNoSidewaysScroll } from './accessible.ts';
import { expect, test } from './fixtures.ts';

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

test('a plan is shown above the field; questions are answered with the keyboard, and show what was said', async ({
  page,
  person,
  installation,
}) => {
  const provider = await startFakeProvider();
  provider.script('agent', (call) => {
    const results = (call.body.messages ?? []).filter(({ role }) => role === 'tool').length;
    const uses = [
      ['plan', JSON.stringify({ items })],
      ['ask', JSON.stringify({ questions })],
    ][results];
    if (uses === undefined) return { steps: [...say('It is drawn.'), ...finish(call, 3)] };
    const tool = { index: 0, id: `call-${results}`, function: { name: uses[0], arguments: uses[1] } };
    return { steps: [chunk({ tool_calls: [tool] }), ...finish(call, 2, 'tool_calls')] };
  });
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
  await provider.close();
});
