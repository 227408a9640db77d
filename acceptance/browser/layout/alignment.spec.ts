import type { Locator, Page } from '@playwright/test';
import { addModels } from '../../product.ts';
import { expect, giveCookie, test } from '../fixtures.ts';
import { addTrusted, startMcp } from '../mcp-server.ts';

/** Alignment of elements below, beside and inside each other. */

const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** Repeats a check when scrolling or rendering happens between two looks. */
async function atRest(look: () => Promise<void>): Promise<void> {
  await expect(look).toPass({ timeout: 30_000 });
}

async function boxOf(locator: Locator) {
  await expect(locator).toBeVisible();
  const box = await locator.boundingBox();
  if (box === null) throw new Error('It has gone');
  const { x, y, width, height } = box;
  return { right: x + width, top: y, bottom: y + height, middle: y + height / 2 };
}

async function send(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message', { exact: true }).fill(text);
  await page.getByRole('button', { name: 'Send', exact: true }).click();
}

const done = (page: Page) => page.locator('[data-role="assistant"][aria-busy="false"]');

test('keeps the time of a message within its bubble, and pictures and files on one line', async ({
  page,
  installation,
  person,
  provider,
}) => {
  await addModels(person.caller, provider, ['echo']);
  await page.goto(installation.url);
  await page.locator('[data-file-picker]').setInputFiles([
    { name: 'data.csv', mimeType: 'text/csv', buffer: Buffer.from('a,b\n1,2\n') },
    { name: 'dot.png', mimeType: 'image/png', buffer: pixel },
  ]);
  await expect(page.getByRole('button', { name: /^Remove/ })).toHaveCount(2);
  await send(page, 'A message that is longer than its time, so that both have an end of their own');
  await expect(done(page)).toBeVisible();
  const message = page.locator('[data-role="user"]');
  await message.hover();
  await atRest(async () => {
    const bubble = await boxOf(message.locator('[data-part="text"]'));
    const time = await boxOf(message.locator('time'));
    expect(time.right).toBeLessThanOrEqual(bubble.right);
    expect(time.top).toBeGreaterThanOrEqual(bubble.bottom);
    const picture = await boxOf(message.locator('a, button').filter({ has: page.locator('img') }));
    const chip = await boxOf(message.getByRole('link', { name: 'Open data.csv' }));
    expect(chip.bottom).toBeCloseTo(picture.bottom, 0);
  });
  const icon = message.getByRole('link', { name: 'Open data.csv' }).locator('svg');
  await expect(icon).toHaveClass(/file-spreadsheet/);
});

test('aligns the field for a reason with its buttons', async ({ page, installation, person, provider }) => {
  const mcp = await startMcp([{ name: 'erase', description: 'Erases.', inputSchema: { type: 'object' } }]);
  await addModels(person.caller, provider, ['order']);
  await addTrusted(person.caller, { name: 'Box', url: mcp.url, toolPolicies: { erase: 'ask' } });
  await page.goto(installation.url);
  await send(page, 'mcp__Box__erase {}');
  const card = page.getByRole('region', { name: 'Allow Box to run erase?' });
  await card.getByRole('button', { name: 'Deny with a reason…' }).click();
  await atRest(async () => {
    const field = await boxOf(card.getByLabel('Reason for the model (optional)'));
    for (const name of ['Deny', 'Cancel']) {
      expect((await boxOf(card.getByRole('button', { name, exact: true }))).middle).toBeCloseTo(field.middle, 0);
    }
  });
  await card.getByRole('button', { name: 'Deny', exact: true }).click();
  await expect(done(page)).toBeVisible();
  mcp.close();
});

test('shows a tick for a completed task and an empty box for an open one', async ({
  page,
  installation,
  person,
  provider,
}) => {
  await addModels(person.caller, provider, ['echo']);
  await page.goto(installation.url);
  await send(page, '- [x] Sow\n- [ ] Reap');
  await expect(done(page).getByRole('listitem')).toHaveCount(2);
  const boxes = await page.evaluate<{ tick: string; width: number; isSeen: boolean }[]>(`
    [...document.querySelectorAll('[data-role="assistant"] li')].map((item) => {
      const box = item.querySelector('[role="img"]');
      const tick = getComputedStyle(box, '::after');
      const isSeen = tick.borderRightColor !== getComputedStyle(box).backgroundColor;
      return { tick: tick.content, width: parseFloat(tick.borderRightWidth), isSeen };
    })`);
  expect(boxes).toEqual([
    { tick: '""', width: 2, isSeen: true },
    { tick: 'none', width: expect.any(Number), isSeen: expect.any(Boolean) },
  ]);
});

test('aligns the fields for all models and the buttons of a new provider in German', async ({
  browser,
  installation,
  person,
  provider,
}) => {
  await addModels(person.caller, provider, ['echo']);
  const context = await browser.newContext({ locale: 'de-DE' });
  await giveCookie(context, installation.url, person.caller);
  const page = await context.newPage();
  await page.goto(`${installation.url}/settings/models`);
  await page
    .getByRole('button', { name: /^Modelle hinzufügen/ })
    .first()
    .click();
  await page.getByRole('checkbox', { name: 'words-500@50' }).check();
  const fields = [page.getByLabel('Kontextfenster'), page.getByLabel('Max. Ausgabe-Token'), page.getByLabel('Stufe')];
  // However many lines a label needs.
  await page.evaluate(`
    document.querySelector('[role="dialog"] label:has(+ * select)').textContent += ' ohne weitere Angabe'`);
  for (const width of [1280, 620, 560, 390]) {
    await page.setViewportSize({ width, height: 800 });
    const boxes = await Promise.all(fields.map(boxOf));
    // Boxes in one row; on a phone each box has its own row.
    const rows = boxes.map((one) => boxes.filter((other) => Math.abs(other.middle - one.middle) < 40));
    for (const [first, ...others] of rows) {
      for (const other of others) expect(other.middle, `${width} px`).toBeCloseTo(first?.middle ?? 0, 0);
    }
    if (width === 1280) expect(rows[0]).toHaveLength(3);
  }
  await page.setViewportSize({ width: 1280, height: 800 });

  await page.goto(`${installation.url}/settings/providers`);
  await page
    .getByRole('button', { name: /^Anbieter hinzufügen/ })
    .first()
    .click();
  const footer = page.getByRole('dialog').locator('form > :last-child').getByRole('button');
  await expect(footer.nth(1)).toBeVisible();
  const buttons = await footer.all();
  const [one, ...rest] = await Promise.all(buttons.map(boxOf));
  for (const other of rest) expect(other.middle).toBeCloseTo(one?.middle ?? 0, 0);
  await context.close();
});
