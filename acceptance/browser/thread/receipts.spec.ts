import type { BrowserContext, Page, Route } from '@playwright/test';
import { addModels, type Caller } from '../../product.ts';
import { expectAccessible, expectNoSidewaysScroll } from '../accessible.ts';
import { addPerson, expect, giveCookie, type Installation, type Person, signIn, test } from '../fixtures.ts';

/** control-plane-api.md "Saved-message acknowledgement", as a person meets them. */

const field = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true });
const banner = (page: Page) => page.getByRole('alert').filter({ hasText: 'isn’t confirmed' });
const retry = (page: Page) => page.getByRole('button', { name: 'Retry saved submission' });
const own = (page: Page) => page.locator('[data-role="user"]');

type Sent = { url: string; body: string };

/** Every attempt to save a message, as it left the browser. */
function submissions(context: BrowserContext): Sent[] {
  const sent: Sent[] = [];
  context.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (pathname === '/api/chat/start' || pathname === '/api/chat/turn-inputs')
      sent.push({ url: pathname, body: request.postData() ?? '' });
  });
  return sent;
}

/** The server has it, but the browser never gets the response. */
async function loseAnswer(route: Route): Promise<void> {
  await route.fetch();
  await route.abort('connectionreset');
}

async function newChat(caller: Caller): Promise<string> {
  return (await caller.must('POST', '/api/chats', { title: 'Harbour notes' })).chat.id;
}

async function savedTexts(installation: Installation, person: Person): Promise<string[]> {
  const rows = await installation.query(
    `select coalesce(m.parts, i.parts) as parts from inputs i left join messages m on m.id = i.id join users u on u.id = i.owner_id where u.email = '${person.email}' order by i.position`,
  );
  return rows.map(([parts]) => JSON.parse(parts ?? '[]')[0]?.text);
}

test('locks the draft after a lost acknowledgement, and sends the same bytes on Retry only', async ({
  page,
  context,
  person,
  installation,
  provider,
}) => {
  await addModels(person.caller, provider, ['echo']);
  const chatId = await newChat(person.caller);
  const sent = submissions(context);
  await page.route('**/api/chat/start', loseAnswer);
  await page.goto(`${installation.url}/c/${chatId}`);
  await field(page).fill('Grüße — “quoted” \\n  and spaces  ');
  await field(page).press('Enter');
  await expect(banner(page)).toContainText('sending it again won’t duplicate it');
  await expect(retry(page)).toBeFocused();
  await expect(field(page)).toBeDisabled();
  await expect(field(page)).toHaveValue('Grüße — “quoted” \\n  and spaces  ');
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);

  await test.step('stays locked over a reload, a lost network and a navigation', async () => {
    await page.reload();
    await expect(retry(page)).toBeFocused();
    await expect(field(page)).toBeDisabled();
    await context.setOffline(true);
    await context.setOffline(false);
    await page.getByRole('link', { name: 'New conversation' }).first().click();
    await expect(field(page)).toBeEnabled();
    await expect(page.getByRole('img', { name: 'Message not confirmed yet' })).toBeVisible();
    await page.goBack();
    await expect(field(page)).toBeDisabled();
    expect(sent).toHaveLength(1);
  });

  await test.step('stays locked after a Retry with a lost response', async () => {
    await retry(page).click();
    await expect(banner(page)).toContainText('Couldn’t reach the server');
    await expect(retry(page)).toBeFocused();
  });

  await page.unroute('**/api/chat/start');
  await retry(page).click();
  await expect(field(page)).toBeEnabled();
  await expect(field(page)).toHaveValue('');
  await expect(own(page)).toHaveCount(1);
  expect(sent).toHaveLength(3);
  expect(new Set(sent.map(({ url, body }) => url + body)).size).toBe(1);
  expect(await savedTexts(installation, person)).toHaveLength(1);
});

