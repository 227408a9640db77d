import type { Page } from '@playwright/test';
import { addModels, type Caller } from '../../product.ts';
import { expectAccessible, expectAccessibleHere } from '../accessible.ts';
import { expect, type Installation, type Person, test } from '../fixtures.ts';
import { keepNotices } from '../timers.ts';

const rows = (page: Page) => page.locator('[data-chat]');
const row = (page: Page, title: string) => rows(page).filter({ hasText: title });
const composer = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true });

async function make(caller: Caller, titles: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const title of titles) ids.push((await caller.must('POST', '/api/chats', { title })).chat.id);
  return ids;
}

/** A message and its answer by the model that repeats. */
async function converse(caller: Caller, chatId: string, text: string): Promise<void> {
  const id = crypto.randomUUID();
  await caller.must('POST', '/api/chat/start', { chatId, message: { id, parts: [{ type: 'text', text }] } });
  await caller.must('POST', '/api/chat', { chatId, messageId: id, detach: true });
  await expect.poll(async () => (await caller.must('GET', `/api/chats?id=${chatId}`)).response).toBeNull();
}

async function open(page: Page, installation: Installation, path = '/'): Promise<void> {
  await page.goto(installation.url + path);
  await expect(page.getByRole('navigation', { name: 'Conversations' })).toBeVisible();
}

async function talk(person: Person, provider: string, title: string, text: string): Promise<string> {
  await addModels(person.caller, provider, ['echo']);
  const [id = ''] = await make(person.caller, [title]);
  await converse(person.caller, id, text);
  return id;
}

test('renames with F2 and double click, and keeps the focus', async ({ page, person, installation }) => {
  await make(person.caller, ['Tide tables', 'Harbour plan']);
  await open(page, installation);
  await row(page, 'Harbour plan').locator('[data-row]').focus();
  await page.keyboard.press('F2');
  await expect(page.getByLabel('New title')).toBeFocused();
  await page.keyboard.type('Pier plan');
  await page.keyboard.press('Enter');
  await expect(row(page, 'Pier plan').locator('[data-row]')).toBeFocused();
  await row(page, 'Tide tables').locator('[data-row]').dblclick();
  const heading = page.getByRole('heading', { level: 1 });
  await expect(heading).toHaveText('Tide tables');
  await expect(page.getByLabel('New title')).toBeFocused();
  await page.keyboard.press('Escape');
  // A page that comes meanwhile, as by the first of the two clicks, leaves the focus where it is.
  await page.getByRole('link', { name: 'New conversation' }).first().click();
  await expect(heading).toHaveText('You don’t have a model yet');
  await row(page, 'Tide tables').locator('[data-row]').focus();
  await page.keyboard.press('F2');
  await expect(page.getByLabel('New title')).toBeFocused();
  await page.goBack();
  await expect(heading).toHaveText('Tide tables');
  await expect(composer(page)).toBeEnabled();
  await expect(page.getByLabel('New title')).toBeFocused();
  await page.keyboard.type('Ebb');
  await page.keyboard.press('Escape');
  await expect(row(page, 'Tide tables')).toBeVisible();
  // A new title shows before the server has it.
  const titles = async (): Promise<string[]> =>
    (await person.caller.must('GET', '/api/chats')).chats.map((chat: { title: string }) => chat.title);
  await expect.poll(titles).toEqual(['Pier plan', 'Tide tables']);
});

test('moves with arrows, Home and End, opens with Enter, and has one tab stop', async ({
  page,
  person,
  installation,
}) => {
  const [a = ''] = await make(person.caller, ['Oldest', 'Middle', 'Newest']);
  await open(page, installation);
  await expect(rows(page).locator('[data-row][tabindex="0"]')).toHaveCount(1);
  await page.getByRole('searchbox').focus();
  await page.keyboard.press('ArrowDown');
  await expect(row(page, 'Newest').locator('[data-row]')).toBeFocused();
  await page.keyboard.press('End');
  await expect(row(page, 'Oldest').locator('[data-row]')).toBeFocused();
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowDown');
  await expect(row(page, 'Middle').locator('[data-row]')).toBeFocused();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(`${installation.url}/c/${a}`);
});

