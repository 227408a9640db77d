import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Frame, Page } from '@playwright/test';
import { addModels } from '../product.ts';
import { expectAccessible } from './accessible.ts';
import { addPerson, expect, giveCookie } from './fixtures.ts';
import { test as base } from './workspace-fixtures.ts';

const test = base.extend({
  // The browser reports every attack that it stops.
  quiet: async ({ page }, use) => {
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    await use(undefined);
    expect(errors).toEqual([]);
  },
});

function appFrame(page: Page): Frame {
  const frame = page.frames().find((each) => /\.localhost:/.test(each.url()));
  if (frame === undefined) throw new Error('the app is not shown');
  return frame;
}

type Seen = { url: string; headers: Record<string, string> };
const seenBy = (frame: Frame) => frame.evaluate(async () => (await fetch('/seen')).json() as Promise<Seen[]>);

/** What an app tries from within its frame, as an expression: what each attempt came to. */
const attacks = (home: string) => `(async (home) => {
  const failing = async (attack) => {
    try {
      const result = await attack();
      return result === undefined ? 'nothing' : 'worked: ' + String(result).slice(0, 100);
    } catch {
      return 'refused';
    }
  };
  const socketTo = (url) => new Promise((resolve, reject) => {
    const socket = new WebSocket(url);
    socket.onopen = () => resolve('open');
    socket.onerror = () => reject(new Error('closed'));
  });
  const framed = (url) => new Promise((resolve, reject) => {
    const inner = document.createElement('iframe');
    inner.src = url;
    inner.onload = () => {
      try { resolve(inner.contentDocument?.title); } catch (error) { reject(error); }
    };
    document.body.append(inner);
  });
  await fetch('/cookies');
  document.cookie = 'toss=1; Domain=localhost';
  document.cookie = 'homeport.preview=evil; Path=/';
  const local = home.replace('127.0.0.1', 'localhost');
  const withCookies = (url, more) => fetch(url, { credentials: 'include', ...more });
  return {
    'readable cookie': await failing(() => /homeport\\.preview=(?!evil)|session/.exec(document.cookie)?.[0]),
    'parent document': await failing(() => window.parent.document.title),
    'top navigation': await failing(() => { window.top.location.href = 'about:blank'; }),
    'popup': await failing(() => window.open('about:blank') ?? undefined),
    'read the API': await failing(async () => (await withCookies(home + '/api/me')).status),
    'read localhost': await failing(async () => (await withCookies(local + '/api/me')).status),
    'write to the API': await failing(async () => (await withCookies(home + '/api/workspace/status', { method: 'DELETE' })).status),
    'terminal': await failing(() => socketTo(home.replace('http', 'ws') + '/api/workspace/terminal?id=x')),
    'Homeport in a frame': await failing(() => framed(home)),
    'service worker': await failing(async () => (await navigator.serviceWorker.register('/sw.js')).scope),
    'another port by name': await failing(async () => (await withCookies(location.origin.replace('4173-', '4174-'))).status),
    'path of tickets': await failing(async () => {
      const { status } = await fetch('/.homeport/open/' + 'a'.repeat(43));
      return status === 401 ? undefined : status;
    }),
  };
})(${JSON.stringify(home)})`;

