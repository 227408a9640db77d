import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { type Json, type Running, scratchFolder, startProduct } from '../../product.ts';
import { expectAccessible, expectNoSidewaysScroll } from '../accessible.ts';
import { end, expect, password, test } from '../fixtures.ts';

/**
 * The path of a new user: from an empty machine to an answer in each protocol, and to the first answer of an invited
 * person.
 */

let product: Running;
test.afterEach(() => end(product));

/** Steps to add each provider; sizes in its list need not be typed. */
const kinds = [
  { preset: 'Anthropic', kind: 'anthropic', key: 'sk-ant-not-a-real-one', path: '', tellsSizes: true },
  { preset: 'OpenAI', kind: 'openai-responses', key: 'sk-proj-not-a-real-one', path: '/v1', tellsSizes: false },
  { preset: 'Google Gemini', kind: 'gemini', key: 'AIza-not-a-real-one', path: '', tellsSizes: true },
  { preset: 'Mistral', kind: 'openai', key: 'not-a-real-one', path: '/v1', tellsSizes: false },
] as const;

test('gets an answer of each protocol, and one for an invited person', async ({ page, browser, provider }) => {
  const { origin } = new URL(provider);
  product = await startProduct(join(scratchFolder(), 'data'));
  await page.goto(product.url);
  await page.getByLabel('Name').fill('Ada Lovelace');
  await page.getByLabel('E-mail address').fill('ada@example.org');
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Create account' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Add a provider');
  const protocol = page.getByLabel('Protocol');
  const address = page.getByLabel('Base URL');
  const key = page.getByLabel('API key');

  await test.step('selects the provider from a pasted key, and keeps a typed address', async () => {
    await key.fill('sk-ant-not-a-real-one');
    await expect(page.getByRole('radio', { name: 'Anthropic', exact: true })).toBeChecked();
    await expect(protocol).toHaveValue('anthropic');
    await expect(address).toHaveValue('https://api.anthropic.com');
    await key.fill('');
    await page.getByText('Ollama', { exact: true }).click();
    await expect(address).toHaveValue('http://localhost:11434/v1');
    await page.getByRole('button', { name: 'Find local servers' }).click();
    await expect(page.getByText('No model server answered')).toBeVisible();
    await page.getByText('Other', { exact: true }).click();
    await address.fill(provider);
    await key.fill('AIza-not-a-real-one');
    await expect(address).toHaveValue(provider);
    await expect(page.getByRole('radio', { name: 'Other', exact: true })).toBeChecked();
    await expect(protocol).toHaveValue('openai');
    await key.fill('');
  });

  await test.step('detects the wrong protocol for an address, and switches to the detected one', async () => {
    await protocol.selectOption('gemini');
    await page.getByLabel('Name', { exact: true }).fill('Wrong');
    await page.getByRole('button', { name: 'Test and continue' }).click();
    await expect(page.getByRole('alert')).toContainText('The server there answered as OpenAI-compatible');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Use OpenAI-compatible' }).click();
    await expect(protocol).toHaveValue('openai');
    await page.reload();
  });

  for (const [index, { preset, kind, key: pasted, path, tellsSizes }] of kinds.entries()) {
    await test.step(`gets an answer from ${preset} with a key`, async () => {
      await expect(page.getByRole('heading', { level: 1 })).toHaveText('Add a provider');
      await page.locator('label').getByText(preset, { exact: true }).click();
      await key.fill(pasted);
      await expect(page.getByRole('radio', { name: preset, exact: true })).toBeChecked();
      await expect(protocol).toHaveValue(kind);
      await address.fill(origin + path);
      // Another address with OpenAI's protocols usually supports chat completions only.
      await expect(protocol).toHaveValue(kind === 'openai-responses' ? 'openai' : kind);
      await protocol.selectOption(kind);
      await expect(page.getByRole('radio', { name: 'Only me' })).toBeChecked();
      if (preset === 'Mistral') await page.getByText('Everyone here').click();
      await expectNoSidewaysScroll(page);
      if (index === 0) await expectAccessible(page);
      await page.getByRole('button', { name: 'Test and continue' }).click();
      await page.getByLabel('Search models').fill('echo');
      await page.getByRole('checkbox', { name: /^echo/ }).check();
      await expect(page.getByLabel('Context window')).toHaveCount(tellsSizes ? 0 : 1);
      if (index === 0) await expectAccessible(page);
      await page.getByRole('button', { name: 'Add 1 model' }).click();
      await page.getByRole('link', { name: 'Start your first conversation' }).click();
      await ask(page, `Good morning, ${preset}`);
      expect(await asked(origin, `Good morning, ${preset}`)).toMatchObject([{ kind, model: 'echo' }]);
    });
    if (preset === 'Google Gemini') {
      await test.step('makes no invitation without a shared model, and shares one right there', async () => {
        await page.goto(`${product.url}/settings/admin/invitations`);
        await page.getByRole('button', { name: 'Invite', exact: true }).click();
        const dialog = page.getByRole('dialog');
        await expect(dialog.getByText('This person will have no model yet')).toBeVisible();
        await dialog.getByLabel('E-mail address').fill('early@example.org');
        await dialog.getByRole('button', { name: 'Create link' }).click();
        const without = dialog.getByRole('checkbox', { name: 'Invite without a model' });
        await expect(without).toBeFocused();
        await expect(dialog).toContainText('Share a model first, or choose to invite without one.');
        await expectAccessible(page);
        await dialog.getByRole('button', { name: `Share ${preset}` }).click();
        await expect(dialog.getByText(`${preset} is now shared with everyone here.`)).toBeVisible();
        await expect(without).toHaveCount(0);
        await dialog.getByRole('button', { name: 'Create link' }).click();
        await expect(dialog.getByLabel('Link', { exact: true })).toHaveValue(/invitation#token=/);
        await dialog.getByRole('button', { name: 'Done' }).click();
      });
    }
    // The setup begins again in an empty installation.
    if (index < kinds.length - 1) await removeProviders(page);
  }

  const dialog = page.getByRole('dialog');
  const link = await test.step('shows no warning on an invitation with a shared model', async () => {
    await page.goto(`${product.url}/settings/providers`);
    await expect(page.getByText('shared with everyone')).toBeVisible();
    await expectNoSidewaysScroll(page);
    await page.goto(`${product.url}/settings/admin/invitations`);
    await page.getByRole('button', { name: 'Invite', exact: true }).click();
    await dialog.getByLabel('E-mail address').fill('bob@example.org');
    await expect(dialog.getByText('This person will have no model yet')).toBeHidden();
    await dialog.getByRole('button', { name: 'Create link' }).click();
    return dialog.getByLabel('Link', { exact: true }).inputValue();
  });

  const theirs = await (await browser.newContext()).newPage();
  await test.step('answers an invited person without model settings', async () => {
    await theirs.goto(link);
    await theirs.getByLabel('Name', { exact: true }).fill('Bob');
    await theirs.getByLabel('Password', { exact: true }).fill(password);
    await theirs.getByRole('button', { name: 'Create account' }).click();
    await ask(theirs, 'Good morning');
    await theirs.getByRole('button', { name: /^Model:/ }).click();
    await expect(theirs.getByRole('option', { name: /^Default/ })).toContainText('echo');
    await expectAccessible(theirs);
    await theirs.getByRole('checkbox', { name: /^Favorite: echo/ }).check();
    await expect(theirs.getByRole('checkbox', { name: /^Favorite: echo/ })).toBeChecked();
    await theirs.goto(`${product.url}/settings/providers`);
    await expect(theirs.getByText('shared by an administrator')).toBeVisible();
    await expect(theirs.getByRole('button', { name: 'Edit Mistral' })).toHaveCount(0);
    await expectAccessible(theirs);
  });

  await test.step('reports a model that is no longer shared', async () => {
    await page.goto(`${product.url}/settings/providers`);
    await page.getByRole('button', { name: 'Edit Mistral' }).click();
    await dialog.getByText('Only me').click();
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect(page.getByText('shared with everyone')).toHaveCount(0);
    await theirs.getByRole('link', { name: /Good morning/ }).click();
    await theirs.getByLabel('Message', { exact: true }).fill('And now?');
    await theirs.getByLabel('Message', { exact: true }).press('Enter');
    await expect(theirs.getByText('No model is available')).toBeVisible();
  });
  await theirs.context().close();
});

async function ask(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message', { exact: true }).fill(text);
  await page.getByLabel('Message', { exact: true }).press('Enter');
  await expect(page.locator('[data-role="assistant"][aria-busy="false"]')).toContainText(text);
}

/**
 * Requests with this text to the scripted server, with their protocol. All tests share the server, and running answers
 * of other tests can call it at any time.
 */
async function asked(origin: string, text: string): Promise<Json[]> {
  const requests: Json[] = Object(await (await fetch(`${origin}/requests`)).json());
  return requests.filter(({ lastText }) => lastText === text);
}

async function removeProviders(page: Page): Promise<void> {
  const { providers } = await (await page.request.get(`${product.url}/api/providers`)).json();
  for (const { id } of providers) {
    const headers = { origin: product.url };
    expect((await page.request.delete(`${product.url}/api/providers?id=${id}`, { headers })).ok()).toBe(true);
  }
  await page.goto(`${product.url}/setup`);
}