test('archives with undo, lists archived conversations, restores and deletes them', async ({
  page,
  person,
  installation,
}) => {
  await keepNotices(page);
  await make(person.caller, ['Keep', 'Put away']);
  await open(page, installation);
  await row(page, 'Put away').hover();
  await row(page, 'Put away').locator('[data-menu]').click();
  await page.getByRole('menuitem', { name: 'Archive' }).click();
  await expect(row(page, 'Put away')).toHaveCount(0);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(row(page, 'Put away')).toBeVisible();
  await row(page, 'Put away').hover();
  await row(page, 'Put away').locator('[data-menu]').click();
  await page.getByRole('menuitem', { name: 'Archive' }).click();
  await page.getByRole('button', { name: 'Archived conversations' }).click();
  await expect(row(page, 'Put away')).toBeVisible();
  await row(page, 'Put away').locator('[data-row]').focus();
  await page.keyboard.press('Delete');
  await expect(page.getByRole('dialog')).toContainText('Put away');
  await page.getByRole('button', { name: 'Delete conversation' }).click();
  await expect(page.getByText('No archived conversations.')).toBeVisible();
  await expect.poll(async () => (await person.caller.must('GET', '/api/chats?archived=1')).chats).toEqual([]);
});

test('selects several conversations with Ctrl, Shift and the keyboard, archives and deletes them', async ({
  page,
  person,
  installation,
}) => {
  await keepNotices(page);
  await make(person.caller, ['One', 'Two', 'Three', 'Four', 'Five']);
  await open(page, installation);
  await row(page, 'Five')
    .locator('[data-row]')
    .click({ modifiers: ['Control'] });
  await row(page, 'Three')
    .locator('[data-row]')
    .click({ modifiers: ['Shift'] });
  await expect(page.getByText('3 selected')).toBeVisible();
  await expectAccessibleHere(page);
  await page.getByRole('toolbar').getByRole('button', { name: 'Archive' }).click();
  await expect(rows(page)).toHaveCount(2);
  await expect(page.getByText('3 conversations archived.')).toBeVisible();
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(rows(page)).toHaveCount(5);
  await row(page, 'Five').locator('[data-row]').focus();
  await page.keyboard.press('Space');
  await page.keyboard.press('Shift+ArrowDown');
  await page.keyboard.press('Shift+ArrowDown');
  await expect(page.getByText('3 selected')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('toolbar')).toHaveCount(0);
  await page.keyboard.press('Space');
  await page.getByRole('button', { name: 'Select all loaded' }).click();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Space');
  await page.keyboard.press('Delete');
  await page.getByRole('button', { name: 'Delete conversation' }).click();
  await expect(rows(page)).toHaveCount(4);
  await expect.poll(async () => (await person.caller.must('GET', '/api/chats')).chats.length).toBe(4);
});

test('finds titles and texts, marks hits, and opens the message', async ({ page, person, installation, provider }) => {
  const id = await talk(person, provider, 'Harbour notes', 'Where do the pilots wait?');
  await make(person.caller, ['Something else', 'Pilots of the year']);
  await open(page, installation);
  await page.getByRole('searchbox').fill('pilots');
  await expect(rows(page)).toHaveCount(2);
  await expect(row(page, 'Pilots of the year').locator('mark')).toHaveText('Pilots');
  await row(page, 'Harbour notes').locator('[data-row]').click();
  await expect(page).toHaveURL(new RegExp(`/c/${id}\\?find=pilots`));
  const bar = page.getByRole('search', { name: 'Matches in this conversation' });
  await expect(bar).toContainText('2 of 2');
  await bar.getByRole('button', { name: 'Previous match' }).click();
  await expect(bar).toContainText('1 of 2');
  expect(await page.evaluate<number>(`CSS.highlights.get('find').size + CSS.highlights.get('find-current').size`)).toBe(
    2,
  );
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  await expect(bar).toHaveCount(0);
  await page.getByRole('searchbox').fill('nothing-like-this');
  await expect(page.getByText('No results for “nothing-like-this”.')).toBeVisible();
});

