import { addModels } from '../../product.ts';
import { expectAccessibleHere } from '../accessible.ts';
import { expect } from '../fixtures.ts';
import { startReverseProxy } from '../reverse-proxy.ts';
import { test as strictTest } from '../workspace-fixtures.ts';

/** Reverse proxies in front of the product: their sign-in, their limits and the connections that they pass on. */

/** The browser reports each WebSocket that a proxy refuses. */
const test = strictTest.extend({
  quiet: async ({ page }, use) => {
    await use(undefined);
    await page.close();
  },
});

const endings = { redirects: 'Company sign-in', refuses: '401 Authorization Required' } as const;
for (const session of ['redirects', 'refuses'] as const) {
  test(`offers a reload once the session at a sign-in proxy has ended, and keeps the message: ${session}`, async ({
    page,
    installation,
    person,
    provider,
  }) => {
    await addModels(person.caller, provider, ['echo']);
    const proxy = await startReverseProxy(installation.url);
    try {
      await page.goto(proxy.url);
      const field = page.getByLabel('Message', { exact: true });
      await field.fill('Kept words');
      proxy.session = session;
      await field.press('Enter');
      const reload = page.getByRole('alert').getByRole('button', { name: 'Reload the page' });
      await expect(reload).toBeVisible();
      await expect(page.getByText('Your drafts are kept.')).toBeVisible();
      await expect(page.getByText('Kept words').first()).toBeVisible();
      await expectAccessibleHere(page);
      await reload.click();
      await expect(page.getByRole('heading', { name: endings[session] })).toBeVisible();
      proxy.session = 'open';
      await page.goto(proxy.url);
      await expect(page.getByText('Kept words').first()).toBeVisible();
    } finally {
      proxy.close();
    }
  });
}

test('reloads once for scripts that an update removed, but not while a sign-in proxy refuses', async ({
  page,
  installation,
  person,
  provider,
}) => {
  await addModels(person.caller, provider, ['echo']);
  const proxy = await startReverseProxy(installation.url);
  const fail = () => page.evaluate(`dispatchEvent(new Event('vite:preloadError'))`);
  const mark = () => page.evaluate('window.mark');
  try {
    await page.goto(proxy.url);
    await expect(page.getByLabel('Message', { exact: true })).toBeVisible();
    await page.evaluate('window.mark = 1');
    proxy.session = 'refuses';
    const refused = page.waitForResponse((response) => response.url().endsWith('/api/health'));
    await fail();
    expect((await refused).status()).toBe(401);
    expect(await mark()).toBe(1);
    proxy.session = 'open';
    await fail();
    // While the page is reloaded, it has no context to ask.
    await expect.poll(() => mark().catch(() => 'reloads')).toBeUndefined();
    await page.evaluate('window.mark = 2');
    await fail();
    expect(await mark()).toBe(2);
  } finally {
    proxy.close();
  }
});

test('names the proxy that refused a large file, and its limit', async ({ page, installation, person, provider }) => {
  await addModels(person.caller, provider, ['echo']);
  const proxy = await startReverseProxy(installation.url);
  proxy.maximum = 1_048_576;
  try {
    await page.goto(proxy.url);
    const buffer = Buffer.alloc(3_000_000, 'a\n');
    await page.locator('[data-file-picker]').setInputFiles({ name: 'big.txt', mimeType: 'text/plain', buffer });
    await expect(page.getByText(/nginx in front of this server refuses requests of 3 MB/)).toBeVisible();
    await expect(page.getByText(/client_max_body_size/)).toBeVisible();
  } finally {
    proxy.close();
  }
});

test('fetches the web app manifest with the cookies of a sign-in proxy', async ({ page, installation, person }) => {
  expect(person.email).toContain('@');
  const proxy = await startReverseProxy(installation.url);
  try {
    await page.goto(proxy.url);
    const devtools = await page.context().newCDPSession(page);
    const { data } = await devtools.send('Page.getAppManifest');
    expect(JSON.parse(data ?? '').name).toBe('Homeport');
    expect(proxy.withoutCookie).toEqual([]);
  } finally {
    proxy.close();
  }
});

test('says why no terminal opens behind a proxy that passes on no upgrades', async ({ page, installation, person }) => {
  expect(person.email).toContain('@');
  const proxy = await startReverseProxy(installation.url);
  proxy.passesUpgrades = false;
  try {
    await page.goto(`${proxy.url}/workspace`);
    await page.getByRole('tab', { name: 'Terminal' }).click();
    await expect(page.getByRole('status').filter({ hasText: 'no WebSocket gets through' })).toBeVisible();
    await expect(page.getByText(/forward the Upgrade and Connection headers/)).toBeVisible();
    proxy.passesUpgrades = true;
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect(page.getByText('Connected')).toBeVisible();
  } finally {
    proxy.close();
  }
});
