import { type BrowserContext, expect, type Page } from '@playwright/test';

/** Timers of the pages: a busy machine may stand still for longer than they run. */

/** Timers of exactly these times take as long as a whole test may. Retries of requests call what is native. */
const lengthen = (times: readonly number[]) => `if (window === top) {
  const start = setTimeout;
  window.setTimeout = (run, time, ...given) => {
    const isLong = ${JSON.stringify(times)}.includes(time) && !String(run).includes('[native code]');
    return start(run, isLong ? 600000 : time, ...given);
  };
}`;

/**
 * Longer timers for every test: copy confirmations (2 s) stay; code colors (5 s) and diagrams (10 s) do not time out.
 */
export const patience = lengthen([2_000, 5_000, 10_000]);

/**
 * Notices (7 s) stay until they are dismissed, for tests that check one; it can cover elements that other tests click.
 */
export async function keepNotices(page: Page): Promise<void> {
  await page.addInitScript(lengthen([7_000]));
}

/** Checks a kept notice, and dismisses it so that it does not cover the next click. */
export async function dismissNotice(page: Page, text: string | RegExp): Promise<void> {
  const notice = page.getByRole('region', { name: 'Notices' }).locator('[data-kind]').filter({ hasText: text });
  await expect(notice).toBeVisible();
  await notice.getByRole('button', { name: 'Dismiss' }).click();
}

/** Pages do not refetch data with a refresh interval of half a minute or more. */
export async function stopPolls(context: BrowserContext): Promise<void> {
  await context.addInitScript(`{
    const start = setInterval;
    window.setInterval = (run, time, ...given) => (time >= 25000 ? 0 : start(run, time, ...given));
  }`);
}
