import { readFileSync } from 'node:fs';
import type { Locator, Page } from '@playwright/test';
import { addModels } from '../../product.ts';
import { expectAccessible, expectAccessibleHere, expectNoSidewaysScroll } from '../accessible.ts';
import { expect, test } from '../fixtures.ts';
import { dismissNotice, keepNotices } from '../timers.ts';

// One pixel.
const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const table = { name: 'data.csv', mimeType: 'text/csv', buffer: Buffer.from('name,amount\n"Ray, Ann",12\n') };
const text = (name: string, words = 'words') => ({ name, mimeType: 'text/plain', buffer: Buffer.from(words) });

test('attaches files, keeps them over a reload, sends them by reference, and opens them beside the conversation', {
  tag: '@smoke',
}, async ({ page, installation, person, provider }) => {
  await addModels(person.caller, provider, ['echo']);
  await page.goto(installation.url);
  const field = page.getByLabel('Message', { exact: true });
  const tray = page.getByRole('list', { name: 'Files in this message' });
  await field.fill('Look');
  await page.locator('[data-file-picker]').setInputFiles([text('a.txt'), table]);
  await expect(tray.getByRole('button', { name: /^Remove/ })).toHaveCount(2);
  await test.step('attaches a pasted picture', async () => {
    await dropOrPaste(page, 'paste', [{ name: 'image.png', type: 'image/png', base64: picture.toString('base64') }]);
    await expect(tray.getByRole('img')).toHaveCount(0);
    await expect(tray.locator('img')).toHaveCount(1);
    await expect(tray).toContainText(/pasted-\d{6}\.png/);
  });
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await page.reload();
  await expect(field).toHaveValue('Look');
  await expect(tray.getByRole('listitem')).toHaveCount(3);
  await tray.getByRole('button', { name: 'Remove a.txt from the message' }).click();
  await expect(tray.getByRole('listitem')).toHaveCount(2);

  const start = page.waitForRequest((each) => each.url().endsWith('/api/chat/start'));
  await field.press('Enter');
  const { message } = (await start).postDataJSON();
  expect(message.parts).toEqual([
    {
      type: 'file',
      mediaType: 'text/csv',
      filename: 'data.csv',
      url: expect.stringMatching(/^artifact:\/\/[0-9a-f-]{36}$/),
    },
    expect.objectContaining({ type: 'file', mediaType: 'image/png' }),
    { type: 'text', text: 'Look' },
  ]);
  await expect(page.locator('[data-role="assistant"][aria-busy="false"]')).toBeVisible();
  await expect(page.locator('[data-role="assistant"]')).toContainText('Ray, Ann');
  await expect(tray).toBeHidden();
  await expectAccessible(page);

  await test.step('keeps the files of an edited message', async () => {
    await page.locator('[data-role="user"]').getByRole('button', { name: 'Edit message' }).click();
    await page.getByLabel('Edit your message').fill('Look again');
    const resent = page.waitForRequest((each) => each.url().endsWith('/api/chat/start'));
    await page.getByRole('main').getByRole('article').getByRole('button', { name: 'Send', exact: true }).click();
    const { message: edited } = (await resent).postDataJSON();
    expect(edited.parts).toEqual([...message.parts.slice(0, 2), { type: 'text', text: 'Look again' }]);
    // The edit field has the same text; after the edit, a message replaces it.
    await expect(page.locator('[data-role="user"] [data-part="text"]')).toHaveText('Look again');
    await expect(page.locator('[data-role="assistant"][aria-busy="false"]')).toContainText('Look again');
  });

  await test.step('shows a table in the panel, and reports a deleted file', async () => {
    await page.getByRole('link', { name: 'Open data.csv' }).click();
    const panel = page.getByRole('complementary', { name: 'Files' });
    await expect(panel.getByRole('cell', { name: 'Ray, Ann' })).toBeVisible();
    await expectAccessibleHere(page);
    const download = page.waitForEvent('download');
    await panel.getByRole('link', { name: 'Download' }).click();
    expect(readFileSync(await (await download).path(), 'utf8')).toBe(table.buffer.toString());
    const edge = panel.getByRole('separator', { name: 'Width of the panel' });
    const widthOf = async () => (await panel.boundingBox())?.width ?? 0;
    const usual = await widthOf();
    await edge.press('ArrowLeft');
    await expect.poll(widthOf).toBeCloseTo(usual + 32, 0);
    const from = await edge.boundingBox();
    await page.mouse.move((from?.x ?? 0) + 4, 300);
    await page.mouse.down();
    await page.mouse.move((from?.x ?? 0) - 60, 300, { steps: 3 });
    await page.mouse.up();
    await expect.poll(widthOf).toBeGreaterThan(usual + 80);
    const drawn = await widthOf();
    const chatId = /\/c\/([^?]+)/.exec(page.url())?.[1] ?? '';
    await person.caller.must('DELETE', `/api/artifacts?chatId=${chatId}&path=data.csv`);
    await page.reload();
    await expect.poll(widthOf).toBeCloseTo(drawn, 0);
    await edge.dblclick();
    await expect.poll(widthOf).toBeCloseTo(usual, 0);
    await expect(panel).toContainText('This file is no longer available');
    await panel.getByRole('button', { name: 'Close files' }).click();
    await expect(panel).toBeHidden();
  });
});