test('opens conversations and settings from the palette, and runs actions', async ({ page, person, installation }) => {
  const [id = ''] = await make(person.caller, ['Harbour plan']);
  await open(page, installation);
  await test.step('shows the shortcut of the search field until a person types', async () => {
    const search = page.getByRole('searchbox');
    const keys = page.getByRole('complementary', { name: 'Sidebar' }).locator('kbd');
    await expect(keys).toHaveText(['Ctrl', 'K']);
    const within = await search.boundingBox();
    for (const key of await keys.all()) {
      await expect(key).toBeInViewport({ ratio: 1 });
      const box = await key.boundingBox();
      const middle = { x: (box?.x ?? 0) + (box?.width ?? 0) / 2, y: (box?.y ?? 0) + (box?.height ?? 0) / 2 };
      expect(middle.x).toBeGreaterThan((within?.x ?? 0) + (within?.width ?? 0) / 2);
      expect(middle.x).toBeLessThan((within?.x ?? 0) + (within?.width ?? 0));
      expect(middle.y).toBeCloseTo((within?.y ?? 0) + (within?.height ?? 0) / 2, 0);
    }
    await search.focus();
    await expect(keys.first()).toBeHidden();
    await search.fill('harb');
    await expect(keys).toHaveCount(0);
    await search.fill('');
  });
  await page.keyboard.press('Control+k');
  const field = page.getByRole('combobox', { name: 'Search and commands' });
  await expect(field).toBeFocused();
  await expect(page.getByRole('option', { name: 'Harbour plan' })).toBeVisible();
  await expectAccessible(page);
  await field.fill('harb');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(new RegExp(`/c/${id}`));
  await page.keyboard.press('Control+k');
  await field.fill('dark');
  await page.getByRole('option', { name: 'Appearance: Dark' }).click();
  await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', 'dark');
  await page.keyboard.press('Control+k');
  await field.fill('tiers');
  await page.getByRole('option', { name: 'Settings: Tiers' }).click();
  await expect(page).toHaveURL(`${installation.url}/settings/tiers`);
  for (const [search, option, path] of [
    ['api key', 'Add an API key of a provider · Providers', 'providers'],
    ['delete account', 'Delete your account · Import and export', 'import-export'],
    ['backup', 'Download your data · Import and export', 'import-export'],
    ['password', 'Change your password · Account', 'account'],
  ] as const) {
    await page.keyboard.press('Control+k');
    await field.fill(search);
    await page.getByRole('option', { name: option }).click();
    await expect(page).toHaveURL(`${installation.url}/settings/${path}`);
  }
});

test('runs shortcuts, except while a person types', async ({ page, person, installation, provider }) => {
  await keepNotices(page);
  const id = await talk(person, provider, 'Harbour notes', 'Hello there');
  await open(page, installation, `/c/${id}`);
  await expect(composer(page)).toBeFocused();
  await expect(page.locator('[data-role="user"]')).toContainText('Hello there');
  await page.keyboard.type('/?');
  await expect(composer(page)).toHaveValue('/?');
  await page.keyboard.press('ArrowUp');
  await expect(page.getByLabel('Edit your message')).toHaveCount(0);
  await composer(page).fill('');
  // Clearing the text closes the menu of prompts, in which the arrow would move.
  await expect(page.getByRole('listbox')).toHaveCount(0);
  await page.keyboard.press('ArrowUp');
  await expect(page.getByLabel('Edit your message')).toHaveValue('Hello there');
  await page.keyboard.press('Escape');
  await page.getByRole('log').focus();
  await page.keyboard.press('/');
  await expect(composer(page)).toBeFocused();
  await page.keyboard.press('Control+/');
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible();
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await page.keyboard.press('Control+Shift+S');
  await expect(page.getByRole('navigation', { name: 'Conversations' })).toHaveCount(0);
  await page.keyboard.press('Control+Shift+S');
  await page.keyboard.press('Control+Shift+C');
  await expect(page.getByText('Last answer copied.')).toBeVisible();
  await page.keyboard.press('Control+Shift+O');
  await expect(page).toHaveURL(`${installation.url}/`);
});

