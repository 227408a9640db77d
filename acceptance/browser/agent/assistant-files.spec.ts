import { expectAccessible, expectNoSidewaysScroll } from '../accessible.ts';
import { addPerson, expect, giveCookie, test } from '../fixtures.ts';

const text = (name: string, content = name) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(content) });

test('gives a new assistant files, changes them, opens them, and restores a version', async ({
  page,
  installation,
  person,
}) => {
  const other = await addPerson(installation);
  const { project } = await person.caller.must('POST', '/api/projects', { name: 'Boats' });
  const member = { projectId: project.id, email: other.email, role: 'member' };
  await person.caller.must('POST', '/api/projects/members', member);
  const main = page.getByRole('main');
  const rows = main.getByRole('list', { name: 'Files and folders' }).getByRole('listitem');

  await test.step('chooses files before the assistant exists', async () => {
    await page.goto(`${installation.url}/assistants/new`);
    await expect(main).toContainText('No files yet. Add up to 50');
    await main.getByLabel('Name', { exact: true }).fill('Boat lawyer');
    await main
      .locator('[data-upload-picker]')
      .setInputFiles([text('law.txt', 'Boats have lights.'), text('draft.txt')]);
    await main.getByRole('button', { name: 'Remove draft.txt' }).click();
    await expect(main.getByRole('list', { name: 'Chosen files' }).getByRole('listitem')).toHaveCount(1);
    await main.getByText('Members of a project').click();
    await expectAccessible(page);
    // The first listing is made before the upload, and arrives after it.
    const uploaded = page.waitForResponse((response) => /\/api\/artifacts$/.test(response.url()));
    await page.route(
      /\/api\/artifacts\?/,
      async (route) => {
        const response = await route.fetch();
        await uploaded;
        await route.fulfill({ response });
      },
      { times: 1 },
    );
    await main.getByRole('button', { name: 'Create assistant' }).click();
    await expect(main.getByRole('heading', { name: 'Boat lawyer', level: 1 })).toBeVisible();
    await expect(rows).toHaveCount(1);
  });

  await test.step('adds, renames and deletes files without saving the form', async () => {
    await main.locator('[data-upload-picker]').setInputFiles([text('rules.txt')]);
    await expect(rows).toHaveCount(2);
    await main.getByLabel('Search files').press('Enter');
    await main.getByRole('button', { name: 'Options for “rules.txt”' }).click();
    await page.getByRole('menuitem', { name: 'Rename' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('New name').fill('harbor.txt');
    await dialog.getByLabel('New name').press('Enter');
    await expect(rows.filter({ hasText: 'harbor.txt' })).toHaveCount(1);
    await expect(page.getByText(/^Saved as version/)).toHaveCount(0);
    await main.getByRole('button', { name: 'Options for “law.txt”' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await expect(rows).toHaveCount(1);
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
  });

  await test.step('brings the files of a version back', async () => {
    await page.reload();
    await main.getByRole('button', { name: 'Options for Boat lawyer' }).click();
    await page.getByRole('menuitem', { name: 'Versions' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('What changed').first().click();
    await expect(dialog.locator('del').first()).toContainText('law.txt');
    await dialog.getByRole('button', { name: 'Restore version 2' }).click();
    await expect(dialog).toBeHidden();
    await expect(rows).toHaveCount(2);
    await expect(rows.filter({ hasText: 'law.txt' })).toHaveCount(1);
  });

  await test.step('another member opens a file and cannot change it', async () => {
    await giveCookie(page.context(), installation.url, other.caller);
    await page.goto(`${installation.url}/assistants`);
    await main.getByRole('link', { name: 'Details of Boat lawyer' }).click();
    await expect(rows).toHaveCount(2);
    await expect(main.getByRole('button', { name: 'Upload' })).toHaveCount(0);
    await main.getByRole('button', { name: 'Options for “law.txt”' }).click();
    await expect(page.getByRole('menuitem')).toHaveText(['Download']);
    await page.keyboard.press('Escape');
    await main.getByRole('button', { name: /^law\.txt/ }).click();
    const panel = page.getByRole('complementary', { name: 'Files' });
    await expect(panel).toContainText('Boats have lights.');
    await expect(panel.getByRole('button', { name: 'Share…' })).toHaveCount(0);
    await expectAccessible(page);
    await page.setViewportSize({ width: 390, height: 800 });
    await expectNoSidewaysScroll(page);
  });
});
