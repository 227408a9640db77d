import type { Page } from '@playwright/test';
import { addModels } from '../../product.ts';
import { expectAccessible, expectNoSidewaysScroll } from '../accessible.ts';
import { expect, giveCookie, password, test } from '../fixtures.ts';

const field = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true });
const own = (page: Page) => page.locator('[data-role="user"]');
const isDone = (page: Page, count: number) =>
  expect(page.locator('[data-role="assistant"][aria-busy="false"]')).toHaveCount(count);

test('sends with Enter or Ctrl+Enter by setting, never during composition', async ({
  page,
  person,
  installation,
  provider,
}) => {
  await addModels(person.caller, provider, ['echo']);
  await page.goto(installation.url);
  await field(page).pressSequentially('one');
  await page.keyboard.press('Shift+Enter');
  await page.keyboard.type('two');
  await page.evaluate(`document.querySelector('[data-composer]').dispatchEvent(
    new KeyboardEvent('keydown', { key: 'Enter', keyCode: 229, bubbles: true, cancelable: true }))`);
  const session = await page.context().newCDPSession(page);
  await session.send('Input.imeSetComposition', { text: 'ありが', selectionStart: 3, selectionEnd: 3 });
  await page.keyboard.press('Enter');
  await expect(own(page)).toHaveCount(0);
  await session.send('Input.insertText', { text: 'ありがとう' });
  await expect(field(page)).toHaveValue(/^one\ntwoありがとう/);
  await page.keyboard.press('Enter');
  await expect(own(page)).toHaveText(/one\s*twoありがとう/);
  await isDone(page, 1);

  await page.goto(`${installation.url}/settings/account`);
  await page.getByText('Ctrl + Enter', { exact: true }).click();
  await page.goBack();
  await field(page).fill('three');
  await page.keyboard.press('Enter');
  await page.keyboard.type('four');
  await expect(field(page)).toHaveValue('three\nfour');
  await page.keyboard.press('Control+Enter');
  await expect(own(page).last()).toHaveText(/three\s*four/);
  await isDone(page, 2);
  await page.keyboard.press('Control+/');
  await expect(page.getByRole('dialog')).toContainText(/Send\s*Ctrl/);
});

test('inserts a new line with Enter on a touch screen, without focusing the field', async ({
  browser,
  person,
  installation,
  provider,
}) => {
  await addModels(person.caller, provider, ['echo']);
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  await giveCookie(context, installation.url, person.caller);
  const page = await context.newPage();
  await page.goto(installation.url);
  // Comes long after the field, which would have the focus by then.
  await expect(page.getByRole('button', { name: 'Model: echo' })).toBeVisible();
  await expect(field(page)).not.toBeFocused();
  await field(page).tap();
  await page.keyboard.type('one');
  await page.keyboard.press('Enter');
  await page.keyboard.type('two');
  await expect(field(page)).toHaveValue('one\ntwo');
  await page.getByRole('button', { name: 'Send', exact: true }).tap();
  await expect(own(page)).toHaveText(/one\s*two/);
  await context.close();
});

test('keeps a draft for each conversation, in a field that grows and then scrolls', async ({
  page,
  person,
  installation,
  provider,
}) => {
  await addModels(person.caller, provider, ['echo']);
  const ids: string[] = [];
  for (const title of ['Harbour', 'Pier'])
    ids.push((await person.caller.must('POST', '/api/chats', { title })).chat.id);
  await page.goto(`${installation.url}/c/${ids[0]}`);
  const height = async () => (await field(page).boundingBox())?.height ?? 0;
  const low = await height();
  await field(page).fill('line\n'.repeat(5));
  expect(await height()).toBeGreaterThan(low * 2);
  await field(page).fill('line\n'.repeat(200));
  expect(await height()).toBeLessThan(500);
  await field(page).fill('for the harbour');
  await page.getByRole('link', { name: /^Pier/ }).click();
  await expect(field(page)).toHaveValue('');
  await field(page).fill('for the pier');
  await page.getByRole('link', { name: /^Harbour/ }).click();
  await expect(field(page)).toHaveValue('for the harbour');
  await page.getByRole('link', { name: /^Pier/ }).click();
  await page.reload();
  await expect(field(page)).toHaveValue('for the pier');
});

