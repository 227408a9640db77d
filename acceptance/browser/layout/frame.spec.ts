import type { Page } from '@playwright/test';
import { addModels, type Caller } from '../../product.ts';
import { expectAccessible, expectAccessibleHere } from '../accessible.ts';
import { expect, test } from '../fixtures.ts';

/** Everything around the conversation: loading, failing, printing, other scripts, keyboard access. */

const field = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true });

async function newChat(caller: Caller, title = 'Harbour notes'): Promise<string> {
  return (await caller.must('POST', '/api/chats', { title })).chat.id;
}

async function ask(page: Page, text: string): Promise<void> {
  await field(page).fill(text);
  await field(page).press('Enter');
}

test('shows a failed answer in place, with a next step and a help page', async ({
  page,
  person,
  installation,
  provider,
}) => {
  const [, flaky = ''] = await addModels(person.caller, provider, ['drop-20', 'error-402', 'echo']);
  await page.goto(installation.url);
  await ask(page, 'Go');
  const answer = page.locator('[data-role="assistant"]');
  await expect(answer).toContainText('word19');
  await expect(answer).toContainText('Couldn’t finish this answer');
  await expect(answer.locator('[data-code^="provider_"]')).toBeVisible();
  await expect(answer.getByText(/provider_/), 'codes are for programs').toHaveCount(0);
  await expect(answer.getByRole('link', { name: 'Open provider settings' })).toBeVisible();
  await expect(answer.getByRole('button', { name: /Try again|Regenerate$/ }), 'one way to try again').toHaveCount(1);
  await expect(answer.getByRole('button', { name: 'Continue' })).toBeVisible();
  await expectAccessible(page);
  await answer.getByRole('button', { name: 'Regenerate with…' }).click();
  await page.getByRole('menuitem', { name: 'echo' }).click();
  await expect(page.locator('[data-role="assistant"][aria-busy="false"]')).toHaveText(/^AnswerGo/);

  await test.step('shows an answer that failed to start', async () => {
    await person.caller.must('PATCH', '/api/models', { id: flaky, isDefault: true });
    await ask(page, 'Again');
    const last = page.getByRole('log');
    await expect(last.getByRole('button', { name: 'Try again' })).toBeVisible();
    await expect(last.locator('[data-code="provider_error"]')).toBeVisible();
    await expect(field(page)).toBeEnabled();
  });
});

test('keeps background errors until they are dismissed', async ({ page, person, installation }) => {
  await newChat(person.caller);
  await page.clock.install();
  await page.goto(installation.url);
  await page.route('**/api/chats', (route) =>
    route.request().method() === 'PATCH' ? route.abort('connectionreset') : route.continue(),
  );
  const row = page.locator('[data-chat]').first();
  await row.hover();
  await row.locator('[data-menu]').click();
  await page.getByRole('menuitem', { name: 'Archive' }).click();
  const alert = page.getByRole('alert');
  await expect(alert).toContainText('Couldn’t save the change');
  await expect(row).toBeVisible();
  await page.clock.fastForward('10:00');
  await expect(alert).toBeVisible();
  await expectAccessibleHere(page);
  await alert.getByRole('button', { name: 'Dismiss' }).click();
  await expect(alert).toHaveCount(0);
});

test('shows a skeleton only for long waits', async ({ page, person, installation }) => {
  const chatId = await newChat(person.caller);
  await page.clock.install();
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route('**/api/chats?*', async (route) => {
    await held;
    await route.continue();
  });
  await page.goto(`${installation.url}/c/${chatId}`);
  await expect(page.locator('main [aria-busy="true"]')).toBeAttached();
  await page.clock.fastForward(1_000);
  await expect(page.getByText('Loading conversation…')).toBeAttached();
  const list = page.getByRole('navigation', { name: 'Conversations' });
  await expect(list.getByText('Loading…', { exact: true })).toBeAttached();
  release();
  await expect(field(page)).toBeEnabled();
  await expect(page.locator('main [aria-busy="true"]')).toHaveCount(0);
});

