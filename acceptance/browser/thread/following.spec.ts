import type { Page } from '@playwright/test';
import { startCuttingProxy } from '../../faults/cutting-proxy.ts';
import { addModels, type Caller } from '../../product.ts';
import { expectAccessible, expectAccessibleHere, expectNoSidewaysScroll } from '../accessible.ts';
import { expect, finishAnswers, giveCookie, signInElsewhere, test } from '../fixtures.ts';
import { keepNotices, stopPolls } from '../timers.ts';

/** Answers that continue independently of the page, and actions while they arrive. */

const field = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true });
const answers = (page: Page) => page.locator('[data-role="assistant"]');
const done = (page: Page) => page.locator('[data-role="assistant"][aria-busy="false"]');
const chips = (page: Page) => page.getByRole('list', { name: 'Queued messages' });
const words = (count: number) => Array.from({ length: count }, (_, index) => `word${index}`).join(' ');

async function newChat(caller: Caller, title = 'Harbour notes'): Promise<string> {
  return (await caller.must('POST', '/api/chats', { title })).chat.id;
}

async function ask(page: Page, text: string): Promise<void> {
  await field(page).fill(text);
  await field(page).press('Enter');
}

/** Dispatches the visibility change of a tab that is hidden or shown again. */
async function setVisibility(page: Page, state: 'hidden' | 'visible'): Promise<void> {
  await page.evaluate(`Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => '${state}' });
    document.dispatchEvent(new Event('visibilitychange'))`);
}

/** The streams that the page holds open. */
function openStreams(page: Page): Set<unknown> {
  const open = new Set<unknown>();
  page.on('request', (request) => request.url().includes('/stream') && open.add(request));
  page.on('requestfinished', (request) => open.delete(request));
  page.on('requestfailed', (request) => open.delete(request));
  return open;
}

test('closes the stream in a hidden tab, and catches up without losing text', async ({
  page,
  person,
  installation,
  provider,
}) => {
  await addModels(person.caller, provider, ['pause-words-200@50']);
  const streams = openStreams(page);
  await page.goto(`${installation.url}/c/${await newChat(person.caller)}`);
  await ask(page, 'Go');
  await expect(answers(page)).toContainText('word10 ');
  expect(streams.size).toBe(1);
  await setVisibility(page, 'hidden');
  await expect.poll(() => streams.size).toBe(0);
  const again = page.waitForRequest((request) => request.url().includes('/stream'));
  await setVisibility(page, 'visible');
  expect(Number((await again).headers()['last-event-id'])).toBeGreaterThan(5);
  await expect(answers(page)).toContainText('word199');
  await finishAnswers(provider);
  await expect(done(page)).toHaveCount(1);
  expect((await done(page).locator('[data-part="text"]').textContent())?.trim()).toBe(words(200));
});

