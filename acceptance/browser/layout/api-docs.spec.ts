import type { Page } from '@playwright/test';
import { expectAccessible } from '../accessible.ts';
import { expect, test } from '../fixtures.ts';

/** The API's page and the documentation work offline: with their own files only, under their own policies. */

/** Collects requests to other hosts, failed requests and console messages of the page. */
async function watch(page: Page, origin: string) {
  const foreign: string[] = [];
  const failed: string[] = [];
  const complaints: string[] = [];
  await page.route('**', (route) => {
    const url = route.request().url();
    if (url.startsWith(`${origin}/`) || url.startsWith('data:')) return route.continue();
    foreign.push(url);
    return route.abort();
  });
  page.on('console', (message) => {
    if (message.type() === 'error' || /Content.Security.Policy/i.test(message.text())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('response', (response) => {
    if (response.status() >= 400) failed.push(`${response.status()} ${response.url()}`);
  });
  return { foreign, failed, complaints };
}

test('serves its API documentation offline', async ({ page, installation }) => {
  const seenByPage = await watch(page, new URL(installation.url).origin);
  await page.goto(`${installation.url}/api/docs`);
  const operations = page.locator('.opblock');
  await expect(operations.first()).toBeVisible();
  const response = await page.request.get(`${installation.url}/api/openapi.json`);
  const { paths, components } = await response.json();
  expect(JSON.stringify(components), 'the page resolves no component inside another one').not.toContain('$ref');
  const described = Object.values<object>(paths).flatMap((item) => Object.keys(item)).length;
  // One call by hand: the page's policy lets it reach the API.
  await page.locator('#operations-default-getHealth .opblock-summary-control').click();
  await expect(page.locator('#operations-default-getHealth')).toContainText('requestId');
  await page.getByRole('button', { name: 'Try it out' }).click();
  await page.getByRole('button', { name: 'Execute' }).click();
  await expect(page.locator('.live-responses-table tbody .response-col_status').first()).toContainText('200');
  // A long list renders only the visible part.
  const seen = new Set<string>();
  await page.mouse.move(400, 400);
  await expect
    .poll(
      async () => {
        const shown: string[] = await page.evaluate(`[...document.querySelectorAll('.opblock')].map(({ id }) => id)`);
        for (const id of shown) seen.add(id);
        // From the top again, if one step drew more than a screen further.
        if (await page.evaluate('scrollY + innerHeight >= document.documentElement.scrollHeight - 2'))
          await page.evaluate('scrollTo(0, 0)');
        else await page.mouse.wheel(0, 300);
        return seen.size;
      },
      { intervals: [50], timeout: 60_000 },
    )
    .toBe(described);
  expect(seenByPage).toEqual({ foreign: [], failed: [], complaints: [] });
});

test('serves and searches the documentation without a session', async ({ page, installation }) => {
  const seenByPage = await watch(page, new URL(installation.url).origin);
  await page.goto(`${installation.url}/docs`);
  await expect(page.getByRole('heading', { name: 'Homeport documentation', level: 1 })).toBeVisible();
  // Search by the keyboard alone.
  await page.keyboard.press('/');
  await page.keyboard.type('backup passphrase');
  const hits = page.getByRole('option');
  await expect(hits.first()).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('ArrowDown');
  await expect(hits.nth(1)).toHaveAttribute('aria-selected', 'true');
  const address = await hits.nth(1).locator('a').getAttribute('href');
  await page.keyboard.press('Enter');
  await page.waitForURL((url) => url.pathname + url.hash === address);
  await page.keyboard.press('/');
  await page.keyboard.type('zzzz');
  await expect(page.getByRole('status')).toHaveText('No matches');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('status')).toBeHidden();
  // A narrow window hides the menu, and nothing is wider than it.
  await page.setViewportSize({ width: 320, height: 640 });
  const menu = page.getByRole('navigation', { name: 'Documentation' });
  await expect(menu).toBeHidden();
  await page.getByRole('button', { name: 'Menu' }).click();
  await menu.getByRole('link', { name: 'Errors' }).click();
  await expect(page.locator('#rate_limited')).toBeVisible();
  const overflow: number = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
  expect(overflow).toBeLessThanOrEqual(0);
  await expectAccessible(page);
  expect(seenByPage).toEqual({ foreign: [], failed: [], complaints: [] });
});
