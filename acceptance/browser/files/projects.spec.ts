import { addModels } from '../../product.ts';
import { expectAccessible, expectAccessibleHere, expectNoSidewaysScroll } from '../accessible.ts';
import { addPerson, expect, test } from '../fixtures.ts';
import { dismissNotice, keepNotices } from '../timers.ts';

test('creates, shares, leaves, archives and restores a project', async ({ page, installation, person, provider }) => {
  await keepNotices(page);
  await addModels(person.caller, provider, ['echo']);
  const other = await addPerson(installation);
  const main = page.getByRole('main');
  const dialog = page.getByRole('dialog');
  await page.goto(installation.url);
  await page.getByRole('button', { name: 'New project' }).click();
  await dialog.getByRole('button', { name: 'Create project' }).click();
  await expect(dialog.getByLabel('Name', { exact: true })).toBeFocused();
  await dialog.getByLabel('Name', { exact: true }).fill('Moon');
  await expectAccessibleHere(page);
  await dialog.getByRole('button', { name: 'Create project' }).click();
  await expect(page.getByRole('heading', { name: 'Moon', level: 1 })).toBeVisible();
  await expect(main).toContainText('No conversations yet');
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);

  await test.step('creates a conversation in the project', async () => {
    await main.getByRole('link', { name: 'New conversation' }).first().click();
    await page.getByLabel('Message', { exact: true }).fill('Hello there');
    await page.getByLabel('Message', { exact: true }).press('Enter');
    await expect(page.locator('[data-role="assistant"][aria-busy="false"]')).toContainText('Hello there');
    const { chats } = await person.caller.must('GET', '/api/chats');
    expect(chats[0].projectId).not.toBeNull();
    await main.getByRole('link', { name: /Moon/ }).click();
    await expect(main.getByRole('list', { name: 'Conversations' })).toContainText('Hello there');
  });

  await test.step('adds members who are chosen from a list, and protects the last owner', async () => {
    await main.getByRole('link', { name: /^Members/ }).click();
    const search = main.getByLabel('Name or e-mail address');
    await main.getByRole('button', { name: 'Add members' }).click();
    await expect(main).toContainText('Choose at least one person.');
    await search.fill('nobody-at-all@example.org');
    await expect(main).toContainText('Nobody matches “nobody-at-all@example.org”.');
    await search.fill(other.email);
    await main.getByRole('list', { name: 'People found' }).getByRole('checkbox').check();
    await expect(main.getByRole('list', { name: 'Chosen people' }).getByRole('listitem')).toHaveCount(1);
    await expectAccessible(page);
    await main.getByRole('button', { name: 'Add 1 member' }).click();
    const members = main.getByRole('list', { name: 'Members' });
    await expect(members.getByRole('listitem')).toHaveCount(2);
    await expect(members.getByRole('listitem').first().getByRole('combobox')).toHaveCount(0);
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
    await members.getByRole('combobox').selectOption('owner');
    await expect(members.getByRole('combobox')).toHaveCount(2);
  });

  await test.step('archives with undo, and restores', async () => {
    const archive = async () => {
      await main.getByRole('button', { name: 'Options for the project “Moon”' }).click();
      await page.getByRole('menuitem', { name: 'Archive' }).click();
      await expect(main).toContainText('This project is archived');
    };
    await archive();
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect(main).not.toContainText('This project is archived');
    await archive();
    await expectAccessible(page);
    const side = page.getByRole('complementary', { name: 'Sidebar' });
    await expect(side.getByRole('link', { name: 'Moon' })).toBeHidden();
    await side.getByRole('button', { name: 'Archived conversations' }).click();
    await side.getByRole('button', { name: 'Restore the project “Moon”' }).click();
    await expect(main).not.toContainText('This project is archived');
  });

  await test.step('leaves the project', async () => {
    await main.getByRole('button', { name: 'Options for the project “Moon”' }).click();
    await page.getByRole('menuitem', { name: 'Leave…' }).click();
    await dialog.getByRole('button', { name: 'Leave project' }).click();
    await expect(page).toHaveURL(`${installation.url}/`);
    expect((await person.caller.must('GET', '/api/projects')).projects).toEqual([]);
    expect((await other.caller.must('GET', '/api/projects')).projects).toHaveLength(1);
  });
});

test('moves a conversation into a project with its files, and out', async ({ page, installation, person }) => {
  await keepNotices(page);
  const { project } = await person.caller.must('POST', '/api/projects', { name: 'Sun' });
  const { chat } = await person.caller.must('POST', '/api/chats', { title: 'Alone' });
  for (const scope of [{ projectId: project.id }, { chatId: chat.id }]) {
    const form = new FormData();
    for (const [name, value] of Object.entries(scope)) form.append(name, value);
    form.append('path', 'plan.txt');
    form.append('file', new File(['plan'], 'plan.txt'));
    expect((await person.caller.fetch('/api/artifacts', { method: 'POST', body: form })).status).toBe(201);
  }
  await page.goto(`${installation.url}/c/${chat.id}`);
  const main = page.getByRole('main');
  const dialog = page.getByRole('dialog', { name: 'Move to a project' });
  const move = async (name: string) => {
    await main.getByRole('button', { name: 'Options for “Alone”' }).click();
    await page.getByRole('menuitem', { name: 'Move to a project…' }).click();
    await dialog.getByRole('radio', { name }).check();
    if (name === 'Sun') await expectAccessibleHere(page);
    await dialog.getByRole('button', { name: 'Move' }).click();
  };
  await move('Sun');
  await dismissNotice(page, '1 file moved to the folder “Alone”');
  await main.getByRole('link', { name: /Sun/ }).click();
  await main.getByRole('link', { name: 'Files' }).click();
  await main.getByRole('button', { name: /^Alone/ }).click();
  await main.getByRole('button', { name: /^plan.txt/ }).click();
  await expect(page.getByRole('complementary', { name: 'Files' })).toContainText('Alone/plan.txt');
  await expectAccessibleHere(page);
  await page.goto(`${installation.url}/c/${chat.id}`);
  await move('No project');
  await expect(page.getByText('Conversation removed from its project.')).toBeVisible();
  await expect(main.getByRole('link', { name: /Sun/ })).toBeHidden();
});
