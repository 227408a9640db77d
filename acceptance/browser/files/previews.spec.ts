import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Frame, Page } from '@playwright/test';
import { addModels } from '../../product.ts';
import { expectAccessible, expectNoSidewaysScroll } from '../accessible.ts';
import { addPerson, expect, giveCookie } from '../fixtures.ts';
import { leaveCanaries, tryAttacks, tryForeignAttacks } from '../preview-attacks.ts';
import { test as base } from '../workspace-fixtures.ts';

const denied = 'Access is denied for this document.';

const test = base.extend({
  // The browser reports every attack that it stops.
  quiet: async ({ page }, use) => {
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    await use(undefined);
    // An app without storage throws.
    expect(errors.filter((message) => message !== denied)).toEqual([]);
  },
});

function appFrame(page: Page): Frame {
  const frame = page.frames().find((each) => /\.localhost:/.test(each.url()));
  if (frame === undefined) throw new Error('the app is not shown');
  return frame;
}

type Seen = { url: string; headers: Record<string, string> };
const seenBy = (frame: Frame) => frame.evaluate(async () => (await fetch('/seen')).json() as Promise<Seen[]>);

test('opens an app of a model beside the conversation, isolated from Homeport', async ({
  page,
  context,
  installation,
  person,
  provider,
}, info) => {
  await addModels(person.caller, provider, ['app']);
  await page.goto(installation.url);
  await page.getByLabel('Message', { exact: true }).fill('Make an app and show it');
  await page.keyboard.press('Enter');
  await expect(page.locator('[data-role="assistant"][aria-busy="false"]')).toContainText('The app is ready.');
  const app = page.frameLocator('iframe[title="App on port 4173"]');

  await test.step('opens in the panel, with storage and WebSocket', async () => {
    await page.getByRole('button', { name: 'Counter app' }).click();
    await expect(app.locator('h1')).toHaveText('version 1');
    await expect(app.locator('#echo')).toHaveText('echo hello');
    await expect(app.locator('#kept')).toHaveText('visit 1');
  });
  await test.step('reloads after a change of its files', async () => {
    await appFrame(page).evaluate(async () => void (await fetch('/change')));
    await expect(app.locator('h1')).toHaveText('version 2');
    await expect(app.locator('#kept')).toHaveText(/^visit [2-9]$/);
  });

  const frame = appFrame(page);
  const { origin } = new URL(frame.url());
  await test.step('receives no cookies or tokens of the person', async () => {
    const seen = await seenBy(frame);
    expect(seen.length).toBeGreaterThan(2);
    expect(JSON.stringify(seen)).not.toMatch(/homeport\.|session|authorization|x-forwarded/i);
    expect(new Set(seen.map(({ headers }) => headers.host))).toEqual(new Set(['localhost:4173']));
  });
  const other = await addPerson(installation);
  await test.step('has no access to Homeport and to previews of others', async () => {
    const shown: string[] = [];
    page.on('dialog', (dialog) => {
      shown.push(dialog.message());
      void dialog.dismiss();
    });
    context.on('page', (popup) => shown.push(popup.url()));
    const { url } = await other.caller.must('POST', '/api/workspace/previews', { port: 4173 });
    const chats = async () => (await person.caller.must('GET', '/api/chats')).chats.length;
    const known = await chats();
    await page.evaluate(leaveCanaries);
    const [address, title] = [page.url(), await page.title()];
    const results = await frame.evaluate<Record<string, string>>(tryAttacks(installation.url, new URL(url).origin));
    expect(Object.entries(results).filter(([, result]) => result !== 'nothing')).toEqual([]);
    expect(Object.keys(results).length).toBeGreaterThanOrEqual(60);
    expect([page.url(), await page.title(), shown]).toEqual([address, title, []]);
    const cookies = await context.cookies();
    expect(cookies.filter(({ domain }) => domain.startsWith('.') || domain === 'localhost')).toEqual([]);
    expect(cookies.filter(({ domain }) => domain === '127.0.0.1').map(({ name }) => name)).toEqual(
      person.caller.cookie.split('; ').map((pair) => pair.split('=', 1)[0]),
    );
    // The workspace did not stop, no session ended, and no record was created.
    expect((await person.caller.must('GET', '/api/workspace/status')).phase).toBe('running');
    expect(await chats()).toBe(known);
    await frame.evaluate(() => fetch('/after'));
    const last = (await seenBy(frame)).find(({ url: at }) => at === '/after');
    expect(last?.headers.cookie).toMatch(/mine=1/);
    expect(last?.headers.cookie).not.toMatch(/homeport/);
  });
  await test.step('blocks other sites from the app', async () => {
    const site = createServer((_incoming, outgoing) => outgoing.setHeader('content-type', 'text/html').end('evil'));
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    const evil = await context.newPage();
    await evil.goto(`http://localhost:${(site.address() as AddressInfo).port}`);
    const results = await evil.evaluate<Record<string, string>>(tryForeignAttacks(origin));
    expect(Object.entries(results).filter(([, result]) => result !== 'nothing')).toEqual([]);
    // Forms and frames can open the address like links, and frames of other sites stay empty.
    const reached = (await seenBy(frame)).map(({ url }) => url).filter((url) => url.includes('evil'));
    expect(reached.filter((url) => url !== '/?evil-frame')).toEqual([]);
    await evil.close();
    site.close();
  });
  await test.step('opens in a tab, with a ticket that works once', async () => {
    const opening = context.waitForEvent('page');
    await page.getByRole('button', { name: 'Open in a new tab' }).click();
    const tab = await opening;
    await expect(tab.locator('#echo')).toHaveText('echo hello');
    expect(await tab.evaluate('window.opener === null')).toBe(true);
    const { url } = await person.caller.must('POST', '/api/workspace/previews', { port: 4173 });
    await tab.goto(url);
    await expect(tab.locator('h1')).toHaveText('version 2');
    const again = await context.newPage();
    expect((await again.goto(url))?.status()).toBe(401);
    await again.close();
    await tab.close();
  });
  await test.step('is hidden from other people, signed in or not', async () => {
    const theirs = await page.context().browser()?.newContext();
    if (theirs === undefined) throw new Error('no browser');
    await giveCookie(theirs, installation.url, other.caller);
    const stranger = await theirs.newPage();
    expect((await stranger.goto(origin))?.status()).toBe(401);
    await expect(stranger.getByRole('heading')).toHaveText('This preview is closed');
    await theirs.close();
  });
  const tab = await context.newPage();
  await test.step('lists ports', async () => {
    await page.getByRole('button', { name: 'All apps' }).click();
    await expect(page.getByRole('list', { name: 'Running apps' })).toContainText('Port 4173');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Open port 4173' }).click();
    await expect(app.locator('h1')).toHaveText('version 2');
    const { url } = await person.caller.must('POST', '/api/workspace/previews', { port: 4173 });
    await tab.goto(url);
  });
  await test.step('lists background processes with their output, also after a reload, and ends them', async () => {
    const look = (name: string) => page.screenshot({ path: info.outputPath(`${name}.png`) });
    await page.getByRole('tab', { name: 'Processes' }).click();
    const list = page.getByRole('list', { name: 'Background processes' });
    await expect(list).toContainText('exec node app.mjs');
    await expect(list).toContainText('asked for /?from=model');
    await look('processes-panel');
    await page.goto(`${installation.url}/workspace?tab=processes`);
    await expect(list).toContainText('asked for /?from=model');
    await expectAccessible(page);
    await look('processes');
    await page.setViewportSize({ width: 390, height: 844 });
    await page.emulateMedia({ colorScheme: 'dark' });
    await look('processes-narrow-dark');
    await expectNoSidewaysScroll(page);
    await tab.evaluate(() => fetch('/heard-now'));
    await expect(list).toContainText('asked for /heard-now');
    await list.getByRole('button', { name: 'Stop exec node app.mjs' }).click();
    await expect(list).toContainText('Ended by SIGTERM');
    await expect(list.getByRole('button', { name: /^Stop/ })).toHaveCount(0);
    await look('processes-ended');
  });
  await test.step('shows a page of Homeport for a stopped workspace, and refuses after a sign-out', async () => {
    await person.caller.must('DELETE', '/api/workspace/status');
    await expect(async () => expect((await tab.reload())?.status()).toBe(503)).toPass({ timeout: 60_000 });
    await expect(tab.getByRole('heading')).toHaveText('The workspace is asleep');
    await person.caller.must('POST', '/api/auth/sign-out');
    expect((await tab.reload())?.status()).toBe(401);
  });
});