test('loses no text over broken connections and a suspended page', async ({
  page,
  context,
  person,
  installation,
  provider,
}) => {
  await addModels(person.caller, provider, ['pause-words-300@50']);
  const chatId = await newChat(person.caller);
  let isDown = false;
  const proxy = await startCuttingProxy(Number(new URL(installation.url).port), () => (isDown ? 'drop' : 'pass'));
  await giveCookie(context, proxy.url, person.caller);
  await page.goto(`${proxy.url}/c/${chatId}`);
  await ask(page, 'Go');
  await expect(answers(page)).toContainText('word10 ');
  isDown = true;
  proxy.cutAll();
  await expect(page.getByText('Connection lost. The answer keeps running while we reconnect…')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Stop' })).toBeVisible();
  await expectAccessibleHere(page);
  isDown = false;
  await page.evaluate(`window.dispatchEvent(new Event('online'))`);
  await expect(page.getByText('while we reconnect')).toHaveCount(0);

  const session = await context.newCDPSession(page);
  await session.send('Page.setWebLifecycleState', { state: 'frozen' });
  proxy.cutAll();
  await session.send('Page.setWebLifecycleState', { state: 'active' });
  await expect(answers(page)).toContainText('word299');
  await finishAnswers(provider);
  await expect(done(page)).toHaveCount(1);
  expect((await done(page).locator('[data-part="text"]').textContent())?.trim()).toBe(words(300));
  expect(proxy.cuts()).toBeGreaterThan(0);
  proxy.close();
});

test('continues an answer after leaving, and marks running and new answers in the list', async ({
  page,
  person,
  installation,
  provider,
}) => {
  await keepNotices(page);
  await addModels(person.caller, provider, ['pause-awkward-100@500']);
  await page.goto(`${installation.url}/c/${await newChat(person.caller)}`);
  await newChat(person.caller, 'Another');
  await page.reload();
  await ask(page, 'Go');
  await expect(answers(page)).toContainText('98');
  await page.getByRole('link', { name: /^Another/ }).click();
  await expect(page.getByText('The answer keeps running. It will be here when you come back.')).toBeVisible();
  const row = page.locator('[data-chat]').filter({ hasText: 'Harbour notes' });
  await expect(row.getByRole('img', { name: 'Answer in progress' })).toBeVisible();
  await finishAnswers(provider);
  await expect(row.getByRole('img', { name: 'New answer' })).toBeVisible();
  await row.locator('[data-row]').click();
  await expect(done(page)).toContainText('98');
  await expect(row.getByRole('img')).toHaveCount(0);
});

test('stops immediately, keeps the text, and continues on request', async ({
  page,
  person,
  installation,
  provider,
}) => {
  await addModels(person.caller, provider, ['hang-5']);
  await page.goto(`${installation.url}/c/${await newChat(person.caller)}`);
  await ask(page, 'Go');
  await expect(answers(page)).toContainText('word4');
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route('**/stop', async (route) => {
    await held;
    await route.continue();
  });
  await field(page).fill('meanwhile');
  await page.getByRole('button', { name: 'Stop' }).click();
  // The server has not received it yet.
  await expect(page.getByRole('region', { name: 'Write a message' }).getByRole('status')).toHaveText('Stopping…');
  release();
  await expect(page.getByText('You stopped this answer.')).toBeVisible();
  await expect(answers(page)).toContainText('word4');
  await expect(field(page)).toHaveValue('meanwhile');
  await expectAccessibleHere(page);
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect(page.getByRole('button', { name: 'Stop' })).toBeVisible();
  await page.getByRole('log').focus();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('button', { name: 'Continue' })).toBeVisible();
});

test('queues messages in order, and removes, edits and promotes them without a reload', async ({
  page,
  person,
  installation,
  provider,
}) => {
  await addModels(person.caller, provider, ['hang-5', 'echo']);
  const chatId = await newChat(person.caller);
  await page.goto(`${installation.url}/c/${chatId}`);
  await ask(page, 'First');
  await expect(answers(page)).toContainText('word4');
  const picker = page.getByRole('button', { name: /^Model:/ });
  await picker.click();
  await page.getByRole('option', { name: /^echo/ }).click();
  for (const text of ['Second', 'Third', 'Fourth']) {
    await ask(page, text);
    await expect(chips(page).getByRole('listitem').filter({ hasText: text })).toBeVisible();
  }
  await expect(chips(page).getByRole('listitem')).toHaveText([
    'Queued, number 1Second',
    'Queued, number 2Third',
    'Queued, number 3Fourth',
  ]);
  await expectAccessible(page);

  await chips(page).getByRole('button', { name: 'Remove “Third”' }).click();
  await expect(chips(page).getByRole('listitem')).toHaveText(['Queued, number 1Second', 'Queued, number 2Fourth']);
  await field(page).fill('half a draft');
  await chips(page).getByRole('button', { name: 'Edit “Fourth”' }).click();
  await expect(field(page)).toHaveValue('Fourth\n\nhalf a draft');
  await expect(field(page)).toBeFocused();
  await field(page).fill('Fourth, better');
  await field(page).press('Enter');
  await expect(chips(page).getByRole('listitem')).toHaveText([
    'Queued, number 1Second',
    'Queued, number 2Fourth, better',
  ]);
  await page.reload();
  await expect(chips(page).getByRole('listitem')).toHaveCount(2);

  await page.getByRole('button', { name: 'Stop' }).click();
  await expect(done(page)).toHaveCount(3);
  await expect(chips(page)).toHaveCount(0);
  await expect(page.locator('[data-role="user"]')).toHaveText([/First/, /Second/, /Fourth, better/]);
  await expect(done(page).last()).toContainText('Fourth, better');
});

test('sends a message into the running answer, by button and by keys', async ({
  page,
  person,
  installation,
  provider,
}) => {
  await addModels(person.caller, provider, ['hang-5', 'echo']);
  await page.goto(`${installation.url}/c/${await newChat(person.caller)}`);
  await ask(page, 'First');
  await expect(answers(page)).toContainText('word4');
  await ask(page, 'Later');
  await field(page).fill('Now');
  await page.getByRole('button', { name: 'Send to the running answer' }).click();
  await field(page).fill('And this');
  await field(page).press('Control+Shift+Enter');
  await expect(chips(page).getByRole('listitem')).toHaveText([
    'Queued, number 1NowGoes out after this step',
    'Queued, number 2And thisGoes out after this step',
    'Queued, number 3Later',
  ]);
  await expect(field(page)).toHaveValue('');
  await field(page).fill('Enough');
  await page.setViewportSize({ width: 390, height: 800 });
  await expectNoSidewaysScroll(page);
});