test('shows progress, cancel and retry of uploads, refuses large files and folders, and explains why sending waits', async ({
  page,
  installation,
  person,
  provider,
}) => {
  await addModels(person.caller, provider, ['echo']);
  const { chat } = await person.caller.must('POST', '/api/chats', { title: 'Uploads' });
  // The server sets the limit.
  await page.route(/\/c\//, async (route) => {
    const response = await route.fetch();
    const body = await response.text();
    await route.fulfill({
      response,
      body: body.replace(/"artifactMaxUploadBytes":\d+/, '"artifactMaxUploadBytes":1000'),
    });
  });
  let outcome: 'wait' | 'fail' | 'pass' = 'wait';
  let release = () => {};
  await page.route('**/api/artifacts', async (route) => {
    if (outcome === 'wait') await new Promise<void>((resolve) => (release = resolve));
    if (outcome === 'fail') return route.abort('connectionreset');
    return route.continue();
  });
  await page.goto(`${installation.url}/c/${chat.id}`);
  const field = page.getByLabel('Message', { exact: true });
  const tray = page.getByRole('list', { name: 'Files in this message' });
  const send = page.getByRole('button', { name: 'Send', exact: true });
  await field.fill('Look');
  await dropOrPaste(page, 'drop', [{ name: 'slow.txt', type: 'text/plain', base64: btoa('slow') }]);
  await expect(tray.getByRole('progressbar', { name: 'Uploading slow.txt' })).toBeVisible();
  await expect(send).toHaveAttribute('aria-disabled', 'true');
  await send.hover();
  await expect(page.getByText('Wait for your files to finish uploading.')).toBeVisible();
  await tray.getByRole('button', { name: 'Cancel uploading slow.txt' }).click();
  await expect(send).toHaveAttribute('aria-disabled', 'false');
  release();

  outcome = 'fail';
  await page.locator('[data-file-picker]').setInputFiles([text('fails.txt'), text('large.txt', 'x'.repeat(2000))]);
  await expect(tray).toContainText('Couldn’t reach the server.');
  await expect(tray).toContainText('2 kB is too large. The limit is 1 kB.');
  await expect(send).toHaveAttribute('aria-disabled', 'true');
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  outcome = 'pass';
  await tray.getByRole('button', { name: 'Try fails.txt again' }).click();
  await tray.getByRole('button', { name: 'Remove large.txt', exact: true }).click();
  await expect(tray.getByRole('button', { name: 'Remove fails.txt from the message' })).toBeVisible();
  await expect(send).toHaveAttribute('aria-disabled', 'false');
});

