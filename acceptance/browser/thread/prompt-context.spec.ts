import type { Page } from '@playwright/test';
import { addModels } from '../../product.ts';
import { expectAccessible, expectNoSidewaysScroll } from '../accessible.ts';
import { expect, test } from '../fixtures.ts';

type Asked = { lastText: string; system?: string; reasoningEffort?: string };

const field = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true });
const answers = (page: Page) => page.locator('[data-role="assistant"][aria-busy="false"]');
const list = (page: Page) => page.getByRole('navigation', { name: 'Conversations' });

async function ask(page: Page, text: string, count: number): Promise<void> {
  await field(page).fill(text);
  await field(page).press('Enter');
  await expect(answers(page)).toHaveCount(count);
}

/** Requests to the provider with the message `text`. */
async function askedWith(provider: string, text: string): Promise<Asked[]> {
  const all: Asked[] = JSON.parse(await (await fetch(new URL('/requests', provider))).text());
  return all.filter(({ lastText }) => lastText.includes(text));
}

test('selects the effort by keyboard, sends it with each turn, and keeps it over a reload', async ({
  page,
  person,
  installation,
  provider,
}) => {
  await addModels(person.caller, provider, ['echo']);
  await page.goto(installation.url);
  await ask(page, 'effort of nobody', 1);
  expect((await askedWith(provider, 'effort of nobody')).map(({ reasoningEffort }) => reasoningEffort)).toEqual([
    undefined,
  ]);
  const menu = page.getByRole('menu', { name: 'Reasoning effort' });
  await page.getByRole('button', { name: 'Add files and tools' }).press('Enter');
  await expect(page.locator('[role="menu"]:focus-within')).toBeVisible();
  await page.getByRole('menuitem', { name: 'Reasoning effort…' }).press('Enter');
  await expect(menu.getByRole('menuitemradio', { name: 'Default' })).toHaveAttribute('aria-checked', 'true');
  await expect(menu).toContainText('How long the model thinks');
  await menu.getByRole('menuitemradio', { name: 'High', exact: true }).press('Enter');
  const effort = page.getByRole('button', { name: 'Reasoning effort: High' });
  await expect(effort).toBeFocused();
  await ask(page, 'effort of mine', 2);
  await page.reload();
  await expect(effort).toBeVisible();
  await page.getByRole('button', { name: 'Regenerate', exact: true }).last().click();
  await expect(page.getByText('Version 2 of 2')).toBeAttached();
  await expect(answers(page)).toHaveCount(2);
  expect((await askedWith(provider, 'effort of mine')).map(({ reasoningEffort }) => reasoningEffort)).toEqual([
    'high',
    'high',
  ]);
  await effort.click();
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
});

test('shows the text sent to the provider, also after it was changed', async ({
  page,
  person,
  installation,
  provider,
}) => {
  await addModels(person.caller, provider, ['echo']);
  await person.caller.must('PATCH', '/api/me/personalization', { instructions: 'Answer in rhymes.' });
  await page.goto(installation.url);
  await ask(page, 'shown as it was', 1);
  await ask(page, 'and once more', 2);
  await person.caller.must('PATCH', '/api/me/personalization', { instructions: null });
  const button = answers(page).first().getByRole('button', { name: 'What the model saw' });
  await button.press('Enter');
  const panel = page.getByRole('complementary', { name: 'What the model saw' });
  await expect(panel.getByRole('heading', { name: 'What the model saw' })).toBeFocused();
  await expect(panel).toContainText('Counted by the provider.');
  await expect(panel).toContainText('1 sent');
  const folds = panel.locator('details');
  const [asked] = await askedWith(provider, 'shown as it was');
  expect(asked?.system).toContain('Answer in rhymes.');
  for (const fold of await folds.all()) await fold.locator('summary').press('Enter');
  const texts = await folds.locator('pre').allTextContents();
  expect(texts.join('\n\n')).toBe(asked?.system);
  await expectAccessible(page);
  await page.reload();
  await expect(panel).toContainText('Right now');
  await panel.getByRole('button', { name: /^You: shown as it was/ }).click();
  await expect(page.locator('[data-role="user"]').first()).toBeFocused();
  await page.setViewportSize({ width: 390, height: 844 });
  const sheet = page.getByRole('dialog', { name: 'What the model saw' });
  await expect(sheet).toContainText('Reserved for the answer');
  await expectNoSidewaysScroll(page);
  await page.setViewportSize({ width: 1280, height: 800 });
  await panel.getByRole('button', { name: 'Close' }).click();
  await expect(panel).toHaveCount(0);

  await test.step('shows the use of the window in the gauge', async () => {
    await page.getByRole('button', { name: /of the context window used/ }).click();
    await expect(page.getByRole('menu')).toContainText(/Messages\s*\d/);
    await page.getByRole('menuitem', { name: 'What the model saw' }).click();
    await expect(panel).toContainText('3 sent');
  });

  await test.step('reports an answer without a stored context', async () => {
    await installation.query('delete from told_contexts');
    await page.reload();
    await expect(panel).toContainText('Nothing was kept for this answer');
    await expect(panel.getByRole('button', { name: 'Regenerate' })).toBeVisible();
  });
});

test('marks a temporary conversation, leaves it out of the list, and keeps or ends it', async ({
  page,
  person,
  installation,
  provider,
}) => {
  await addModels(person.caller, provider, ['echo']);
  await page.goto(installation.url);
  await field(page).fill('between us');
  await page.getByRole('button', { name: 'Add files and tools' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Temporary conversation' }).click();
  await expect(page.getByText('deleted 24 hours after its last use')).toBeVisible();
  await expect(field(page)).toHaveValue('between us');
  await ask(page, 'between us', 1);
  const mark = page.getByRole('region', { name: 'Temporary conversation' });
  await expect(mark).toContainText('24 hours');
  await page.reload();
  await expect(answers(page)).toContainText('between us');
  await expect(list(page).getByRole('link', { name: /Temporary conversation|between us/ })).toHaveCount(0);
  await expectAccessible(page);
  await mark.getByRole('button', { name: 'Keep it' }).click();
  await expect(mark).toHaveCount(0);
  await expect(list(page).getByRole('link')).not.toHaveCount(0);

  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('temporary');
  await page.getByRole('option', { name: 'New temporary conversation' }).click();
  await expect(page.getByText('deleted 24 hours after its last use')).toBeVisible();
  await ask(page, 'soon gone', 1);
  const address = page.url();
  await mark.getByRole('button', { name: 'End now' }).press('Enter');
  await expect(page.getByRole('button', { name: 'Cancel' })).toBeFocused();
  await page.getByRole('button', { name: 'Delete now' }).press('Enter');
  await expect(page).toHaveURL(`${installation.url}/`);
  await page.goto(address);
  await expect(page.getByText('Conversation not found')).toBeVisible();
});
