import { execFile, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from '@playwright/test';
import { addModels, type Caller, scratchFolder } from '../../product.ts';
import { expect, test } from '../fixtures.ts';
import { stopPolls } from '../timers.ts';

/** A conversation as people read it: hostile answers, printing, searching, two windows. */

/** Milliseconds, generous for a busy machine. Without limits these texts block the page for minutes. */
const awakeWithin = 60_000;

const answers = (page: Page) => page.locator('[data-role="assistant"][aria-busy="false"]');

async function ask(page: Page, text: string): Promise<void> {
  const before = await answers(page).count();
  const field = page.getByLabel('Message', { exact: true });
  await field.fill(text);
  await field.press('Enter');
  await expect(answers(page)).toHaveCount(before + 1);
}

/** A conversation with these messages already in it; returns its id. */
async function tell(caller: Caller, texts: readonly string[]): Promise<string> {
  const { chat } = await caller.must('POST', '/api/chats', {});
  for (const [index, text] of texts.entries()) {
    const message = { id: `${chat.id}-${index}`, parts: [{ type: 'text', text }] };
    await caller.must('POST', '/api/chat/start', { chatId: chat.id, message });
    const response = await fetch(`${caller.url}/api/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie: caller.cookie },
      body: JSON.stringify({ chatId: chat.id, messageId: message.id }),
    });
    await response.text();
  }
  return chat.id;
}

test('stays responsive during hostile answers', async ({ page, installation, person, provider }) => {
  await addModels(person.caller, provider, ['echo']);
  const hostile = [
    '$$\na\n'.repeat(24_000),
    `|${'a|'.repeat(8_000)}\n|${'-|'.repeat(8_000)}\n${'|a'.repeat(8_000)}`,
    '*a'.repeat(60_000),
    '~a~'.repeat(40_000),
    Array.from({ length: 300 }, (_, level) => `${'  '.repeat(level)}- a`).join('\n'),
    '> '.repeat(40_000),
    '['.repeat(80_000),
    '#\n'.repeat(40_000),
    '- a\n'.repeat(30_000),
  ];
  for (const text of hostile) {
    const chatId = await tell(person.caller, [text]);
    await page.goto(`${installation.url}/c/${chatId}`);
    await expect(answers(page), text.slice(0, 12)).toHaveCount(1, { timeout: awakeWithin });
    const field = page.getByLabel('Message', { exact: true });
    await field.pressSequentially('still here', { timeout: awakeWithin });
    await expect(field).toHaveValue('still here');
  }
});

test('prints all messages of a conversation', async ({ page, installation, person, provider }) => {
  const hasReader = spawnSync('pdftotext', ['-v']).status === 0;
  test.skip(!hasReader && process.env.REQUIRE_POPPLER !== '1', 'pdftotext is not installed');
  await addModels(person.caller, provider, ['echo']);
  const texts = Array.from({ length: 6 }, (_, index) => `Marker${index}. ${'Some words to fill a page. '.repeat(120)}`);
  const chatId = await tell(person.caller, texts);
  await page.goto(`${installation.url}/c/${chatId}`);
  await expect(answers(page)).toHaveCount(texts.length);
  const file = join(scratchFolder(), 'conversation.pdf');
  await writeFile(file, await page.pdf({ format: 'A4' }));
  const { stdout } = await promisify(execFile)('pdftotext', [file, '-']);
  for (const [index] of texts.entries()) expect(stdout).toContain(`Marker${index}`);
  expect(stdout.split('\f').length).toBeGreaterThan(3);
});

test('finds a word after a heading or in a list item', async ({ page, installation, person, provider }) => {
  await addModels(person.caller, provider, ['echo']);
  const chatId = await tell(person.caller, ['# Title\n\nZebra walks.\n\n- first\n- Yak rests']);
  await page.goto(`${installation.url}/c/${chatId}?find=zebra%20yak`);
  await expect(page.getByRole('search').filter({ hasText: 'of 4' })).toBeVisible();
});

test('shows a message sent in one window in another before its next poll', { tag: '@smoke' }, async ({
  page,
  context,
  installation,
  person,
  provider,
}) => {
  await addModels(person.caller, provider, ['echo']);
  const chatId = await tell(person.caller, ['One']);
  await stopPolls(context);
  const other = await context.newPage();
  for (const each of [page, other]) {
    await each.goto(`${installation.url}/c/${chatId}`);
    await expect(answers(each)).toHaveCount(1);
  }
  await ask(page, 'Two');
  await expect(answers(other)).toHaveCount(2);
  await expect(other.locator('[data-role="user"]').last()).toContainText('Two');
});

test('returns the focus after closing the edit box and after choosing files', async ({
  page,
  installation,
  person,
  provider,
}) => {
  await addModels(person.caller, provider, ['echo']);
  const chatId = await tell(person.caller, ['One']);
  await page.goto(`${installation.url}/c/${chatId}`);
  const edit = page.getByRole('button', { name: 'Edit message' });
  await edit.click();
  await page.keyboard.press('Escape');
  await expect(edit).toBeFocused();
  await page.getByRole('button', { name: 'Add files and tools' }).focus();
  const pdf = { name: 'plan.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.4 plain') };
  await page.locator('[data-file-picker]').setInputFiles(pdf);
  await expect(page.getByLabel('Message', { exact: true })).toBeFocused();
  await expect(page.getByText('The model only sees its name')).toBeVisible();
});
