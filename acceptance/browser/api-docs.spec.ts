import { expect, test } from './fixtures.ts';

/** The API's page works offline: with its own files only, under its own policy. */

test('the API describes itself offline', async ({ page, installation }) => {
  const origin = new URL(installation.url).origin;
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
  await page.goto(`${installation.url}/api/docs`);
  const operations = page.locator('.opblock');
  await expect(operations.first()).toBeVisible();
  const response = await page.request.get(`${installation.url}/api/openapi.json`);
  const { paths } = await response.json();
  const described = Object.values<object>(paths).flatMap((item) => Object.keys(item)).length;
  // One call by hand: the page's policy lets it reach the API.
  await page.locator('#operations-default-getHealth .opblock-summary-control').click();
  await page.getByRole('button', { name: 'Try it out' }).click();
  await page.getByRole('button', { name: 'Execute' }).click();
  await expect(page.locator('.live-responses-table tbody .response-col_status').first()).toContainText('200');
  // A long list draws only what is in view.
  const seen = new Set<string>();
  await page.mouse.move(400, 400);
  await expect
    .poll(
      async () => {
        const shown: string[] = await page.evaluate(`[...document.querySelectorAll('.opblock')].map(({ id }) => id)`);
        for (const id of shown) seen.add(id);
        await page.mouse.wheel(0, 300);
        return seen.size;
      },
      { intervals: [50], timeout: 60_000 },
    )
    .toBe(described);
  expect({ foreign, failed, complaints }).toEqual({ foreign: [], failed: [], complaints: [] });
});
