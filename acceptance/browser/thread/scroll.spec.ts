import type { Page } from '@playwright/test';
import { addModels } from '../../product.ts';
import { expect, finishAnswers, test } from '../fixtures.ts';

/** The thread moves only as the person wants it to. */

// Here things move as they do for most people.
test.use({ contextOptions: { reducedMotion: 'no-preference' } });

const field = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true });
const jump = (page: Page) => page.getByRole('button', { name: 'Jump to latest' });
const stop = (page: Page) => page.getByRole('button', { name: 'Stop' });
const model = 'pause-awkward-300@500';

type Position = { top: number; left: number };

/** How far the thread is scrolled, and how far it is from its end. */
function position(page: Page): Promise<Position> {
  return page.evaluate<Position>(`(() => {
    const box = document.querySelector('[role="log"]');
    return { top: box.scrollTop, left: box.scrollHeight - box.clientHeight - box.scrollTop };
  })()`);
}

const distance = async (page: Page) => (await position(page)).left;

async function ask(page: Page, text: string): Promise<void> {
  await field(page).fill(text);
  await field(page).press('Enter');
}

/** The answer has reached its pause: it has a word of its last piece, no more text arrives, and it is still running. */
async function expectPaused(page: Page): Promise<void> {
  const answer = page.locator('[data-role="assistant"][aria-busy="true"]');
  await expect(answer).toContainText('294');
  let before: string | null = null;
  await expect
    .poll(
      async () => {
        const [last, now] = [before, await answer.textContent()];
        before = now;
        return now === last;
      },
      { intervals: [400] },
    )
    .toBe(true);
}

async function wheel(page: Page, by: number): Promise<void> {
  const before = (await position(page)).top;
  await page.getByRole('log').hover();
  await page.mouse.wheel(0, by);
  await expect.poll(async () => Math.abs((await position(page)).top - before)).toBeGreaterThan(0);
  await settled(page);
}

/** Scrolling has settled: two checks a few frames apart see the same. */
async function settled(page: Page): Promise<void> {
  await page.evaluate(`(async () => {
    const box = document.querySelector('[role="log"]');
    for (let last = -1; last !== box.scrollTop; ) {
      last = box.scrollTop;
      for (let frame = 0; frame < 6; frame += 1) await new Promise(requestAnimationFrame);
    }
  })()`);
}

test('follows an answer, and stops following at the first upward scroll', async ({
  page,
  person,
  installation,
  provider,
}) => {
  await addModels(person.caller, provider, [model]);
  await page.setViewportSize({ width: 700, height: 560 });
  await page.goto(installation.url);
  await ask(page, 'Go');
  await expectPaused(page);
  await expect.poll(() => distance(page)).toBeLessThan(2);
  expect((await position(page)).top).toBeGreaterThan(500);

  await test.step('shows the jump button beyond 200 px and hides it below 60 px', async () => {
    await wheel(page, -150);
    await expect(jump(page)).toHaveCount(0);
    await wheel(page, -100);
    await expect(jump(page)).toBeVisible();
    await wheel(page, 150);
    await expect(jump(page)).toBeVisible();
    await wheel(page, 60);
    await expect(jump(page)).toHaveCount(0);
  });

  await test.step('stops following on keys and a selection', async () => {
    await page.getByRole('log').focus();
    await page.keyboard.press('End');
    await settled(page);
    await page.keyboard.press('PageUp');
    await settled(page);
    await expect(jump(page)).toBeVisible();
  });

  await test.step('keeps the position at the end of the answer', async () => {
    const before = (await position(page)).top;
    await finishAnswers(provider);
    await expect(stop(page)).toHaveCount(0);
    await settled(page);
    expect(Math.abs((await position(page)).top - before)).toBeLessThanOrEqual(1);
  });

  await jump(page).click();
  await expect.poll(() => distance(page)).toBeLessThan(2);
  await expect(jump(page)).toHaveCount(0);

  await test.step("one's own message leads to the end again", async () => {
    await wheel(page, -400);
    await ask(page, 'Again');
    await expectPaused(page);
    await expect.poll(() => distance(page)).toBeLessThan(2);
    await finishAnswers(provider);
    await expect(stop(page)).toHaveCount(0);
    await expect.poll(() => distance(page)).toBeLessThan(2);
  });

  await test.step('returns to the end with all text after a reload', async () => {
    await page.reload();
    await expect(page.locator('[data-role="assistant"]')).toHaveCount(2);
    await expect.poll(() => distance(page)).toBeLessThan(2);
  });
});

test('stays at the beginning of the answer with the other setting', async ({
  page,
  person,
  installation,
  provider,
}) => {
  await addModels(person.caller, provider, [model]);
  await page.setViewportSize({ width: 700, height: 560 });
  await page.goto(`${installation.url}/settings/account`);
  await page.getByText('Stay at the start').click();
  await page.goto(installation.url);
  await ask(page, 'Go');
  await expectPaused(page);
  await finishAnswers(provider);
  await expect(stop(page)).toHaveCount(0);
  await ask(page, 'And now stay');
  const asked = page.locator('[data-role="user"]').filter({ hasText: 'And now stay' });
  await expect(asked).toBeInViewport();
  await settled(page);
  const before = await asked.boundingBox();
  await expectPaused(page);
  await expect(jump(page)).toBeVisible();
  await finishAnswers(provider);
  await expect(stop(page)).toHaveCount(0);
  await settled(page);
  expect(Math.abs(((await asked.boundingBox())?.y ?? 0) - (before?.y ?? 0))).toBeLessThanOrEqual(2);
});