test('keeps an uncertain queued message queued, and treats an unreadable response as no acknowledgement', async ({
  page,
  context,
  person,
  installation,
  provider,
}) => {
  await addModels(person.caller, provider, ['hang-5']);
  const chatId = await newChat(person.caller);
  const sent = submissions(context);
  await page.goto(`${installation.url}/c/${chatId}`);
  await field(page).fill('First');
  await field(page).press('Enter');
  await expect(page.locator('[data-role="assistant"]')).toContainText('word4');
  await page.route('**/api/chat/turn-inputs', async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, body: '<html>a proxy speaks</html>' });
  });
  await field(page).fill('Second');
  await field(page).press('Enter');
  await expect(banner(page)).toContainText('unexpected response');
  await page.unroute('**/api/chat/turn-inputs');
  // Meanwhile the first answer ends: another client would send to /api/chat/start now (control-plane-api.md
  // "Saved-message acknowledgement" 4).
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect(page.getByText('You stopped this answer.').first()).toBeVisible();
  await retry(page).click();
  await expect(field(page)).toBeEnabled();
  await expect(own(page)).toHaveCount(2);
  expect(sent.map(({ url }) => url)).toEqual(['/api/chat/start', '/api/chat/turn-inputs', '/api/chat/turn-inputs']);
  expect(sent[1]?.body).toBe(sent[2]?.body);
  expect(await savedTexts(installation, person)).toEqual(['First', 'Second']);
});

test('lets one of two tabs send, and releases the other afterwards', async ({
  page,
  context,
  person,
  installation,
  provider,
}) => {
  await addModels(person.caller, provider, ['echo']);
  const chatId = await newChat(person.caller);
  const sent = submissions(context);
  const other = await context.newPage();
  for (const each of [page, other]) await each.goto(`${installation.url}/c/${chatId}`);
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route('**/api/chat/start', async (route) => {
    await held;
    await route.continue();
  });
  await field(other).fill('Mine is another');
  await field(page).fill('From the first tab');
  await field(page).press('Enter');
  await expect(page.getByText('Saving…')).toBeVisible();
  await expect(field(other)).toBeDisabled();
  await retry(other).click();
  await expect(other.getByText('Another tab is sending a message in this conversation.')).toBeVisible();
  expect(sent).toHaveLength(1);
  release();
  await expect(field(page)).toBeEnabled();
  await expect(field(other)).toBeEnabled();
  expect(sent).toHaveLength(1);
  expect(await savedTexts(installation, person)).toEqual(['From the first tab']);
  await other.close();
});

test('keeps a receipt for its owner over a sign-out, invisible to other users', async ({
  page,
  context,
  person,
  installation,
  provider,
}) => {
  await addModels(person.caller, provider, ['echo']);
  const chatId = await newChat(person.caller);
  const sent = submissions(context);
  const stranger = await addPerson(installation);
  await addModels(stranger.caller, provider, ['echo']);
  await page.route('**/api/chat/start', loseAnswer);
  await page.goto(`${installation.url}/c/${chatId}`);
  await field(page).fill('Only mine');
  await field(page).press('Enter');
  await expect(retry(page)).toBeVisible();
  await page.unroute('**/api/chat/start');
  await signOut(page);

  await signIn(page, stranger.email);
  await expect(field(page)).toBeEnabled();
  await expect(page.getByText('Only mine')).toHaveCount(0);
  await page.goto(`${installation.url}/c/${chatId}`);
  await expect(page.getByRole('heading', { name: 'Conversation not found' })).toBeVisible();
  await expect(retry(page)).toHaveCount(0);
  await signOut(page);

  await signIn(page, person.email);
  await expect(field(page)).toBeVisible();
  await page.goto(`${installation.url}/c/${chatId}`);
  await retry(page).click();
  await expect(field(page)).toBeEnabled();
  expect(sent).toHaveLength(2);
  expect(sent[0]).toEqual(sent[1]);
  expect(await savedTexts(installation, person)).toEqual(['Only mine']);
  expect(await savedTexts(installation, stranger)).toEqual([]);
});

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Account:/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await expect(page).toHaveURL(/\/sign-in$/);
}

