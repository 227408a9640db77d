import type { Page } from '@playwright/test';
import { addModels } from '../../product.ts';
import { expectAccessible, expectNoSidewaysScroll } from '../accessible.ts';
import { expect } from '../fixtures.ts';
import { startModelServer } from '../model-server.ts';
import { test } from '../workspace-fixtures.ts';

/** File changes of an answer, beside the conversation. */

const red =
  'iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAKklEQVR4nGM4ISdHU8QwasGoBaMWjFowasGoBaMWjFowasGoBaMWDBULACXLED3NSh4NAAAAAElFTkSuQmCC';
const blue =
  'iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAKklEQVR4nGOQszlBU8QwasGoBaMWjFowasGoBaMWjFowasGoBaMWDBULAIAZiD2jkp+YAAAAAElFTkSuQmCC';
const lines = Array.from({ length: 30 }, (_, index) => `line ${index + 1} of the notes`).join('\n');
const command = [
  `sed -i 's/line 12 of/line twelve of/; s/line 13 of/line thirteen, which is longer than any of the others by far, of/' notes.txt`,
  `echo ${blue} | base64 -d > picture.png`,
  `rm old.txt; mkdir -p site/a-rather-long-folder-name; echo '<h1>Harbour</h1>' > site/a-rather-long-folder-name/index.html`,
  'seq 20000 > many-lines.txt',
].join('\n');

/** A model that runs the command and then answers "done". */
const startModel = () =>
  startModelServer((messages) => {
    const call = { index: 0, id: 'call-1', function: { name: 'bash', arguments: JSON.stringify({ command }) } };
    const isDone = messages.some(({ role }) => role === 'tool');
    return isDone ? { content: 'Everything is changed.' } : { tool_calls: [call] };
  });

const panelOf = (page: Page) => page.getByRole('complementary', { name: 'Changed files' });

