import { expectAccessible, expectNoSidewaysScroll } from '../accessible.ts';
import { expect, password, test } from '../fixtures.ts';

const exported = JSON.stringify({
  version: 4,
  folders: [],
  history: [
    {
      id: 'cb-1',
      name: 'Sailing plan',
      model: { id: 'gpt-3.5-turbo' },
      messages: [
        { role: 'user', content: 'Where to?' },
        { role: 'assistant', content: 'To the islands.' },
      ],
    },
    { id: 'cb-2', name: 'Nothing said', messages: [] },
  ],
});

test('previews, imports, opens and undoes an export of another program, and deletes the account', async ({
  page,
  installation,
  person,
}) => {
  const main = page.getByRole('main');
  await page.goto(`${installation.url}/settings/import-export`);
  await expect(main.getByRole('heading', { name: 'Import and export', level: 1 })).toBeVisible();
  await expectAccessible(page);
  await main
    .locator('input[type=file]')
    .setInputFiles({ name: 'history.json', mimeType: 'application/json', buffer: Buffer.from(exported) });
  await expect(main).toContainText('Preview: nothing has been imported yet.', { timeout: 60_000 });
  await expect(main).toContainText('chatbot-ui · history.json');
  await expect(main.getByRole('row', { name: /Nothing said.*it has no messages.*Left out/ })).toBeVisible();
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await main.getByRole('button', { name: 'Start import' }).click();
  await expect(main).toContainText('Imported 1 conversation.', { timeout: 60_000 });
  await main.getByRole('link', { name: 'Sailing plan' }).click();
  await expect(main).toContainText('To the islands.');
  await page.goBack();
  await main.getByRole('button', { name: 'Undo import' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Undo import' }).click();
  await expect(main).toContainText('The import was undone.');
  expect((await person.caller.must('GET', '/api/chats')).chats).toEqual([]);

  await main.getByRole('button', { name: 'Delete account…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Current password').fill('wrong-horse-42');
  await dialog.getByRole('button', { name: 'Delete account' }).click();
  await expect(dialog).toContainText('Nothing was deleted.');
  await expectAccessible(page);
  await dialog.getByLabel('Current password').fill(password);
  await dialog.getByRole('button', { name: 'Delete account' }).click();
  await expect(page).toHaveURL(/\/sign-in/);
  expect((await person.caller.call('GET', '/api/me')).status).toBe(401);
});
