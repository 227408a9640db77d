import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { addModels } from '../../product.ts';
import { expectAccessible, expectNoSidewaysScroll } from '../accessible.ts';
import { expect, giveCookie } from '../fixtures.ts';
import { test } from '../workspace-fixtures.ts';

const fileList = (page: Page) => page.getByRole('list', { name: 'Workspace files' });
const screen = (page: Page) => page.locator('.xterm-accessibility-tree');

async function typeInTerminal(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Workspace terminal' }).focus();
  await page.keyboard.type(text);
}

test('shows how a model creates a file, runs it and publishes the result', async ({
  page,
  installation,
  person,
  provider,
}) => {
  await addModels(person.caller, provider, ['workspace']);
  await page.goto(installation.url);
  await page.getByLabel('Message', { exact: true }).fill('Make a file, run it, publish the result');
  await page.keyboard.press('Enter');

  await test.step('shows the output of a running command, and folds it afterwards', async () => {
    const live = page.locator('[data-growing]');
    await expect(live).toContainText('line 1');
    await expect(live).not.toContainText('has exited');
    const go = new FormData();
    go.set('path', '~/go');
    go.set('file', new Blob(['go']));
    const headers = { cookie: person.caller.cookie };
    const { status } = await fetch(`${installation.url}/api/workspace/files`, { method: 'POST', headers, body: go });
    expect(status).toBe(201);
    await expect(page.locator('[data-role="assistant"][aria-busy="false"]')).toContainText('Published the result.');
    await expect(live).toHaveCount(0);
  });
  await test.step('describes each call', async () => {
    await page.locator('summary', { hasText: 'Ran a command' }).click();
    await expect(page.getByText('Exit code 0')).toBeVisible();
    await page.locator('summary', { hasText: 'Wrote count.sh' }).click();
    await expect(page.locator('summary').getByText('Published result.txt', { exact: true })).toBeVisible();
    await expectAccessible(page);
  });
  await test.step('opens the result beside the conversation', async () => {
    await page.getByRole('link', { name: 'Open result.txt' }).click();
    await expect(page.getByRole('complementary', { name: 'Files' })).toContainText('line 4');
  });
  await test.step('shows the file in the terminal', async () => {
    await page
      .getByRole('main')
      .getByRole('button', { name: /^Options for/ })
      .click();
    await page.getByRole('menuitem', { name: 'Workspace' }).click();
    await expect(fileList(page)).toContainText('count.sh');
    await page.getByRole('tab', { name: 'Terminal' }).click();
    await expect(page.getByText('Connected')).toBeVisible();
    await typeInTerminal(page, 'ls; echo "sum $((40 + 2))"\n');
    await expect(screen(page)).toContainText('sum 42');
    await expect(screen(page)).toContainText('result.txt');
    await expectAccessible(page);
  });
  await test.step('reconnects to the same shell after a reload', async () => {
    await typeInTerminal(page, 'kept=7; echo set-$((1 + 1))\n');
    await expect(screen(page)).toContainText('set-2');
    await page.goto(`${installation.url}/workspace?tab=terminal`);
    await expect(screen(page)).toContainText('sum 42');
    await typeInTerminal(page, 'echo "kept $kept"\n');
    await expect(screen(page)).toContainText('kept 7');
  });
  await test.step('stays stopped until a person starts it, with its home unchanged', async () => {
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await page.getByRole('button', { name: 'Stop workspace' }).click();
    await expect(page.getByRole('heading', { name: 'The workspace is stopped' })).toBeVisible();
    await expectAccessible(page);
    expect((await person.caller.must('GET', '/api/workspace/status')).phase).toBe('stopped');
    await page.getByRole('button', { name: 'Start workspace' }).click();
    await page.getByRole('tab', { name: 'Files' }).click();
    await expect(fileList(page)).toContainText('count.sh');
  });
  await test.step('stops when idle, shows the reason, and keeps its home', async () => {
    // Instead of waiting half an hour, its last use is moved back until a sweep has noticed. Looking at the files
    // counts as use.
    const halfAnHourAgo = "update workspaces set last_activity_at = now() - interval '31 minutes'";
    await expect
      .poll(
        async () => {
          await installation.query(halfAnHourAgo);
          return (await person.caller.must('GET', '/api/workspace/status')).phase;
        },
        { timeout: 90_000, intervals: [500] },
      )
      .toBe('stopped');
    await expect(page.getByRole('heading', { name: 'The workspace is stopped' })).toBeVisible();
    await expect(page.getByText('nothing used it for 30 minutes')).toBeVisible();
    await page.getByRole('button', { name: 'Start workspace' }).click();
    await expect(fileList(page)).toContainText('count.sh');
  });
});

