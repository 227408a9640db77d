import { join } from 'node:path';
import { type Running, scratchFolder, startProduct } from '../product.ts';
import { expectAccessible, expectNoSidewaysScroll } from './accessible.ts';
import { end, expect, password, test } from './fixtures.ts';

/** Models that an administrator shares: from an empty installation to an invited person's first answer. */

let product: Running;
test.afterEach(() => end(product));

test('whoever is invited gets an answer without typing anything about models', async ({ page, browser, provider }) => {
  product = await startProduct(join(scratchFolder(), 'data'));
  await page.goto(product.url);
  await page.getByLabel('Name').fill('Ada Lovelace');
  await page.getByLabel('E-mail address').fill('ada@example.org');
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Create account' }).click();

  await test.step('a pasted key picks its provider; the address that was typed stays', async () => {
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Add a provider');
    await page.getByLabel('API key').fill('sk-ant-not-a-real-one');
    await expect(page.getByRole('radio', { name: 'Anthropic', exact: true })).toBeChecked();
    await expect(page.getByLabel('Protocol')).toHaveValue('anthropic');
    await expect(page.getByLabel('Base URL')).toHaveValue('https://api.anthropic.com');
    await page.getByLabel('API key').fill('');
    await page.getByText('Ollama', { exact: true }).click();
    await expect(page.getByLabel('Base URL')).toHaveValue('http://localhost:11434/v1');
    await page.getByRole('button', { name: 'Find local servers' }).click();
    await expect(page.getByText('No model server answered')).toBeVisible();
    await page.getByText('Other', { exact: true }).click();
    await page.getByLabel('Name', { exact: true }).fill('House');
    await page.getByLabel('Base URL').fill(provider);
    await page.getByLabel('API key').fill('AIza-not-a-real-one');
    await expect(page.getByLabel('Base URL')).toHaveValue(provider);
    await expect(page.getByRole('radio', { name: 'Other', exact: true })).toBeChecked();
    await expect(page.getByLabel('Protocol')).toHaveValue('openai');
  });

  await test.step('with whom to share it is asked; only me is the default', async () => {
    await expect(page.getByRole('radio', { name: 'Only me' })).toBeChecked();
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
    await page.getByRole('button', { name: 'Test and continue' }).click();
    await page.getByLabel('Search models').fill('echo');
    await page.getByRole('checkbox', { name: 'echo', exact: true }).check();
    await page.getByRole('button', { name: 'Add 1 model' }).click();
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('You’re all set');
  });

  const dialog = page.getByRole('dialog');
  await test.step('an invitation warns as long as nothing is shared', async () => {
    await page.goto(`${product.url}/settings/admin/invitations`);
    await page.getByRole('button', { name: 'Invite', exact: true }).click();
    await expect(dialog.getByText('This person will have no model yet')).toBeVisible();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.goto(`${product.url}/settings/providers`);
    await page.getByRole('button', { name: 'Edit House' }).click();
    await dialog.getByText('Everyone here').click();
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect(page.getByText('shared with everyone')).toBeVisible();
    await expectNoSidewaysScroll(page);
  });

  const link = await test.step('with a shared model it does not', async () => {
    await page.goto(`${product.url}/settings/admin/invitations`);
    await page.getByRole('button', { name: 'Invite', exact: true }).click();
    await dialog.getByLabel('E-mail address').fill('bob@example.org');
    await expect(dialog.getByText('This person will have no model yet')).toBeHidden();
    await dialog.getByRole('button', { name: 'Create link' }).click();
    return dialog.getByLabel('Link', { exact: true }).inputValue();
  });

  const theirs = await (await browser.newContext()).newPage();
  await theirs.goto(link);
  await theirs.getByLabel('Name', { exact: true }).fill('Bob');
  await theirs.getByLabel('Password', { exact: true }).fill(password);
  await theirs.getByRole('button', { name: 'Create account' }).click();
  await theirs.getByLabel('Message', { exact: true }).fill('Good morning');
  await theirs.getByLabel('Message', { exact: true }).press('Enter');
  await expect(theirs.getByRole('log')).toContainText('Good morning');
  await expect(theirs.getByRole('button', { name: 'Regenerate', exact: true })).toBeVisible();
  await theirs.getByRole('button', { name: /^Model:/ }).click();
  await expect(theirs.getByRole('option', { name: /^echo House/ })).toBeVisible();
  await expectAccessible(theirs);
  await theirs.getByRole('checkbox', { name: /^Favorite: echo/ }).check();
  await expect(theirs.getByRole('group', { name: 'Favorites' }).getByRole('option')).toHaveCount(1);
  await theirs.goto(`${product.url}/settings/providers`);
  await expect(theirs.getByText('shared by an administrator')).toBeVisible();
  await expect(theirs.getByRole('button', { name: 'Edit House' })).toHaveCount(0);
  await expectAccessible(theirs);
  await theirs.context().close();
});
