import type { Page } from '@playwright/test';
import { addModels, type Json } from '../../product.ts';
import { expectAccessible, expectAccessibleHere } from '../accessible.ts';
import { expect, giveCookie } from '../fixtures.ts';
import { startModelServer } from '../model-server.ts';
import { test as withWorkspace } from '../workspace-fixtures.ts';

/** Files that a model writes in the workspace: their preview, the links to them, and the list of a conversation. */

/** The pages in the frames report what their policy refuses. */
const test = withWorkspace.extend({
  quiet: async ({ page }, use) => {
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    await use(undefined);
    expect(errors).toEqual([]);
  },
});

const path = 'todo/index.html';
const page1 = '<!doctype html><h1>Tides</h1><script>document.querySelector("h1").append(" today")</script>';
const calls: Record<string, Json> = {
  write: { name: 'write_file', arguments: { path, content: page1 } },
  edit: { name: 'edit_file', arguments: { path, oldText: 'Tides', newText: 'Winds' } },
  run: { name: 'bash', arguments: { command: 'echo by-command > todo/made.txt' } },
};

/** A model that makes the call that the last message names, and then tells the path. */
const startModel = () =>
  startModelServer((messages) => {
    const isDone = messages.at(-1)?.role === 'tool';
    const asked = JSON.stringify(messages.findLast(({ role }) => role === 'user')?.content ?? '');
    const named = Object.keys(calls).find((name) => asked.includes(name));
    const call = named === undefined || isDone ? undefined : calls[named];
    if (call === undefined) return { content: `See \`${path}:1\`, not \`other/file.html\`.` };
    const made = { name: call.name, arguments: JSON.stringify(call.arguments) };
    return { tool_calls: [{ index: 0, id: `call-${messages.length}`, function: made }] };
  });

const panel = (page: Page) => page.getByRole('complementary', { name: 'Workspace' });
const shown = (page: Page) => panel(page).frameLocator('iframe');
const answers = (page: Page) => page.locator('[data-role="assistant"][aria-busy="false"]');

async function ask(page: Page, words: string): Promise<void> {
  const before = await answers(page).count();
  const field = page.getByLabel('Message', { exact: true });
  await field.fill(words);
  await field.press('Enter');
  await expect(answers(page)).toHaveCount(before + 1);
}

test('opens the page that a model writes once, follows its changes, and links to it', async ({
  page,
  installation,
  person,
}, info) => {
  using model = await startModel();
  await addModels(person.caller, model.url, ['worker']);
  await page.goto(installation.url);
  const look = (name: string) => page.screenshot({ path: info.outputPath(`${name}.png`) });

  await test.step('opens its preview beside the conversation', async () => {
    await ask(page, 'write it');
    await expect(shown(page).getByRole('heading', { name: 'Tides today' })).toBeVisible();
    await expect(panel(page).locator('iframe')).toHaveAttribute('sandbox', 'allow-scripts');
    await look('opened');
    await expectAccessible(page);
  });
  await test.step('reloads it when the model changes it', async () => {
    await ask(page, 'edit it');
    await expect(shown(page).getByRole('heading', { name: 'Winds today' })).toBeVisible();
    await panel(page).getByRole('button', { name: 'Source' }).click();
    await expect(panel(page).locator('pre')).toContainText('<h1>Winds</h1>');
  });
  await test.step('keeps the state of the workspace in one line', async () => {
    await expect(panel(page).getByText('Memory')).toHaveCount(0);
    await panel(page).getByRole('button', { name: 'Details' }).click();
    await expect(panel(page).getByText('Memory')).toBeVisible();
    await expectAccessibleHere(page);
    await look('details');
  });
  await test.step('stays closed once the person has closed it', async () => {
    await panel(page)
      .getByRole('button', { name: /^Close/ })
      .click();
    await ask(page, 'write it again');
    await expect(panel(page)).toHaveCount(0);
  });
  await test.step('opens it from a path in the answer, and from a tool’s row', async () => {
    await expect(answers(page).last().getByRole('link', { name: 'other/file.html' })).toHaveCount(0);
    await answers(page)
      .last()
      .getByRole('link', { name: `${path}:1` })
      .click();
    await expect(shown(page).getByRole('heading', { name: 'Tides today' })).toBeVisible();
    await panel(page)
      .getByRole('button', { name: /^Close/ })
      .click();
    await answers(page).first().getByRole('link', { name: path, exact: true }).click();
    await expect(shown(page).getByRole('heading', { name: 'Tides today' })).toBeVisible();
    await panel(page)
      .getByRole('button', { name: /^Close/ })
      .click();
  });
  await test.step('lists what was attached and written, also by commands, in one place', async () => {
    await page
      .locator('[data-file-picker]')
      .setInputFiles([{ name: 'plan.txt', mimeType: 'text/plain', buffer: Buffer.from('plan') }]);
    await expect(
      page.getByRole('list', { name: 'Files in this message' }).getByRole('button', { name: /^Remove/ }),
    ).toHaveCount(1);
    await ask(page, 'run it');
    await page
      .getByRole('main')
      .getByRole('button', { name: /^Options for/ })
      .click();
    await page.getByRole('menuitem', { name: 'Files' }).click();
    const files = page.getByRole('complementary', { name: 'Files' });
    await expect(files.getByRole('button', { name: /plan\.txt.*attached/ })).toBeVisible();
    const written = files.getByRole('list', { name: 'In the workspace' });
    await expect(written.getByRole('listitem')).toContainText([/index\.html/, /made\.txt/]);
    await look('files');
    await expectAccessible(page);
    await page.setViewportSize({ width: 390, height: 844 });
    await look('files-narrow');
    await page.setViewportSize({ width: 1280, height: 800 });
    await written.getByRole('link', { name: /made\.txt/ }).click();
    await expect(panel(page)).toContainText('by-command');
  });
});

test('opens no preview on a narrow screen or against the person’s setting', async ({
  browser,
  installation,
  person,
}) => {
  using model = await startModel();
  await addModels(person.caller, model.url, ['worker']);
  const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
  try {
    await giveCookie(context, installation.url, person.caller);
    const page = await context.newPage();
    await page.goto(installation.url);
    await ask(page, 'write it');
    await expect(
      answers(page)
        .last()
        .getByRole('link', { name: `${path}:1` }),
    ).toBeVisible();
    await expect(page.locator('iframe')).toHaveCount(0);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto(`${installation.url}/settings/account`);
    await page.getByText('Only link to it').click();
    await page.goto(installation.url);
    await ask(page, 'write it');
    await expect(
      answers(page)
        .last()
        .getByRole('link', { name: `${path}:1` }),
    ).toBeVisible();
    await expect(page.locator('iframe')).toHaveCount(0);
  } finally {
    await context.close();
  }
});