test('offers the keys of a shell on a phone', async ({ browser, installation, person }) => {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  try {
    await giveCookie(context, installation.url, person.caller);
    const page = await context.newPage();
    await page.goto(`${installation.url}/workspace?tab=terminal`);
    await expect(page.getByText('Connected')).toBeVisible();
    const keys = page.getByRole('toolbar', { name: 'Extra keys' });
    await typeInTerminal(page, 'echo first-$((1 + 1))\n');
    await expect(screen(page)).toContainText('first-2');
    await keys.getByRole('button', { name: 'Up arrow' }).tap();
    await typeInTerminal(page, '-again\n');
    await expect(screen(page)).toContainText('first-2-again');
    // Ctrl-C must meet a running command: a shell that is still reading its line, or is between two commands, loses it.
    await typeInTerminal(page, "sh -c 'echo run-$((2 - 1)); sleep 600; echo not-reached-$((1 + 1))'\n");
    await expect(screen(page)).toContainText('run-1');
    await keys.getByRole('button', { name: 'Ctrl' }).tap();
    await expect(keys.getByRole('button', { name: 'Ctrl' })).toHaveAttribute('aria-pressed', 'true');
    await typeInTerminal(page, 'c');
    await expect(keys.getByRole('button', { name: 'Ctrl' })).toHaveAttribute('aria-pressed', 'false');
    await typeInTerminal(page, 'echo free-$((1 + 1))\n');
    await expect(screen(page)).toContainText('free-2');
    await expect(screen(page)).not.toContainText('not-reached-2');
    await typeInTerminal(page, 'echo ta');
    await keys.getByRole('button', { name: 'Tab', exact: true }).tap();
    await keys.getByRole('button', { name: 'Esc' }).tap();
    await expectNoSidewaysScroll(page);
    await expectAccessible(page);
  } finally {
    await context.close();
  }
});

test('uploads, previews, renames, downloads and deletes files, also by keyboard', async ({
  page,
  installation,
  person,
}) => {
  await page.goto(`${installation.url}/workspace`);
  await expect(page.getByText('Running')).toBeVisible();
  await page.locator('[data-upload-picker]').setInputFiles([
    { name: 'hello.py', mimeType: 'text/x-python', buffer: Buffer.from('print("hello")\n') },
    { name: 'b.txt', mimeType: 'text/plain', buffer: Buffer.from('words\n') },
  ]);
  await expect(fileList(page)).toContainText('hello.py');
  await expect(fileList(page)).toContainText('b.txt');
  await expectAccessible(page);

  await test.step('creates a folder, and reports a taken name', async () => {
    await page.getByRole('button', { name: 'New folder' }).click();
    await page.getByLabel('Name of the new folder').fill('a/b');
    await page.keyboard.press('Enter');
    await expect(page.getByText('A name can’t contain a slash.')).toBeVisible();
    await page.getByLabel('Name of the new folder').fill('box');
    await page.keyboard.press('Enter');
    await expect(fileList(page)).toContainText('box');
    await fileList(page)
      .getByRole('button', { name: /^b\.txt/ })
      .focus();
    await page.keyboard.press('F2');
    await page.getByLabel('New name for b.txt').fill('hello.py');
    await page.keyboard.press('Enter');
    await expect(page.getByText('Something with this name already exists.')).toBeVisible();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await expect(fileList(page).getByRole('button', { name: /^b\.txt/ })).toBeFocused();
  });
  await test.step('arrows, Enter and Backspace', async () => {
    await page.keyboard.press('ArrowDown');
    await expect(fileList(page).getByRole('button', { name: /^hello\.py/ })).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(page.getByText('print("hello")')).toBeVisible();
    await expectAccessible(page);
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download' }).click();
    expect(readFileSync(await (await download).path(), 'utf8')).toBe('print("hello")\n');
    await page.getByRole('navigation', { name: 'Folder' }).getByRole('button', { name: 'Home' }).click();
  });
  await test.step('deletes after a confirmation', async () => {
    await fileList(page)
      .getByRole('button', { name: /^b\.txt/ })
      .focus();
    await page.keyboard.press('Delete');
    await page.getByRole('button', { name: 'Delete file' }).click();
    await expect(fileList(page).getByRole('button', { name: /^b\.txt/ })).toHaveCount(0);
    const { entries } = await person.caller.must('GET', '/api/workspace/files');
    const names = entries.map(({ name }: { name: string }) => name);
    expect(names).toEqual(expect.arrayContaining(['box', 'hello.py']));
    expect(names).not.toContain('b.txt');
  });
  await test.step('reports a deleted folder', async () => {
    await page.goto(`${installation.url}/workspace?path=~/nothing`);
    await page.getByRole('button', { name: 'Go to home folder' }).click();
    await expect(fileList(page)).toContainText('hello.py');
  });
  await test.step('on a narrow screen', async () => {
    await page.setViewportSize({ width: 320, height: 640 });
    await expectNoSidewaysScroll(page);
    await page.getByRole('tab', { name: 'Processes' }).click();
    await expect(page.getByRole('heading', { name: 'Nothing is running in the background' })).toBeVisible();
    await expectAccessible(page);
  });
});