test('explains a conflict, restores the text, and sends it as a new message', async ({
  page,
  context,
  person,
  installation,
  provider,
}) => {
  await addModels(person.caller, provider, ['echo']);
  const chatId = await newChat(person.caller);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.route('**/api/chat/start', async (route) => {
    const { message } = route.request().postDataJSON();
    const parts = [{ type: 'text', text: 'Something else' }];
    await person.caller.must('POST', '/api/chat/start', { chatId, message: { id: message.id, parts } });
    await route.continue();
  });
  await page.goto(`${installation.url}/c/${chatId}`);
  await field(page).fill('What I wrote');
  await field(page).press('Enter');
  const alert = page.getByRole('alert').filter({ hasText: 'saved with different content' });
  await expect(alert).toContainText('Copy your text, then send it as a new message');
  await expect(retry(page)).toHaveCount(0);
  await expectAccessible(page);
  await page.unroute('**/api/chat/start');
  await alert.getByRole('button', { name: 'Discard and copy text' }).click();
  await expect(field(page)).toHaveValue('What I wrote');
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe('What I wrote');
  await field(page).press('Enter');
  await expect(own(page)).toHaveCount(2);
  expect(await savedTexts(installation, person)).toEqual(['Something else', 'What I wrote']);
});

test('keeps the text in its conversation over an expired session', async ({
  page,
  context,
  person,
  installation,
  provider,
}) => {
  await addModels(person.caller, provider, ['echo']);
  const chatId = await newChat(person.caller);
  await page.goto(`${installation.url}/c/${chatId}`);
  await field(page).fill('Written too late');
  await context.clearCookies();
  await field(page).press('Enter');
  await expect(page).toHaveURL(new RegExp(`/sign-in\\?return=%2Fc%2F${chatId}`));
  await signIn(page, person.email);
  await expect(page).toHaveURL(`${installation.url}/c/${chatId}`);
  await expect(field(page)).toHaveValue('Written too late');

  await test.step('keeps an uncertain message waiting', async () => {
    await page.route('**/api/chat/start', loseAnswer);
    await field(page).press('Enter');
    await expect(retry(page)).toBeVisible();
    await page.unroute('**/api/chat/start');
    await context.clearCookies();
    await retry(page).click();
    await expect(page).toHaveURL(/\/sign-in/);
    await giveCookie(context, installation.url, person.caller);
    await page.goto(`${installation.url}/c/${chatId}`);
    await retry(page).click();
    await expect(field(page)).toBeEnabled();
    expect(await savedTexts(installation, person)).toEqual(['Written too late']);
  });
});

test('creates one conversation when its first message is lost and sent again', async ({
  page,
  person,
  installation,
  provider,
}) => {
  await addModels(person.caller, provider, ['echo']);
  await page.route('**/api/chats', (route) =>
    route.request().method() === 'POST' ? loseAnswer(route) : route.continue(),
  );
  await page.goto(installation.url);
  await field(page).fill('The beginning');
  await field(page).press('Enter');
  await expect(retry(page)).toBeVisible();
  await page.unroute('**/api/chats');
  await page.reload();
  await expect(field(page)).toHaveValue('The beginning');
  await retry(page).click();
  await expect(page).toHaveURL(/\/c\//);
  await expect(own(page)).toHaveText(/The beginning/);
  expect((await person.caller.must('GET', '/api/chats')).chats).toHaveLength(1);
  expect(await savedTexts(installation, person)).toEqual(['The beginning']);
});

test('sends no message when the browser cannot store a receipt', async ({
  page,
  context,
  person,
  installation,
  provider,
}) => {
  await addModels(person.caller, provider, ['echo']);
  const sent = submissions(context);
  await page.goto(installation.url);
  await field(page).fill('Too precious');
  await page.evaluate(`Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') }`);
  await field(page).press('Enter');
  await expect(page.getByRole('alert')).toContainText('the message wasn’t sent');
  await expect(field(page)).toHaveValue('Too precious');
  expect(sent).toEqual([]);
});