test('searches, renames, moves and deletes the files of a conversation, with undo', async ({
  page,
  installation,
  person,
}) => {
  await keepNotices(page);
  const { chat } = await person.caller.must('POST', '/api/chats', { title: 'Files' });
  await page.goto(`${installation.url}/c/${chat.id}?panel=files`);
  const panel = page.getByRole('complementary', { name: 'Files' });
  await expect(panel).toContainText('No files yet');
  await expectAccessibleHere(page);
  await panel.locator('[data-upload-picker]').setInputFiles([text('one.txt'), text('two.txt')]);
  const rows = panel.getByRole('list', { name: 'Files and folders' });
  await expect(rows.getByRole('listitem')).toHaveCount(2);
  const choose = async (name: string, action: string) => {
    await panel.getByRole('button', { name: `Options for “${name}”` }).click();
    await panel.getByRole('menuitem', { name: action }).click();
  };
  const dialog = page.getByRole('dialog');

  await choose('one.txt', 'Rename');
  await dialog.getByLabel('New name').fill('two.txt');
  await dialog.getByRole('button', { name: 'Rename' }).click();
  await expect(dialog).toContainText('Something with this name already exists.');
  await expectAccessibleHere(page);
  await dialog.getByLabel('New name').fill('first.txt');
  await dialog.getByRole('button', { name: 'Rename' }).click();
  await expect(rows).toContainText('first.txt');
  await dismissNotice(page, 'moved to first.txt.');

  await choose('first.txt', 'Move…');
  await dialog.getByLabel('Folder', { exact: true }).fill('papers/old');
  await dialog.getByRole('button', { name: 'Move' }).click();
  const moved = page.getByText('“first.txt” moved to papers/old/first.txt.').locator('..').locator('..');
  await expect(rows.getByRole('button', { name: /^papers/ })).toBeVisible();
  await expect(rows.getByRole('button', { name: /^first.txt/ })).toHaveCount(0);
  await moved.getByRole('button', { name: 'Undo' }).click();
  await expect(rows.getByRole('button', { name: /^first.txt/ })).toBeVisible();

  await panel.getByLabel('Search files').fill('two');
  await expect(rows.getByRole('listitem')).toHaveCount(1);
  await panel.getByLabel('Search files').fill('nothing like it');
  await expect(panel).toContainText('No results for “nothing like it”.');
  await panel.getByLabel('Search files').fill('');
  await choose('two.txt', 'Delete…');
  await expect(dialog).toContainText('This can’t be undone.');
  await dialog.getByRole('button', { name: 'Delete file' }).click();
  await expect(rows.getByRole('listitem')).toHaveCount(1);
  await dismissNotice(page, '“two.txt” deleted.');
  await expectOpensByKeyboard(page, rows);
});

async function expectOpensByKeyboard(page: Page, rows: Locator): Promise<void> {
  await rows.getByRole('button', { name: /^first.txt/ }).press('Enter');
  const panel = page.getByRole('complementary', { name: 'Files' });
  await expect(panel.getByRole('heading', { name: 'first.txt' })).toBeVisible();
  await expect(panel).toContainText('words');
  await panel.getByRole('button', { name: 'Add to message' }).click();
  await expect(page.getByRole('list', { name: 'Files in this message' })).toContainText('first.txt');
}

type Given = { name: string; type: string; base64: string };

/** A file dropped anywhere, or pasted into the field. */
async function dropOrPaste(page: Page, kind: 'drop' | 'paste', files: readonly Given[]): Promise<void> {
  await page.evaluate(`(() => {
    const data = new DataTransfer();
    for (const { name, type, base64 } of ${JSON.stringify(files)}) {
      const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      data.items.add(new File([bytes], name, { type }));
    }
    const field = document.querySelector('[data-composer]');
    if (${JSON.stringify(kind)} === 'paste') {
      field.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
      return;
    }
    for (const type of ['dragover', 'drop']) {
      document.body.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
    }
  })()`);
}