test('switches the language immediately, and keeps it over a reload', async ({ page, person, installation }) => {
  await make(person.caller, ['Harbour plan']);
  await open(page, installation);
  await page.getByRole('button', { name: /^Account:/ }).click();
  await page.getByRole('menuitemradio', { name: 'Deutsch' }).click();
  await expect(page.locator('html')).toHaveAttribute('lang', 'de');
  await expect(page.getByRole('link', { name: 'Neue Unterhaltung' })).toBeVisible();
  await page.reload();
  await expect(page.getByText('Heute')).toBeVisible();
  await expectAccessible(page);
});

test('exports a conversation as Markdown and JSON', async ({ page, person, installation, provider }) => {
  const id = await talk(person, provider, 'Harbour notes', 'Hello there');
  await open(page, installation, `/c/${id}`);
  for (const [name, type] of [
    ['Export as Markdown', /\.md$/],
    ['Export as JSON', /\.json$/],
  ] as const) {
    await page.getByRole('main').getByRole('button', { name: 'Options for “Harbour notes”' }).click();
    const download = page.waitForEvent('download');
    await page.getByRole('menuitem', { name }).click();
    expect((await download).suggestedFilename()).toMatch(type);
  }
});

test('shows the offline state, keeps the draft, and explains why sending waits', async ({
  page,
  context,
  person,
  installation,
  provider,
}) => {
  const id = await talk(person, provider, 'Harbour notes', 'Hello there');
  await open(page, installation, `/c/${id}`);
  await composer(page).fill('not yet');
  await context.setOffline(true);
  await expect(page.getByText('You’re offline. Your drafts are kept')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Send', exact: true })).toHaveAttribute('aria-disabled', 'true');
  await expectAccessible(page);
  await context.setOffline(false);
  await expect(page.getByText('You’re offline. Your drafts are kept')).toHaveCount(0);
  await expect(composer(page)).toHaveValue('not yet');
});

test('can be installed as an app', async ({ page, installation, person }) => {
  expect(person.email).toContain('@');
  await open(page, installation);
  const manifest = await (await page.request.get(`${installation.url}/manifest.webmanifest`)).json();
  for (const { src, type } of manifest.icons) {
    const answer = await page.request.get(installation.url + src);
    expect(answer.status()).toBe(200);
    expect(answer.headers()['content-type']).toContain(type);
  }
  expect(await page.evaluate<number>('navigator.serviceWorker.getRegistrations().then((all) => all.length)')).toBe(0);
});

test('selects with a long press in the drawer of a phone', async ({ page, person, installation }) => {
  await make(person.caller, ['One', 'Two']);
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(installation.url);
  await page.getByRole('button', { name: 'Open the sidebar' }).click();
  const target = row(page, 'Two').locator('[data-row]');
  await target.dispatchEvent('pointerdown', { pointerType: 'touch', clientX: 40, clientY: 300 });
  await expect(page.getByText('1 selected')).toBeVisible();
  await expectAccessibleHere(page);
  await row(page, 'One').locator('[data-row]').click();
  await expect(page.getByText('2 selected')).toBeVisible();
});

test('marks the title of a hidden tab when an answer is complete', async ({ page, person, installation, provider }) => {
  await addModels(person.caller, provider, ['hang-5']);
  const [id = ''] = await make(person.caller, ['Harbour notes']);
  const message = { id: crypto.randomUUID(), parts: [{ type: 'text', text: 'Hello' }] };
  await person.caller.must('POST', '/api/chat/start', { chatId: id, message });
  const { assistantId } = await person.caller.must('POST', '/api/chat', {
    chatId: id,
    messageId: message.id,
    detach: true,
  });
  await open(page, installation, `/c/${id}`);
  await expect(row(page, 'Harbour notes').getByRole('img', { name: 'Answer in progress' })).toBeVisible();
  await page.evaluate(`Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => 'hidden' });
    document.dispatchEvent(new Event('visibilitychange'))`);
  await person.caller.must('POST', `/api/chat/${id}/stop`, { assistantId });
  await expect(page).toHaveTitle(/^● Answer ready/);
  await expect(page.locator('link[rel="icon"]')).toHaveAttribute('href', /^data:image\/png/);
  await page.evaluate(`delete document.visibilityState; document.dispatchEvent(new Event('visibilitychange'))`);
  await expect(page).toHaveTitle('Harbour notes · Homeport');
});
