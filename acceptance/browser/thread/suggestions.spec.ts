import type { Page } from '@playwright/test';
import { addModels } from '../../product.ts';
import { expectAccessible, expectAccessibleHere } from '../accessible.ts';
import { expect, test } from '../fixtures.ts';

/** A text field, and a combobox while it offers something. */
const field = (page: Page) => page.locator('[data-composer]');
const answers = (page: Page) => page.locator('[data-role="assistant"][aria-busy="false"]');
const selected = (page: Page) =>
  page.evaluate(`(() => {
    const { value, selectionStart, selectionEnd } = document.querySelector('[data-composer]');
    return value.slice(selectionStart, selectionEnd);
  })()`);

/** Time in which a page that does not wait would have sent something. */
const manyFrames = `new Promise((resolve) => {
  let left = 30;
  const next = () => (left-- === 0 ? resolve() : requestAnimationFrame(next));
  next();
})`;

test('finds a saved prompt by name, inserts it, and fills it in with Tab', async ({
  page,
  person,
  installation,
  provider,
}) => {
  await addModels(person.caller, provider, ['echo']);
  const text = 'Write to {{name}} about {{the topic}}.\nKeep it short.';
  for (const prompt of [
    { name: 'letter', title: 'A letter', text },
    { name: 'usage', title: 'How to use it', text: 'How do I use this?' },
  ])
    await person.caller.must('POST', '/api/prompts', prompt);
  await page.goto(installation.url);
  await expect(field(page)).toBeFocused();
  const list = page.getByRole('listbox', { name: 'Prompts, skills and commands' });
  await page.keyboard.type('Please /');
  await expect(list.getByRole('option')).toHaveText([/^\/usage/, /^\/letter/]);
  await expect(page.getByRole('combobox', { name: 'Message' })).toHaveAttribute('aria-activedescendant', /.+/);
  await page.keyboard.press('ArrowDown');
  await expect(list.getByRole('option', { name: /letter/ })).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('Escape');
  await expect(list).toHaveCount(0);
  await page.keyboard.type('usr/bin is a path');
  await expect(field(page)).toHaveValue('Please /usr/bin is a path');
  await expect(list).toHaveCount(0);
  await field(page).fill('');
  await page.keyboard.type('/let');
  await expect(list.getByRole('option')).toHaveCount(1);
  await page.keyboard.press('Enter');
  const asked = page.getByRole('dialog', { name: 'A letter' });
  await expect(asked.getByLabel('name')).toBeFocused();
  await expectAccessibleHere(page);
  await page.keyboard.type('Ada');
  await page.keyboard.press('Enter');
  await expect(field(page)).toHaveValue(text.replace('{{name}}', 'Ada'));
  await expect(page.getByRole('status').getByText('Press Tab to go to the next placeholder.')).toBeVisible();
  expect(await selected(page)).toBe('{{the topic}}');
  await page.keyboard.type('the tide');
  await page.keyboard.press('Tab');
  await expect(field(page)).not.toBeFocused();
  await field(page).focus();
  await page.keyboard.press('Control+z');
  await page.keyboard.press('Control+Shift+z');
  await page.keyboard.press('Enter');
  await expect(page.locator('[data-role="user"]')).toContainText('Write to Ada about the tide.');
  await expect(answers(page)).toHaveCount(1);
  await page.keyboard.type('/');
  await expect(list.getByRole('option').first()).toHaveText(/^\/letter/);
  await expectAccessibleHere(page);
});

test('chooses an assistant with @, from the start page or by address, and names its version', async ({
  page,
  person,
  installation,
  provider,
}) => {
  await addModels(person.caller, provider, ['echo']);
  const { assistant } = await person.caller.must('POST', '/api/assistants', {
    name: 'Harbour pilot',
    description: 'Knows every tide.',
    icon: '⚓',
    instructions: 'Speak of the sea.',
    starters: ['When is high water?', 'Where may I anchor?'],
  });
  await page.goto(installation.url);
  await page.getByRole('button', { name: /^Harbour pilot/ }).click();
  await expect(page).toHaveURL(`${installation.url}/?assistant=${assistant.id}`);
  await expect(page.getByRole('button', { name: 'Continue without Harbour pilot' })).toBeVisible();
  await expectAccessible(page);
  await page.reload();
  await page.getByRole('button', { name: 'When is high water?' }).click();
  await expect(field(page)).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(answers(page)).toHaveCount(1);
  await expect(answers(page)).toContainText('Harbour pilot, version 1');

  const sent: string[] = [];
  page.on('request', (request) => void sent.push(`${request.method()} ${new URL(request.url()).pathname}`));
  let known = Promise.withResolvers<void>();
  await page.route('**/api/chats', async (route) => {
    if (route.request().method() === 'PATCH') await known.promise;
    await route.continue();
  });
  await test.step('sends a message after the server has stored the assistant', async () => {
    await page.getByRole('button', { name: 'Continue without Harbour pilot' }).press('Enter');
    await expect(field(page)).toBeFocused();
    await page.keyboard.type('alone');
    await page.keyboard.press('Enter');
    await expect(field(page)).toBeDisabled();
    await page.evaluate(manyFrames);
    expect(sent).toContain('PATCH /api/chats');
    expect(sent).not.toContain('POST /api/chat/start');
    known.resolve();
    await expect(answers(page)).toHaveCount(2);
  });
  await expect(answers(page).last()).not.toContainText('Harbour pilot');
  await person.caller.must('PATCH', '/api/assistants', { id: assistant.id, description: 'Knows the currents.' });
  await page.keyboard.type('@harb');
  const option = page.getByRole('listbox', { name: 'Assistants' }).getByRole('option', { name: /Harbour pilot/ });
  await expect(option).toHaveAttribute('aria-selected', 'true');
  known = Promise.withResolvers();
  sent.length = 0;
  await page.keyboard.press('Enter');
  await expect(field(page)).toHaveValue('');
  await expect(page.getByRole('button', { name: 'Continue without Harbour pilot' })).toBeVisible();
  await test.step('regenerates after the server has stored the assistant', async () => {
    await page.getByRole('button', { name: 'Regenerate', exact: true }).last().press('Enter');
    await page.evaluate(manyFrames);
    expect(sent).toContain('PATCH /api/chats');
    expect(sent).not.toContain('POST /api/chat');
    known.resolve();
    await expect(answers(page).last()).toContainText('Harbour pilot, version 2');
  });
  await field(page).focus();
  await page.keyboard.type('together');
  await page.keyboard.press('Enter');
  await expect(answers(page)).toHaveCount(3);
  await expect(answers(page).last()).toContainText('Harbour pilot, version 2');
});
