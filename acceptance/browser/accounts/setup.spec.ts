import { join } from 'node:path';
import { freePort, type Running, scratchFolder, startProduct } from '../../product.ts';
import { expectAccessible, expectNoSidewaysScroll } from '../accessible.ts';
import { end, expect, finishAnswers, password, signIn, test } from '../fixtures.ts';

const ada = { name: 'Ada Lovelace', email: 'ada@example.org' };

let product: Running;
test.afterEach(() => end(product));

test('sets up an empty installation and streams an answer over a reload', { tag: '@smoke' }, async ({
  page,
  provider,
}) => {
  product = await startProduct(join(scratchFolder(), 'data'));
  await page.goto(product.url);

  await expect(page).toHaveURL(/\/setup$/);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Welcome to Homeport');
  await page.getByRole('button', { name: 'Create account' }).click();
  await expect(page.getByLabel('Name')).toBeFocused();
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await page.getByLabel('Name').fill(ada.name);
  await page.getByLabel('E-mail address').fill(ada.email);
  await page.getByLabel('Password', { exact: true }).fill('short1');
  await expect(page.getByLabel('Password', { exact: true })).toHaveAccessibleDescription(/at least one digit ?met/);
  await page.getByRole('button', { name: 'Create account' }).click();
  await expect(page.getByLabel('Password', { exact: true })).toBeFocused();
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Create account' }).click();

  await test.step('explains an unreachable provider, and lets its address be corrected', async () => {
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Add a provider');
    await page.reload();
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Add a provider');
    await page.getByText('Other', { exact: true }).click();
    await expect(page.getByLabel('Base URL')).toHaveValue('');
    await page.getByLabel('Name', { exact: true }).fill('Scripted');
    await page.getByLabel('Base URL').fill(`http://127.0.0.1:${await freePort()}/v1`);
    await page.getByRole('button', { name: 'Test and continue' }).click();
    await expect(page.getByRole('alert')).toContainText('Couldn’t reach the provider');
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
    await page.getByLabel('Base URL').fill(provider);
  });

  await test.step('starts each step at the top', async () => {
    const usual = page.viewportSize();
    await page.setViewportSize({ width: 390, height: 500 });
    const title = page.getByRole('heading', { level: 1 });
    await page.getByRole('button', { name: 'Test and continue' }).scrollIntoViewIfNeeded();
    await expect(title).not.toBeInViewport();
    await page.getByRole('button', { name: 'Test and continue' }).click();
    await expect(title).toHaveText('Choose your models');
    await expect(title).toBeInViewport();
    await expect(page.getByRole('list', { name: 'Steps' })).toBeInViewport();
    await page.setViewportSize(usual ?? { width: 1280, height: 720 });
  });

  await test.step('adds many models at once, from the list or by id', async () => {
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Choose your models');
    await page.reload();
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Choose your models');
    await page.getByLabel('Search models').fill('ECHO');
    await page.getByRole('checkbox', { name: 'echo', exact: true }).check();
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
    await page.getByText('Add a model by ID').click();
    await page.getByLabel('Model ID').fill('pause-words-250@50');
    await page.keyboard.press('Enter');
    await page.getByLabel('Max output tokens').fill('200000');
    await page.getByRole('button', { name: 'Add 2 models' }).click();
    await expect(page.getByLabel('Max output tokens')).toBeFocused();
    await page.getByLabel('Max output tokens').fill('4000');
    await page.getByRole('button', { name: 'Add 2 models' }).click();
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('You’re all set');
    await expectAccessible(page);
  });

  await test.step('streams the first answer over a reload', async () => {
    await page.getByRole('link', { name: 'Start your first conversation' }).click();
    await page.getByRole('button', { name: /^Model:/ }).click();
    await page.getByRole('option', { name: /pause-words-250@50/ }).click();
    await page.getByLabel('Message', { exact: true }).fill('Say many words');
    await page.getByLabel('Message', { exact: true }).press('Enter');
    const thread = page.getByRole('log');
    await expect(thread).toContainText('word20 ');
    await page.reload();
    await expect(thread).toContainText('word0 word1 word2');
    await expect(page.getByRole('button', { name: 'Stop' })).toBeVisible();
    await expect(thread).toContainText('word248 word249');
    await finishAnswers(provider);
    await expect(page.getByRole('button', { name: 'Stop' })).toBeHidden();
  });

  await test.step('returns to it after signing out and in', async () => {
    await page.getByRole('button', { name: /^Account:/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await expect(page).toHaveURL(/\/sign-in$/);
    await signIn(page, ada.email);
    await page.getByRole('link', { name: /Say many words/ }).click();
    await expect(page.getByRole('log')).toContainText('word248 word249');
  });
});

test('requires the claim token, and sends a second setup to the sign-in page', async ({ page, context }) => {
  product = await startProduct(join(scratchFolder(), 'data'), { SETUP_CLAIM_TOKEN: 'let-me-in' });
  const late = await context.newPage();
  for (const each of [page, late]) {
    await each.goto(`${product.url}/setup`);
    await each.getByLabel('Name').fill(ada.name);
    await each.getByLabel('E-mail address').fill(ada.email);
    await each.getByLabel('Password', { exact: true }).fill(password);
    await each.getByLabel('Claim token').fill('wrong');
  }
  await page.getByRole('button', { name: 'Create account' }).click();
  await expect(page.getByText('This isn’t the server’s claim token.')).toBeVisible();
  await expect(page.getByLabel('Claim token')).toBeFocused();
  await page.getByLabel('Claim token').fill('let-me-in');
  await page.getByRole('button', { name: 'Create account' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Add a provider');
  await page.getByRole('button', { name: 'Skip for now' }).click();
  await expect(page.getByRole('link', { name: 'Add a provider' })).toHaveAttribute('href', '/settings/providers');

  await context.clearCookies();
  await late.getByLabel('Claim token').fill('let-me-in');
  await late.getByRole('button', { name: 'Create account' }).click();
  await expect(late.getByRole('heading', { level: 1 })).toHaveText('This installation is already set up');
  await expectAccessible(late);
  await late.getByRole('link', { name: 'Sign in' }).click();
  await expect(late).toHaveURL(/\/sign-in$/);
});

test('names the settings that allow a refused destination', async ({ page, provider }) => {
  product = await startProduct(join(scratchFolder(), 'data'), {
    ALLOW_PRIVATE_EGRESS: 'false',
    ALLOW_INSECURE_HTTP: 'false',
  });
  await page.goto(product.url);
  await page.getByLabel('Name').fill(ada.name);
  await page.getByLabel('E-mail address').fill(ada.email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByLabel('Base URL').fill(provider);
  await page.getByRole('button', { name: 'Test and continue' }).click();
  await expect(page.getByRole('alert')).toContainText('ALLOW_PRIVATE_EGRESS=true');
  await expect(page.getByRole('alert')).toContainText('ALLOW_INSECURE_HTTP=true');
});
