import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { addModels } from '../../product.ts';
import { expectAccessibleHere, expectNoSidewaysScroll } from '../accessible.ts';
import { expect, test } from '../fixtures.ts';

/** Markdown in answers, at once and while it arrives. */

const answers = (page: Page) => page.locator('[data-role="assistant"][aria-busy="false"]');
const text = (page: Page) => answers(page).last().locator('[data-part="text"]');

async function say(page: Page, words: string): Promise<void> {
  const count = await answers(page).count();
  const field = page.getByLabel('Message', { exact: true });
  await field.fill(words);
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(answers(page)).toHaveCount(count + 1, { timeout: 60_000 });
}

const sample = `Costs ~5 to ~10. **「重点」**在此，见 https://example.org/a。&AElig;&ngE; ![a *red* boat](https://example.org/b.png)

\\[foo] is text, and **this** too[^2][^1].

| a | b |
|---|---|
| one<br>two | <b>three</b> |

0. zero
1. one

> [!WARNING]
> Mind the **gap**

[^1]: First note
[^2]: Second, with \`code\`

    and more
`;

test('shows notes, alerts, breaks in cells and characters by name', async ({
  page,
  installation,
  person,
  provider,
}) => {
  await addModels(person.caller, provider, ['echo']);
  await page.goto(installation.url);
  await say(page, sample);
  const shown = text(page);
  await expect(shown.locator('p').first()).toContainText('Costs ~5 to ~10. 「重点」在此，见 https://example.org/a。Æ≧̸');
  await expect(shown.locator('strong').first()).toHaveText('「重点」');
  await expect(shown.getByRole('link', { name: 'https://example.org/a', exact: true })).toBeVisible();
  await expect(shown.getByRole('button', { name: /^a red boat/ })).toBeVisible();
  await expect(shown).toContainText('[foo] is text, and this too12.');
  await expect(shown.locator('td').first().locator('br')).toHaveCount(1);
  await expect(shown.locator('td').nth(1)).toHaveText('<b>three</b>');
  await expect(shown.locator('ol').first()).toHaveAttribute('start', '0');
  const alert = shown.locator('[data-alert="warning"]');
  await expect(alert).toHaveText('WarningMind the gap');
  const notes = shown.getByRole('region', { name: 'Footnotes' });
  await expect(notes.getByRole('listitem').first()).toContainText('Second, with code');
  await shown.getByRole('link', { name: 'Footnote 1' }).click();
  await expect(notes.getByRole('listitem').first()).toBeFocused();
  await notes.getByRole('link', { name: 'Back to the text' }).first().click();
  await expect(shown.getByRole('link', { name: 'Footnote 1' })).toBeFocused();
  await expectAccessibleHere(page);
  await page.setViewportSize({ width: 360, height: 700 });
  await expectNoSidewaysScroll(page);
});

test('shows streamed documents as it shows them at once', async ({ page, installation, person, provider }) => {
  const modules = join(import.meta.dirname, '../../../node_modules');
  const documents = globSync('{*,@*/*}/README.md', { cwd: modules })
    .sort()
    .map((name) => readFileSync(join(modules, name), 'utf8').trim())
    .filter((words) => words.length > 1_000 && words.length < 12_000)
    .slice(0, Number(process.env.MARKDOWN_DOCUMENTS ?? 10));
  await addModels(person.caller, provider, ['echo']);
  for (const [at, words] of documents.entries()) {
    // A long conversation would take longer with every document.
    if (at % 5 === 0) await page.goto(installation.url);
    await say(page, words);
    const streamed = await htmlOf(page);
    await page.reload();
    await expect(text(page)).toBeVisible();
    expect(await htmlOf(page)).toBe(streamed);
  }
});

/** Formulas are set a little later, code is colored later, and ids differ between two renderings. */
async function htmlOf(page: Page): Promise<string> {
  await expect(text(page).locator('[data-formula="source"]')).toHaveCount(0);
  const html = await page.evaluate<string>(`(() => {
    const parts = document.querySelectorAll('[data-role="assistant"] [data-part="text"]');
    const copy = parts[parts.length - 1].cloneNode(true);
    for (const code of copy.querySelectorAll('pre')) code.replaceWith(code.textContent);
    return copy.innerHTML;
  })()`);
  return html.replaceAll(/ (?:id|for|href|aria-labelledby)="[^"]*_r_[^"]*"/g, '');
}