test('an app that a model starts opens beside the conversation, and reaches nothing else', async ({
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
  await expect(page.locator('[data-role="assistant"][aria-busy="false"]')).toContainText('The app is ready.');
  const app = page.frameLocator('iframe[title="App on port 4173"]');

  await test.step('it opens in the panel, with its storage and its WebSocket', async () => {
    await page.getByRole('button', { name: 'Counter app' }).click();
    await expect(app.locator('h1')).toHaveText('version 1');
    await expect(app.locator('#echo')).toHaveText('echo hello');
    await expect(app.locator('#kept')).toHaveText('visit 1');
  });
  await test.step('a change of its files reloads it', async () => {
    await appFrame(page).evaluate(async () => void (await fetch('/change')));
    await expect(app.locator('h1')).toHaveText('version 2');
    await expect(app.locator('#kept')).toHaveText(/^visit [2-9]$/);
  });

  const frame = appFrame(page);
  const { origin } = new URL(frame.url());
  await test.step('nothing of the person has reached it', async () => {
    const seen = await seenBy(frame);
    expect(seen.length).toBeGreaterThan(2);
    expect(JSON.stringify(seen)).not.toMatch(/homeport\.|session|authorization|x-forwarded/i);
    expect(new Set(seen.map(({ headers }) => headers.host))).toEqual(new Set(['localhost:4173']));
  });
  await test.step('from within, Homeport is out of reach', async () => {
    const results = await frame.evaluate<Record<string, string>>(attacks(installation.url));
    expect(Object.entries(results).filter(([, result]) => result.startsWith('worked'))).toEqual([]);
    expect(new URL(page.url()).origin).toBe(new URL(installation.url).origin);
    // Its own cookies work, and none is for another host.
    const cookies = await context.cookies();
    expect(cookies.filter(({ domain }) => domain.startsWith('.'))).toEqual([]);
    expect((await person.caller.must('GET', '/api/workspace/status')).phase).toBe('running');
    await frame.evaluate(() => fetch('/after'));
    const last = (await seenBy(frame)).find(({ url }) => url === '/after');
    expect(last?.headers.cookie).toMatch(/mine=1/);
    expect(last?.headers.cookie).not.toMatch(/homeport/);
  });
  await test.step('from elsewhere, the app is out of reach', async () => {
    const site = createServer((_incoming, outgoing) => outgoing.setHeader('content-type', 'text/html').end('evil'));
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    const evil = await context.newPage();
    await evil.goto(`http://localhost:${(site.address() as AddressInfo).port}`);
    const answers = await evil.evaluate(async (target) => {
      const socket = new Promise((resolve) => {
        const opened = new WebSocket(`${target.replace('http', 'ws')}/evil-socket`);
        opened.onopen = () => resolve('open');
        opened.onerror = () => resolve('refused');
      });
      await fetch(`${target}/evil-get`, { mode: 'no-cors', credentials: 'include' }).catch(() => undefined);
      await fetch(`${target}/evil-post`, { method: 'POST', mode: 'no-cors', credentials: 'include' }).catch(() => 0);
      return socket;
    }, origin);
    expect(answers).toBe('refused');
    expect((await seenBy(frame)).filter(({ url }) => url.includes('evil'))).toEqual([]);
    await evil.close();
    site.close();
  });
  await test.step('in a tab it works as well, with the same ticket never again', async () => {
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
  await test.step('somebody else, signed in or not, sees none of it', async () => {
    const other = await addPerson(installation);
    const theirs = await page.context().browser()?.newContext();
    if (theirs === undefined) throw new Error('no browser');
    await giveCookie(theirs, installation.url, other.caller);
    const stranger = await theirs.newPage();
    expect((await stranger.goto(origin))?.status()).toBe(401);
    await expect(stranger.getByRole('heading')).toHaveText('This preview is closed');
    await theirs.close();
  });
  await test.step('ports are listed; with the workspace asleep there is a page of ours; signed out there is nothing', async () => {
    await page.getByRole('button', { name: 'All apps' }).click();
    await expect(page.getByRole('list', { name: 'Running apps' })).toContainText('Port 4173');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Open port 4173' }).click();
    await expect(app.locator('h1')).toHaveText('version 2');
    const tab = await context.newPage();
    const { url } = await person.caller.must('POST', '/api/workspace/previews', { port: 4173 });
    await tab.goto(url);
    await person.caller.must('DELETE', '/api/workspace/status');
    await expect(async () => expect((await tab.reload())?.status()).toBe(503)).toPass({ timeout: 10_000 });
    await expect(tab.getByRole('heading')).toHaveText('The workspace is asleep');
    await person.caller.must('POST', '/api/auth/sign-out');
    expect((await tab.reload())?.status()).toBe(401);
  });
});