test('offers an app its own tab where the browser keeps no data for apps in frames', async ({
  page,
  context,
  installation,
  person,
  provider,
}) => {
  await addModels(person.caller, provider, ['app']);
  await page.goto(installation.url);
  await page.getByLabel('Message', { exact: true }).fill('Make an app and show it');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Counter app' }).click();
  await expect(page.frameLocator('iframe[title="App on port 4173"]').locator('h1')).toHaveText('version 1');
  await expect(page.getByTitle('Storage check')).toHaveCount(0);
  const hint = page.getByText('keeps no data for apps in this pane');
  await expect(hint).toHaveCount(0);

  // As Chromium does where data of other sites is blocked.
  await context.addInitScript(`if (window !== top) Object.defineProperty(window, 'localStorage', {
    get: () => { throw new DOMException('${denied}', 'SecurityError'); },
  })`);
  await page.reload();
  await page.getByRole('button', { name: 'Counter app' }).click();
  await expect(hint).toBeVisible();
  await expectAccessible(page);
  const opened = context.waitForEvent('page');
  await page.getByRole('button', { name: 'Open in a new tab' }).last().click();
  await expect((await opened).locator('#kept')).toHaveText(/^visit/);
  await page.getByRole('button', { name: 'Dismiss' }).click();
  await expect(hint).toHaveCount(0);
});