test('survives malformed server responses without a blank page, and keeps the draft', async ({
  page,
  person,
  installation,
  provider,
}) => {
  await addModels(person.caller, provider, ['echo']);
  const chatId = await newChat(person.caller);
  await page.goto(`${installation.url}/c/${chatId}`);
  await field(page).fill('half a thought');
  const detail = await person.caller.must('GET', `/api/chats?id=${chatId}`);
  const message = { id: 'm1', chatId, parentId: null, siblingIds: ['m1'], role: 'assistant', status: 'complete' };
  const shown = { ...message, parts: [{ type: 'text', text: 'Still here' }] };
  const answers: [string, string | RegExp][] = [
    ['<html>a proxy speaks</html>', 'Couldn’t load the conversation'],
    ['null', 'Couldn’t load the conversation'],
    [JSON.stringify({ ...detail, messages: 'none' }), 'Couldn’t load the conversation'],
    [JSON.stringify({ ...detail, chat: null }), 'Couldn’t load the conversation'],
    [JSON.stringify({ ...detail, response: 7 }), 'Couldn’t load the conversation'],
    [JSON.stringify({ ...detail, messages: [null, 7, { id: 'x' }, shown] }), 'Still here'],
    [
      JSON.stringify({ ...detail, messages: [{ ...shown, parts: [null, 7, { type: 'text' }, ...shown.parts] }] }),
      'Still here',
    ],
    [
      JSON.stringify({ ...detail, messages: [{ ...shown, parts: [{ type: 'hologram' }, ...shown.parts], aura: {} }] }),
      'Still here',
    ],
  ];
  for (const [body, text] of answers) {
    await page.route(`**/api/chats?id=${chatId}*`, (route) => route.fulfill({ contentType: 'application/json', body }));
    await page.reload();
    await expect(page.getByRole('main'), body).toContainText(text);
    await page.unroute(`**/api/chats?id=${chatId}*`);
  }
  await page.reload();
  await expect(field(page)).toHaveValue('half a thought');
});

test('reports a crashed page and keeps the draft', async ({ context, person, installation, provider }) => {
  await addModels(person.caller, provider, ['echo']);
  // Not the page whose errors fail the test: this one is meant to break.
  const page = await context.newPage();
  await page.goto(installation.url);
  await field(page).fill('half a thought');
  await page.route('**/api/providers', (route) => route.fulfill({ json: { providers: [null], modelTiers: [] } }));
  await page.reload();
  await expect(page.getByRole('heading', { name: 'Something went wrong' })).toBeVisible();
  await expectAccessible(page);
  await page.unroute('**/api/providers');
  await page.getByRole('button', { name: 'Reload the page' }).click();
  await expect(field(page)).toHaveValue('half a thought');
  await page.close();
});