/** A submission's lock comes, and is given back, when the test lets it. */
const heldLocks = `
  window.held = [];
  const hold = () => new Promise((resolve) => window.held.push(resolve));
  const request = navigator.locks.request.bind(navigator.locks);
  navigator.locks.request = async (name, ...rest) => {
    if (!name.startsWith('receipt:')) return request(name, ...rest);
    await hold();
    return request(name, ...rest).finally(hold);
  };`;

/** Lets the lock that is waited for come, or go. */
async function letLock(page: Page): Promise<void> {
  await lockWaits(page);
  await page.evaluate('window.held.shift()()');
}

async function lockWaits(page: Page): Promise<void> {
  await expect.poll(() => page.evaluate('window.held.length')).toBeGreaterThan(0);
}

for (const where of ['in a new conversation', 'while an answer runs']) {
  test(`keeps text typed right after Enter in the field, ${where}`, async ({
    page,
    person,
    installation,
    provider,
  }) => {
    await addModels(person.caller, provider, ['hang-5']);
    await page.addInitScript(heldLocks);
    await page.goto(installation.url);
    const send = async (text: string) => {
      await field(page).fill(text);
      await field(page).press('Enter');
      await expect(field(page)).toBeDisabled();
      await letLock(page);
    };
    await send('First');
    if (where === 'while an answer runs') {
      await letLock(page);
      await expect(page.locator('[data-role="assistant"]')).toContainText('word4');
      await send('Second');
    } else {
      await lockWaits(page);
      await expect(field(page)).toBeDisabled();
      await letLock(page);
    }
    await field(page).fill('Now');
    if (where === 'while an answer runs') await letLock(page);
    const saved = where === 'while an answer runs' ? page.getByRole('list', { name: 'Queued messages' }) : own(page);
    await expect(saved).toContainText(where === 'while an answer runs' ? 'Second' : 'First');
    await expect(field(page)).toBeEnabled();
    await expect(field(page)).toHaveValue('Now');
  });
}

test('creates a new version for an edited message, and keeps an unfinished edit', async ({
  page,
  person,
  installation,
  provider,
}) => {
  await addModels(person.caller, provider, ['echo']);
  await page.goto(installation.url);
  await field(page).fill('First try');
  await page.keyboard.press('Enter');
  await isDone(page, 1);
  const editor = page.getByLabel('Edit your message');
  await expect(page.getByRole('button', { name: 'Edit message' })).toBeEnabled();
  await expect(field(page)).toBeFocused();
  await page.keyboard.press('ArrowUp');
  await editor.fill('Second try');
  await page.keyboard.press('Escape');
  await expect(editor).toHaveCount(0);
  await field(page).focus();
  await page.keyboard.press('ArrowUp');
  await expect(editor).toHaveValue('Second try');
  await page.keyboard.press('Control+Enter');
  await expect(page.locator('[data-role="assistant"]')).toContainText('Second try');
  await expect(own(page)).toHaveCount(1);
  await expect(page.getByText('Version 2 of 2')).toBeAttached();
  await page.getByRole('button', { name: 'Previous version' }).click();
  await expect(own(page)).toContainText('First try');
  await expect(page.locator('[data-role="assistant"]')).toContainText('First try');
  await page.getByRole('button', { name: 'Next version' }).click();
  await expect(own(page)).toContainText('Second try');
});

test('switches the language of the sign-in page, and keeps the input', async ({
  page,
  person,
  context,
  installation,
}) => {
  await context.clearCookies();
  await page.goto(installation.url);
  await page.getByLabel('E-mail address').fill(person.email);
  await page.getByRole('button', { name: 'Deutsch' }).click();
  await expect(page.locator('html')).toHaveAttribute('lang', 'de');
  await expect(page.getByRole('button', { name: 'Deutsch' })).toHaveAttribute('aria-pressed', 'true');
  await expect(page.getByLabel('E-Mail-Adresse')).toHaveValue(person.email);
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await page.getByLabel('Passwort', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Anmelden', exact: true }).click();
  await expect(page.getByRole('button', { name: /^Konto/ })).toBeVisible();
});