test('shows the file changes of an answer, undoes and redoes them', async ({ page, installation, person }, info) => {
  using model = await startModel();
  await addModels(person.caller, model.url, ['worker']);
  const headers = { cookie: person.caller.cookie };
  const put = async (path: string, content: string | Buffer): Promise<void> => {
    const form = new FormData();
    form.set('path', path);
    form.set('file', new Blob([content]));
    const { status } = await fetch(`${installation.url}/api/workspace/files`, { method: 'POST', headers, body: form });
    expect(status).toBe(201);
  };
  const look = (name: string) => page.screenshot({ path: info.outputPath(`${name}.png`) });
  await put('~/notes.txt', `${lines}\n`);
  await put('~/old.txt', 'old\n');
  await put('~/picture.png', Buffer.from(red, 'base64'));
  await page.goto(installation.url);
  await page.getByLabel('Message', { exact: true }).fill('Change everything');
  await page.keyboard.press('Enter');
  const answer = page.locator('[data-role="assistant"][aria-busy="false"]');
  await expect(answer).toContainText('Everything is changed.');
  const line = answer.locator('[data-part="changes"]');
  const open = line.getByRole('button', { name: 'Review' });

  await test.step('states the changes under the answer, and shows each file with its change', async () => {
    await expect(line).toContainText('5 files changed, +20,003 −3');
    await look('line');
    await open.click();
    await expect(panelOf(page).getByRole('heading', { name: 'Changed files' })).toBeFocused();
    await expect(panelOf(page).getByRole('listitem')).toContainText([
      /Added~\/many-lines\.txt/,
      /Changed~\/notes\.txt/,
      /Deleted~\/old\.txt/,
      /Changed~\/picture\.png/,
      /Added~\/site\/a-rather-long-folder-name\/index\.html/,
    ]);
    await look('list');
    await panelOf(page)
      .getByRole('button', { name: /\bnotes\.txt$/, expanded: false })
      .click();
    const diff = panelOf(page).getByRole('region', { name: '~/notes.txt' });
    await expect(diff).toContainText('line twelve of the notes');
    await expect(diff).not.toContainText('line 5 of');
    await expect(diff.getByRole('row', { name: 'twelve' }).getByRole('cell').nth(1)).toHaveText('12');
    await look('diff');
    await panelOf(page).getByRole('button', { name: 'Side by side' }).click();
    await look('beside');
  });
  await test.step('shows pictures before and after', async () => {
    await panelOf(page)
      .getByRole('button', { name: /\bpicture\.png$/, expanded: false })
      .click();
    for (const side of ['Before', 'After']) {
      const picture = panelOf(page).getByRole('img', { name: `${side}: ~/picture.png` });
      await expect(picture).toHaveJSProperty('naturalWidth', 32);
    }
    await look('picture');
  });
  await test.step('shows the beginning of a long file', async () => {
    await panelOf(page)
      .getByRole('button', { name: /\bmany-lines\.txt$/, expanded: false })
      .click();
    const diff = panelOf(page).getByRole('region', { name: '~/many-lines.txt' });
    await expect(diff).toContainText('Only the first');
    expect(await diff.getByRole('row').count()).toBeLessThan(2_500);
    await panelOf(page)
      .getByRole('button', { name: /\bmany-lines\.txt$/, expanded: true })
      .click();
  });
  await test.step('is accessible', async () => {
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
    await page.setViewportSize({ width: 390, height: 844 });
    await look('narrow');
    await page.emulateMedia({ colorScheme: 'dark' });
    await look('narrow-dark');
    await page.setViewportSize({ width: 1280, height: 800 });
    await look('dark');
    await page.emulateMedia({ colorScheme: null });
  });
  const undone = panelOf(page).getByRole('listitem').filter({ hasText: 'Undone' });
  await test.step('undoes and redoes one file, then all', async () => {
    await panelOf(page).getByRole('button', { name: 'Undo ~/old.txt' }).click();
    await expect(panelOf(page).getByRole('listitem').filter({ hasText: 'old.txt' })).toContainText('Undone');
    await person.caller.must('DELETE', `/api/workspace/files?path=${encodeURIComponent('~/notes.txt')}`);
    await put('~/notes.txt', 'mine');
    await panelOf(page).getByRole('button', { name: 'Undo this answer' }).click();
    const question = page.getByRole('dialog', { name: 'These files were changed since' });
    await expect(question).toContainText('~/notes.txt');
    await look('question');
    await question.getByRole('button', { name: 'Continue anyway' }).click();
    await expect(undone).toHaveCount(5);
    await expect(line).toContainText('Undone');
    await expect(line.getByRole('button', { name: 'Redo' })).toBeVisible();
    await look('undone');
    await panelOf(page).getByRole('button', { name: 'Redo', exact: true }).click();
    await expect(undone).toHaveCount(0);
    const query = new URLSearchParams({ path: '~/notes.txt' });
    const file = await fetch(`${installation.url}/api/workspace/download?${query}`, { headers });
    expect(await file.text()).toBe('mine');
  });
  await test.step('undoes and redoes from the line, also after a reload', async () => {
    await panelOf(page).getByRole('button', { name: 'Close' }).click();
    await line.getByRole('button', { name: 'Undo' }).click();
    await expect(line).toContainText('Undone');
    await page.reload();
    await expect(line).toContainText('Undone');
    await line.getByRole('button', { name: 'Redo' }).click();
    await expect(line).not.toContainText('Undone');
    await open.click();
  });
  const offer = page.getByRole('dialog', { name: 'Undo the file changes, too?' });
  const since = page.getByRole('dialog', { name: 'These files were changed since' });
  await test.step('offers to undo the files of a regenerated answer', async () => {
    await panelOf(page).getByRole('button', { name: 'Close' }).click();
    await answer.getByRole('button', { name: 'Regenerate', exact: true }).click();
    await expect(offer).toContainText('changed 5 files');
    await expect(offer.getByRole('button', { name: 'Keep files' })).toBeFocused();
    await look('offer');
    await page.setViewportSize({ width: 390, height: 844 });
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect(offer).toBeInViewport();
    await look('offer-narrow-dark');
    await expectAccessible(page);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.emulateMedia({ colorScheme: null });
    await offer.getByRole('button', { name: 'Cancel' }).click();
    await open.click();
    await expect(panelOf(page).getByRole('listitem')).toHaveCount(5);
    await expect(undone).toHaveCount(0);
    await panelOf(page).getByRole('button', { name: 'Close' }).click();
    await answer.getByRole('button', { name: 'Regenerate', exact: true }).click();
    await offer.getByRole('button', { name: 'Undo 5 files' }).click();
    await expect(page.getByText('Version 2 of 2')).toBeAttached();
    await expect(answer).toContainText('Everything is changed.');
    await open.click();
    // Without the undo there would be no such file to delete.
    await expect(panelOf(page).getByRole('listitem').filter({ hasText: 'old.txt' })).toContainText('Deleted');
  });
  await test.step('asks before it replaces later file changes on an edit', async () => {
    await person.caller.must('DELETE', `/api/workspace/files?path=${encodeURIComponent('~/many-lines.txt')}`);
    await put('~/many-lines.txt', 'mine');
    await page.getByRole('button', { name: 'Edit message' }).click();
    await page.getByLabel('Edit your message').fill('Change everything again');
    await page.keyboard.press('ControlOrMeta+Enter');
    await offer.getByRole('button', { name: /^Undo \d files$/ }).click();
    await expect(since).toContainText('~/many-lines.txt');
    await since.getByRole('button', { name: 'Keep files' }).click();
    await expect(page.locator('[data-role="user"] [data-part="text"]')).toHaveText('Change everything again');
    await expect(answer).toContainText('Everything is changed.');
  });
});
