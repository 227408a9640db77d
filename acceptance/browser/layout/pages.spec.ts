import type { Page } from '@playwright/test';
import { runAxe } from '../accessible.ts';
import { open, signedInPages } from '../every-page.ts';
import { expect, test } from '../fixtures.ts';

/** Rules for every page, checked on all of them. */

const sizes = [
  { width: 1280, height: 640 },
  { width: 390, height: 640 },
];

for (const locale of ['en-GB', 'de-DE']) {
  test(`never scrolls the window, and includes visible text in accessible names: ${locale}`, async ({
    browser,
    installation,
    provider,
  }) => {
    const context = await browser.newContext({ locale });
    const page = await context.newPage();
    for (const path of await signedInPages(context, installation, provider)) {
      await (path === '/' || path.includes('?') ? open(page, installation, path) : walk(page, path));
      await expectNoWindowScroll(page, path);
      const { violations } = await runAxe(page, ['label-content-name-mismatch']);
      expect(
        violations.flatMap(({ nodes }) => nodes.map(({ html }) => html)),
        path,
      ).toEqual([]);
    }
    await context.clearCookies();
    for (const path of ['/sign-in', '/invitation#none']) {
      await open(page, installation, path);
      await expectNoWindowScroll(page, path);
    }
    await context.close();
  });
}

test('has large enough targets on a touch screen', async ({ browser, installation, provider }) => {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  const page = await context.newPage();
  const faults: string[] = [];
  for (const path of await signedInPages(context, installation, provider)) {
    await open(page, installation, path);
    for (const target of await smallTargets(page)) faults.push(`${path}: ${target}`);
  }
  await context.close();
  expect(faults).toEqual([]);
});

/** The same within the loaded page, as a link does it; the next page shows by its title that it is there. */
async function walk(page: Page, path: string): Promise<void> {
  await page.evaluate(`document.title = 'Leaving'; history.pushState({}, '', ${JSON.stringify(path)})`);
  await expect(page).not.toHaveTitle('Leaving');
  await expect(page.getByRole('heading', { level: 1 }).first()).toBeVisible();
  await expect(page.locator('[aria-busy="true"]')).toHaveCount(0);
}

async function expectNoWindowScroll(page: Page, path: string): Promise<void> {
  for (const size of sizes) {
    await page.setViewportSize(size);
    await expect.poll(() => windowScroll(page), { message: `${path} at ${size.width} px` }).toEqual([]);
  }
}

/** Lists the window, or the frame that fills it, if it can be scrolled. */
function windowScroll(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`
    [document.documentElement, document.body, document.querySelector('#root'), document.querySelector('#root > div')]
      .filter((each) => each !== null)
      .flatMap((each) => {
        each.scrollTop = 10_000;
        each.scrollLeft = 10_000;
        const moved = each.scrollTop > 0 || each.scrollLeft > 0;
        each.scrollTop = 0;
        each.scrollLeft = 0;
        return moved && !/auto|scroll/.test(getComputedStyle(each).overflowY) ? [each.tagName + '.' + each.className] : [];
      })`);
}

/** Controls lower than 40 px, except links within text and hidden inputs behind labels. */
function smallTargets(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`
    [...document.querySelectorAll('button, select, summary, a[href], input:not([type="hidden"])')].flatMap((each) => {
      if (each.closest('p, .skip-link, td, [inert]') || each.className === 'skip-link') return [];
      if (each.type === 'file' || each.type === 'color') return [];
      const label = each.closest('label') ?? each.labels?.[0];
      const shown = each.type === 'checkbox' || each.type === 'radio' ? (label ?? each) : each;
      shown.scrollIntoView({ block: 'center' });
      const box = shown.getBoundingClientRect();
      if (box.width < 2 || box.height < 2 || !each.checkVisibility({ visibilityProperty: true })) return [];
      const middle = box.top + box.height / 2;
      const isHit = [-19, 19].every((off) => {
        const found = document.elementFromPoint(box.left + box.width / 2, middle + off);
        return found !== null && (shown.contains(found) || found.contains(each));
      });
      return box.height < 39.5 && !isHit ? [each.outerHTML.slice(0, 120) + ' ' + Math.round(box.height)] : [];
    })`);
}