test('refuses to remove a queued message that has started, and keeps the draft', async ({
  page,
  person,
  installation,
  provider,
}) => {
  await addModels(person.caller, provider, ['hang-5', 'echo']);
  const chatId = await newChat(person.caller);
  await page.goto(`${installation.url}/c/${chatId}`);
  await ask(page, 'First');
  await expect(answers(page)).toContainText('word4');
  await ask(page, 'Second');
  await expect(chips(page)).toBeVisible();
  await field(page).fill('half a draft');
  await page.route('**/api/chat/turn-inputs*', async (route) => {
    await person.caller.must('POST', `/api/chat/${chatId}/stop`, {});
    await expect.poll(async () => (await person.caller.must('GET', `/api/chats?id=${chatId}`)).inputs).toEqual([]);
    await route.continue();
  });
  await chips(page).getByRole('button', { name: 'Edit “Second”' }).click();
  await expect(page.getByText('Couldn’t remove the message')).toBeVisible();
  await expect(field(page)).toHaveValue('half a draft');
  await expect(page.locator('[data-role="user"]')).toHaveText([/First/, /Second/]);
});

test('shows a rate limit of the provider while the answer waits', async ({ page, person, installation, provider }) => {
  // A short wait can pass unseen on a busy machine: the test sees and stops a long wait, and lets a short one end.
  await addModels(person.caller, provider, ['limited-59', 'limited-1']);
  const chatId = await newChat(person.caller);
  await page.goto(`${installation.url}/c/${chatId}`);
  await ask(page, 'Go');
  const reason = 'The provider is limiting requests.';
  await expect(page.getByRole('log')).toContainText(`${reason} Trying again in`);
  await person.caller.must('POST', `/api/chat/${chatId}/stop`, {});
  await expect(page.getByText(reason)).toHaveCount(0);
  await page.getByRole('button', { name: /^Model:/ }).click();
  await page.getByRole('option', { name: /^limited-1/ }).click();
  await ask(page, 'Go on');
  await expect(done(page).last()).toContainText('Recovered.');
  await expect(page.getByText(reason)).toHaveCount(0);
});

test('shows the wait on a newly opened page, also in German', async ({ page, person, installation, provider }) => {
  await addModels(person.caller, provider, ['limited-60']);
  const chatId = await newChat(person.caller);
  const message = { id: 'limited', parts: [{ type: 'text', text: 'Go' }] };
  await page.addInitScript(`localStorage.setItem('language', 'de')`);
  await person.caller.must('POST', '/api/chat/start', { chatId, message });
  await person.caller.must('POST', '/api/chat', { chatId, messageId: message.id, detach: true });
  await page.goto(`${installation.url}/c/${chatId}`);
  const reason = 'Der Anbieter begrenzt die Anfragen.';
  await expect(page.getByRole('log')).toContainText(`${reason} Neuer Versuch in`);
  await person.caller.must('POST', `/api/chat/${chatId}/stop`, {});
  await expect(page.getByText(reason)).toHaveCount(0);
});

test('shows a message from another device in an open conversation before the next poll', async ({
  page,
  context,
  browser,
  person,
  installation,
  provider,
}) => {
  await addModels(person.caller, provider, ['echo']);
  const address = `${installation.url}/c/${await newChat(person.caller)}`;
  await stopPolls(context);
  let streams = 0;
  context.on('request', (request) => {
    streams += Number(request.url().endsWith('/api/chats/activity'));
  });
  await page.goto(address);
  await expect(field(page)).toBeVisible();
  await expect.poll(() => streams).toBe(1);
  // A second window of the same browser shares the stream of the first.
  const beside = await context.newPage();
  await beside.goto(address);
  await expect(field(beside)).toBeVisible();
  const elsewhere = await browser.newContext();
  await stopPolls(elsewhere);
  await giveCookie(elsewhere, installation.url, await signInElsewhere(installation.url, person.email));
  const device = await elsewhere.newPage();
  await device.goto(address);
  await ask(device, 'From the other device');
  for (const shown of [page, beside]) await expect(done(shown)).toContainText('From the other device');
  expect(streams).toBe(1);
  await ask(page, 'And back');
  await expect(done(device)).toHaveCount(2);
  await elsewhere.close();
});
