import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from '@playwright/test';
import { addModels } from '../../product.ts';
import { expectAccessible, expectAccessibleHere, expectNoSidewaysScroll } from '../accessible.ts';
import { expect, test } from '../fixtures.ts';

/** Long enough that a model has to look things up in it. */
const filler = 'The parties act in good faith, and notices are given in writing. '.repeat(50);
const pages = Array.from({ length: 40 }, (_, index) => `Clause ${index + 1}: nothing special. ${filler}`);
pages[36] = `Clause 37: the deposit is three rents. ${filler}`;
const broken = {
  name: 'broken.docx',
  mimeType: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  buffer: Buffer.from('PK\u0003\u0004cut short'),
};
const words = '[lease.pdf, page 41] [gone.pdf, 2]';

/** Printed by the browser itself. */
async function printLease(context: BrowserContext) {
  const page = await context.newPage();
  await page.setContent(pages.map((text) => `<p style="break-after: page">${text}</p>`).join(''));
  const buffer = await page.pdf();
  await page.close();
  return { name: 'lease.pdf', mimeType: 'application/pdf', buffer };
}

test('shows the text of a PDF for the model, and opens the cited page', async ({
  page,
  context,
  installation,
  person,
  provider,
}) => {
  await addModels(person.caller, provider, ['cite', 'echo']);
  await page.goto(installation.url);
  const field = page.getByLabel('Message', { exact: true });
  const tray = page.getByRole('list', { name: 'Files in this message' });
  await page.locator('[data-file-picker]').setInputFiles([await printLease(context), broken]);
  await expect(tray).toContainText('40 pages · about');
  await expect(tray).toContainText('The model only sees its name. The file is damaged or was cut short.');
  await tray.getByRole('button', { name: 'What the model reads of lease.pdf' }).click();
  await expect(page.getByRole('dialog')).toContainText('Clause 1: nothing special.');
  await expectAccessibleHere(page, '[role="dialog"]');
  await expectNoSidewaysScroll(page);
  await page.keyboard.press('Escape');
  await tray.getByRole('button', { name: 'Remove broken.docx from the message' }).click();

  await field.fill('How much is the deposit?');
  await field.press('Enter');
  const answer = page.locator('[data-role="assistant"][aria-busy="false"]').last();
  const panel = page.getByRole('complementary', { name: 'Files' });
  await answer.getByRole('link', { name: '[lease.pdf, page 37]' }).click();
  await expect(panel.locator('iframe')).toHaveAttribute('src', /\/api\/artifacts\/preview\?.*#page=37$/);
  await panel.getByRole('button', { name: 'Text for models' }).click();
  await expect(panel).toContainText('Clause 37: the deposit is three rents.');
  await expect(panel).toContainText('Page 37 of 40');
  await panel.getByRole('button', { name: 'Next page' }).click();
  await expect(panel).toContainText('Clause 38: nothing special.');
  await expectAccessible(page);

  await test.step('reports a missing page or file', async () => {
    await page.getByRole('button', { name: /^Model:/ }).click();
    await page.getByRole('option', { name: /^echo/ }).click();
    await field.fill(words);
    await field.press('Enter');
    await answer.getByRole('link', { name: '[lease.pdf, page 41]' }).click();
    await expect(panel.locator('iframe')).toHaveAttribute('src', /#page=41$/);
    await panel.getByRole('button', { name: 'Text for models' }).click();
    await expect(panel).toContainText('The file has no page by that name.');
    await expect(panel).toContainText('Clause 1: nothing special.');
    await answer.getByRole('link', { name: '[gone.pdf, 2]' }).click();
    await expect(panel).toContainText('File not found');
  });
});

test('opens a workbook as a table at the cited sheet', async ({ page, installation, person, provider }) => {
  await addModels(person.caller, provider, ['echo']);
  await page.goto(installation.url);
  const corpus = join(import.meta.dirname, '../../../server/test/document-corpus/files');
  const workbook = {
    name: 'budget.xlsx',
    mimeType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    buffer: readFileSync(join(corpus, 'openpyxl-budget.xlsx')),
  };
  await page.locator('[data-file-picker]').setInputFiles([workbook]);
  await expect(page.getByRole('list', { name: 'Files in this message' })).toContainText('3 pages · about');
  const field = page.getByLabel('Message', { exact: true });
  await field.fill('See [budget.xlsx, sheet Visitors] and [budget.xlsx, sheet Budget 2026]');
  await field.press('Enter');
  const answer = page.locator('[data-role="assistant"][aria-busy="false"]');
  const panel = page.getByRole('complementary', { name: 'Files' });
  await answer.getByRole('link', { name: '[budget.xlsx, sheet Visitors]' }).click();
  await expect(panel.getByRole('cell', { name: 'January' })).toBeVisible();
  await expect(panel).toContainText('Page 2 of 3');
  await expectAccessible(page);
  await answer.getByRole('link', { name: '[budget.xlsx, sheet Budget 2026]' }).click();
  await expect(panel.getByRole('cell', { name: 'Scaffolding' })).toBeVisible();
});