test('loads a conversation with its own page and no rare part, one heading, a skip link and an empty state', async ({
  page,
  person,
  installation,
  provider,
}) => {
  await addModels(person.caller, provider, ['echo']);
  await page.goto(installation.url);
  await ask(page, 'Plain text');
  await expect(page.locator('[data-role="assistant"][aria-busy="false"]')).toBeVisible();
  const later = new Map<string, number>();
  const html = await (await page.request.get(installation.url)).text();
  const measured: Promise<void>[] = [];
  page.on('requestfinished', (request) => {
    const { pathname } = new URL(request.url());
    if (request.resourceType() !== 'script' || html.includes(pathname)) return;
    measured.push(request.sizes().then(({ responseBodySize }) => void later.set(pathname, responseBodySize)));
  });
  // A cached script would count as 0 bytes.
  await (await page.context().newCDPSession(page)).send('Network.clearBrowserCache');
  await page.reload();
  await expect(page.locator('[data-role="assistant"]')).toContainText('Plain text');
  await ask(page, 'More');
  await expect(page.locator('[data-role="assistant"][aria-busy="false"]')).toHaveCount(2);
  await Promise.all(measured);
  // The sidebar's projects load automatically; dialogs, forms, menus, formulas and grammars only on use.
  expect([...later.keys()].filter((path) => /Modal|Popover|form|Input|menu|katex|highlight/i.test(path))).toEqual([]);
  // The page of conversations takes 40 kB of this, and the first load has its own budget (web/bundle-size.mjs).
  expect([...later.values()].reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(63_000);

  for (const path of ['', '/settings/account', '/settings/providers', '/settings/models', '/nowhere', '/c/none']) {
    await page.goto(installation.url + path);
    await expect(page.getByRole('heading', { level: 1 })).toHaveCount(1);
  }
  await expect(page.getByRole('heading', { name: 'Conversation not found' })).toBeVisible();
  await page.goto(`${installation.url}/nowhere`);
  await expect(page.getByRole('heading', { name: 'Page not found' })).toBeVisible();
  await expectAccessible(page);

  await page.goto(`${installation.url}/settings/account`);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await page.evaluate('document.activeElement.blur()');
  await page.keyboard.press('Tab');
  const skip = page.getByRole('link', { name: 'Skip to content' });
  await expect(skip).toBeFocused();
  await expect(skip).toBeInViewport();
  await page.keyboard.press('Enter');
  expect(await page.evaluate('document.querySelector("#content").contains(document.activeElement)')).toBe(true);
});

test('prints only the conversation, aligns right-to-left text, and respects reduced motion', async ({
  page,
  person,
  installation,
  provider,
}) => {
  await addModels(person.caller, provider, ['echo']);
  await page.goto(installation.url);
  await ask(page, 'שלום, מה שלומך?');
  const answer = page.locator('[data-role="assistant"][aria-busy="false"]');
  await expect(answer).toContainText('שלום');
  for (const box of [page.locator('[data-role="user"] [dir]').first(), answer.locator('[dir]').first()])
    await expect(box).toHaveCSS('direction', 'rtl');
  await page.emulateMedia({ media: 'print' });
  await expect(answer).toBeVisible();
  await expect(page.getByRole('complementary', { name: 'Sidebar' })).toBeHidden();
  await expect(field(page)).toBeHidden();
  expect((await page.pdf()).length).toBeGreaterThan(1_000);
  await page.emulateMedia({ media: 'screen', reducedMotion: 'reduce' });
  const moving: string[] = await page.evaluate(`document.getAnimations()
    .filter((each) => each.effect.getComputedTiming().duration > 1).map((each) => each.animationName ?? '')`);
  expect(moving).toEqual([]);
  // Another scheme changes nearly every color, at once and without a transition of each.
  await page.evaluate(`window.transitions = []; addEventListener('transitionrun', (event) => {
    window.transitions.push(event.propertyName);
  })`);
  await page.emulateMedia({ colorScheme: 'dark' });
  await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', 'dark');
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
  expect(await page.evaluate('window.transitions')).toEqual([]);
});

test('traps the focus in the drawer of a phone and restores it', async ({ page, person, installation }) => {
  await newChat(person.caller);
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(installation.url);
  const opener = page.getByRole('button', { name: 'Open the sidebar' });
  // The field for messages, which takes the focus when it comes, has gone again.
  await expect(page.getByRole('heading', { name: 'You don’t have a model yet' })).toBeVisible();
  await opener.focus();
  await page.keyboard.press('Enter');
  const drawer = page.getByRole('dialog');
  await expect(drawer).toBeVisible();
  const isFocusInside = () =>
    page.evaluate(`document.querySelector('[role="dialog"]').contains(document.activeElement)`);
  // It takes the focus a moment after it is seen.
  await expect.poll(isFocusInside).toBe(true);
  for (let step = 0; step < 12; step += 1) {
    await page.keyboard.press('Tab');
    expect(await isFocusInside(), `after ${step + 1} times Tab`).toBe(true);
  }
  await page.keyboard.press('Escape');
  await expect(drawer).toHaveCount(0);
  await expect(opener).toBeFocused();
});
