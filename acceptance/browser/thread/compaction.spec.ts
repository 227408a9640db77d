import type { Page } from '@playwright/test';
import { addModels } from '../../product.ts';
import { expectAccessibleHere, expectNoSidewaysScroll } from '../accessible.ts';
import { expect, test } from '../fixtures.ts';

const field = (page: Page) => page.locator('[data-composer]');
const answers = (page: Page) => page.locator('[data-role="assistant"][aria-busy="false"]');
const line = (page: Page) => page.locator('details', { hasText: 'Earlier messages were summarized' });

async function ask(page: Page, text: string, count: number): Promise<void> {
  await field(page).fill(text);
  await field(page).press('Enter');
  await expect(answers(page)).toHaveCount(count);
}

test('summarizes a conversation past its window, and edits, repeats and undoes the summary', async ({
  page,
  person,
  installation,
  provider,
}) => {
  const [id] = await addModels(person.caller, provider, ['echo']);
  await person.caller.must('PATCH', '/api/models', { id, contextWindow: 3_000, maxOutputTokens: 500 });
  await page.goto(installation.url);
  const long = 'The tide rises at the pier and falls again before noon. '.repeat(20);
  for (let turn = 1; turn <= 5; turn += 1) await ask(page, `${turn}: ${long}`, turn);
  await expect(line(page)).not.toHaveCount(0);
  const newest = line(page).last();
  await newest.locator('summary').press('Enter');
  await expect(newest).toContainText('The model reads this in place of the messages above.');
  await expectAccessibleHere(page, 'details[data-summary][open]');
  await expectNoSidewaysScroll(page);

  await test.step('edits the summary', async () => {
    await newest.getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('textbox', { name: 'Edit the summary' }).fill('We spoke of the tide.');
    await page.keyboard.press('Control+Enter');
    await expect(newest).toContainText('We spoke of the tide.');
    await expect(newest.getByRole('button', { name: 'Edit' })).toBeFocused();
    await page.reload();
    await newest.locator('summary').press('Enter');
    await expect(newest).toContainText('We spoke of the tide.');
  });

  await test.step('summarizes again with a focus', async () => {
    await field(page).fill('');
    await field(page).pressSequentially('/comp');
    await expect(page.getByRole('option', { name: /\/compact/ })).toHaveAttribute('aria-selected', 'true');
    await page.keyboard.press('Enter');
    await expect(field(page)).toHaveValue('/compact ');
    await page.keyboard.type('the pier');
    const sent = page.waitForRequest('**/api/chats/compact');
    await page.keyboard.press('Enter');
    expect((await sent).postDataJSON()).toMatchObject({ focus: 'the pier' });
    await expect(field(page)).toHaveValue('');
    await expect(page.getByRole('status').getByText('Earlier messages were summarized.')).toBeAttached();
    await expect(page.locator('[data-role="user"]')).toHaveCount(5);
  });

  await test.step('undoes the summary', async () => {
    const before = await line(page).count();
    const last = line(page).last();
    if (!(await last.evaluate('(each) => each.open'))) await last.locator('summary').press('Enter');
    await last.getByRole('button', { name: 'Undo summary' }).press('Enter');
    await expect(line(page)).toHaveCount(before - 1);
    await expect(field(page)).toBeFocused();
  });
});
