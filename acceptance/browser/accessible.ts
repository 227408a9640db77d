import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, type Page } from '@playwright/test';
import type { AxeResults, RunOptions } from 'axe-core';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** A terminal draws its text twice, once for screen readers; its own least contrast is set to 4.5 to 1. */
const drawnByXterm = '.xterm';
const wcag = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
const sizes = [
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
] as const;

// An animation of an element that was hidden meanwhile never finishes: the wait has the duration of the longest one as
// its limit.
const animationsEnd = `Promise.race([
  new Promise((resolve) => setTimeout(resolve, 2000)),
  Promise.allSettled(document.getAnimations()
    .filter((each) => each.effect?.getComputedTiming().endTime !== Infinity)
    .map((each) => each.finished)),
])`;

// axe cannot judge elements under the title of a scrolled dialog.
const dialogsBegin = `document.querySelectorAll('[role="dialog"]').forEach((each) => each.scrollTo(0, 0))`;

/**
 * WCAG 2.2 AA by axe, light and dark, wide and narrow: no violation, and no text whose contrast could not be judged.
 */
export async function expectAccessible(page: Page): Promise<void> {
  await switchTo(page, 'light');
  for (const size of sizes) {
    await page.setViewportSize(size);
    await expectNoFaults(page, 'light', `light, ${size.width} px`);
  }
  await switchTo(page, 'dark');
  // Back from the narrow one: each switch of the size draws the whole page.
  for (const size of sizes.toReversed()) {
    await page.setViewportSize(size);
    await expectNoFaults(page, 'dark', `dark, ${size.width} px`);
  }
  await page.emulateMedia({ colorScheme: null });
}

/** The same at the present size only, for what another size would put away; `part` looks at one part of the page. */
export async function expectAccessibleHere(page: Page, part?: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await switchTo(page, colorScheme);
    await expectNoFaults(page, colorScheme, colorScheme, part);
  }
  await page.emulateMedia({ colorScheme: null });
}

async function switchTo(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', colorScheme);
}

/** At 320 px no element is wider than the screen (WCAG 1.4.10). */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  await page.setViewportSize({ width: 320, height: 640 });
  const widths = () =>
    page.evaluate<string[]>(`
    [document.documentElement, ...document.querySelectorAll('main, main *, [role="dialog"] *')]
      .filter((each) => each === document.documentElement || /auto|scroll/.test(getComputedStyle(each).overflowX))
      .filter((each) => each.scrollWidth > each.clientWidth + 1)
      .map((each) => each.tagName + '.' + each.className + ': ' + each.scrollWidth + ' > ' + each.clientWidth)`);
  // The page is rendered again for another size.
  await expect.poll(widths).toEqual([]);
  await page.setViewportSize(sizes[0]);
}

/** Fails on accessibility faults. Repeats the check while colors change after a switch of the scheme. */
async function expectNoFaults(page: Page, colorScheme: 'light' | 'dark', state: string, part?: string): Promise<void> {
  await page.evaluate(animationsEnd);
  await page.evaluate(dialogsBegin);
  await expect
    .poll(() => faults(page, colorScheme, part), {
      message: state,
      timeout: 60_000,
      intervals: [200, 500, 1_000, 4_000],
    })
    .toEqual([]);
}

/** The schemes differ only in their colors: other rules run in the light one. */
async function faults(page: Page, colorScheme: 'light' | 'dark', part?: string): Promise<string[]> {
  const context = { exclude: [drawnByXterm], ...(part === undefined ? {} : { include: [part] }) };
  const { violations, incomplete } = await runAxe(page, colorScheme === 'light' ? wcag : ['color-contrast'], context);
  const found = violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target.join(' ')}`));
  const unclear = incomplete
    .filter(({ id }) => id === 'color-contrast')
    .flatMap(({ nodes }) => nodes)
    // Elements cut off at the edge of a scrolled list are judged in the middle of the list.
    .filter((node) => node.any[0]?.data?.messageKey !== 'elmPartiallyObscured')
    .map((node) => `contrast unclear: ${node.target.join(' ')}`);
  return [...found, ...unclear];
}

/**
 * Axe's own runner for Playwright costs ten times as much: it opens a page for each check. The contents of our frames
 * come from models and are not judged.
 */
export async function runAxe(
  page: Page,
  runOnly: string[],
  context: object = { exclude: [drawnByXterm] },
): Promise<AxeResults> {
  if (!(await page.evaluate<boolean>(`'axe' in window`))) await page.evaluate(axeSource);
  const options: RunOptions = { runOnly, iframes: false, resultTypes: ['violations', 'incomplete'] };
  return page.evaluate<AxeResults>(`axe.run(${JSON.stringify(context)}, ${JSON.stringify(options)})`);
}
