import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addModels } from '../../product.ts';
import { expectAccessible, expectNoSidewaysScroll } from '../accessible.ts';
import { addPerson, expect, giveCookie, test } from '../fixtures.ts';
import { dismissNotice, keepNotices } from '../timers.ts';

test('creates an assistant, shares it in a project, restores a version, and deletes it', async ({
  page,
  installation,
  person,
  provider,
}) => {
  await keepNotices(page);
  await addModels(person.caller, provider, ['echo']);
  const other = await addPerson(installation);
  await addModels(other.caller, provider, ['think']);
  const { project } = await person.caller.must('POST', '/api/projects', { name: 'Garden' });
  await person.caller.must('POST', '/api/projects/members', {
    projectId: project.id,
    email: other.email,
    role: 'member',
  });
  const main = page.getByRole('main');
  const dialog = page.getByRole('dialog');
  await page.goto(installation.url);
  await page.getByRole('link', { name: 'Assistants' }).click();
  await expect(main).toContainText('No assistants yet');
  await expectAccessible(page);

  await test.step('creates the assistant', async () => {
    await main.getByRole('link', { name: 'New assistant' }).click();
    await main.getByRole('button', { name: 'Create assistant' }).click();
    await expect(main.getByLabel('Name', { exact: true })).toBeFocused();
    await main.getByLabel('Name', { exact: true }).fill('Plant doctor');
    await main.getByLabel('Instructions', { exact: true }).fill('Ask for light and water first.');
    await main.getByRole('button', { name: 'Add starter' }).click();
    await expect(main.getByLabel('Starter 1', { exact: true })).toBeFocused();
    await main.getByLabel('Starter 1', { exact: true }).fill('My tomato has yellow leaves');
    await main.getByLabel('Model', { exact: true }).selectOption({ label: 'echo' });
    await main.getByText('Members of a project').click();
    await expect(main.getByLabel('Project', { exact: true })).toHaveValue(project.id);
    await main.getByText('Parameters').click();
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
    await main.getByRole('button', { name: 'Create assistant' }).click();
    await expect(main.getByRole('heading', { name: 'Plant doctor', level: 1 })).toBeVisible();
    await dismissNotice(page, 'Plant doctor created.');
  });

  await test.step('changes, compares and restores it', async () => {
    await main.getByLabel('Instructions', { exact: true }).fill('Ask for soil first.');
    await main.getByRole('button', { name: 'Save', exact: true }).click();
    await dismissNotice(page, 'Saved as version 2.');
    await main.getByRole('button', { name: 'Options for Plant doctor' }).click();
    await page.getByRole('menuitem', { name: 'Versions' }).click();
    await dialog.getByText('What changed').click();
    await expect(dialog.locator('del').first()).toContainText('light');
    await expect(dialog.locator('ins').first()).toContainText('soil');
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Restore version 1' }).click();
    await expect(dialog).toBeHidden();
    await expect(main.getByLabel('Instructions', { exact: true })).toHaveValue('Ask for light and water first.');
  });

  await test.step('lists missing parts for another member, who starts a conversation', async () => {
    await giveCookie(page.context(), installation.url, other.caller);
    await page.goto(`${installation.url}/assistants`);
    await expect(main.getByRole('region', { name: 'From your projects' })).toContainText('Uses your default model');
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
    await main.getByLabel('Search assistants').fill('nothing like it');
    await expect(main).toContainText('No assistants match');
    await main.getByRole('button', { name: 'Clear search' }).click();
    await main.getByRole('link', { name: 'Details of Plant doctor' }).click();
    await expect(main).toContainText('You don’t have its model.');
    await expect(main).toContainText('Ask for light and water first.');
    await expect(main.getByRole('textbox')).toHaveCount(0);
    await expectAccessible(page);
    await main.getByRole('link', { name: 'Start conversation' }).click();
    await expect(page).toHaveURL(/\/\?assistant=/);
  });

  await test.step('deletes the assistant', async () => {
    await giveCookie(page.context(), installation.url, person.caller);
    await page.goto(`${installation.url}/assistants`);
    await main.getByRole('link', { name: 'Edit Plant doctor' }).click();
    await main.getByRole('button', { name: 'Options for Plant doctor' }).click();
    await page.getByRole('menuitem', { name: 'Delete…' }).click();
    await dialog.getByRole('button', { name: 'Delete assistant' }).click();
    await expect(main).toContainText('No assistants yet');
    expect((await other.caller.must('GET', '/api/assistants')).assistants).toEqual([]);
  });
});

test('saves, finds, exports, imports and deletes prompts, with a report', async ({ page, installation, person }) => {
  const main = page.getByRole('main');
  const dialog = page.getByRole('dialog');
  const list = main.getByRole('list', { name: 'Prompts' });
  await page.goto(`${installation.url}/settings/prompts`);
  await expect(main).toContainText('No prompts yet');
  await main.getByRole('button', { name: 'New prompt' }).click();
  await dialog.getByLabel('Title').fill('Weekly report');
  await expect(dialog.getByLabel('Name', { exact: true })).toHaveValue('weekly-report');
  await dialog.getByLabel('Text', { exact: true }).fill('Write about {{topic}} for {{reader}}.');
  await expect(dialog.getByText('Asks for: topic and reader')).toBeVisible();
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Create prompt' }).click();
  await expect(list).toContainText('/weekly-report');

  const download = page.waitForEvent('download');
  await main.getByRole('button', { name: 'Export your prompts' }).click();
  const exported = await (await download).path();
  await main.getByRole('button', { name: 'Delete /weekly-report' }).click();
  await dialog.getByRole('button', { name: 'Delete prompt' }).click();
  await expect(main).toContainText('No prompts yet');
  const input = main.locator('input[type="file"]');
  await input.setInputFiles(exported);
  await expect(dialog).toContainText('1 prompt imported.');
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await expect(list).toContainText('Write about {{topic}} for {{reader}}.');

  await test.step('reports rejected prompts with reasons', async () => {
    const prompts = [
      { command: '/weekly-report', content: 'Other' },
      { command: '/fix', title: 'Fix', content: 'Fix:' },
      { title: 'Empty' },
    ];
    await input.setInputFiles({
      name: 'other.json',
      mimeType: 'application/json',
      buffer: Buffer.from(JSON.stringify(prompts)),
    });
    await expect(dialog).toContainText('1 prompt imported.');
    await expect(dialog).toContainText('/weekly-report You already have a prompt with this name.');
    await expect(dialog).toContainText('Empty It has no text.');
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await expect(list.getByRole('listitem')).toHaveCount(2);
    await expectNoSidewaysScroll(page);
  });
  expect((await person.caller.must('GET', '/api/prompts')).prompts).toHaveLength(2);
});

test('reviews and trusts a skill of another person, uses it in a message, and asks again after a change', async ({
  page,
  installation,
  person,
  provider,
}) => {
  await addModels(person.caller, provider, ['echo']);
  const other = await addPerson(installation);
  const { project } = await other.caller.must('POST', '/api/projects', { name: 'Garden' });
  await other.caller.must('POST', '/api/projects/members', {
    projectId: project.id,
    email: person.email,
    role: 'member',
  });
  const folder = join(mkdtempSync(join(tmpdir(), 'skill-')), 'tomatoes');
  const write = (path: string, text: string) => {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  write('SKILL.md', '---\nname: tomatoes\ndescription: Grows tomatoes.\n---\nWater them at dawn.');
  write('scripts/water.sh', 'echo water\u200b');
  const main = page.getByRole('main');
  const dialog = page.getByRole('dialog');

  await test.step('adds the skill from a folder', async () => {
    await giveCookie(page.context(), installation.url, other.caller);
    await page.goto(`${installation.url}/settings/skills`);
    await expect(main).toContainText('No skills yet');
    await main.getByRole('button', { name: 'Add skill' }).click();
    await dialog.getByRole('button', { name: 'Add skill' }).click();
    await expect(dialog.getByRole('alert')).toHaveText('Choose the folder or file first.');
    await dialog.locator('input[type="file"]').setInputFiles(folder);
    await expect(dialog).toContainText('tomatoes.zip');
    await dialog.getByText('Members of a project').click();
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Add skill' }).click();
    await expect(main.getByRole('list', { name: 'Skills' })).toContainText('/tomatoes');
    await expectAccessible(page);
  });

  await test.step('reviews and trusts it', async () => {
    await giveCookie(page.context(), installation.url, person.caller);
    await page.goto(`${installation.url}/settings/skills`);
    await expect(main).toContainText('A skill waits for your review');
    await main.getByRole('button', { name: 'Review /tomatoes' }).click();
    await expect(dialog.getByRole('region', { name: 'SKILL.md' })).toContainText('Water them at dawn.');
    await expect(dialog.getByRole('region', { name: 'scripts/water.sh' })).toContainText('U+200B');
    await expect(dialog).toContainText('1 hidden character');
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
    await dialog.getByRole('button', { name: 'Trust skill' }).click();
    await expect(dialog).toBeHidden();
    await expect(main.getByRole('button', { name: 'Files of /tomatoes' })).toBeVisible();
  });

  await test.step('uses it in a message of the project', async () => {
    const { chat } = await person.caller.must('POST', '/api/chats', { projectId: project.id });
    await page.goto(`${installation.url}/c/${chat.id}`);
    await page.locator('[data-composer]').fill('/tom');
    await page.getByRole('option', { name: /^\/tomatoes\s*Skill · Grows tomatoes/ }).click();
    await expect(page.locator('[data-composer]')).toHaveValue('/tomatoes ');
    await page.keyboard.type('in the shade');
    await page.keyboard.press('Enter');
    await expect(page.locator('[data-role="assistant"][aria-busy="false"]')).toHaveCount(1);
    const { messages } = await person.caller.must('GET', `/api/chats?id=${chat.id}`);
    const asked = `/api/chats/context?chatId=${chat.id}&messageId=${messages.at(-1).id}`;
    expect((await person.caller.must('GET', asked)).system).toContain('Water them at dawn.');
  });

  await test.step('asks for a review after a change by the owner', async () => {
    write('SKILL.md', '---\nname: tomatoes\ndescription: Grows tomatoes.\n---\nWater them at noon.');
    await giveCookie(page.context(), installation.url, other.caller);
    await page.goto(`${installation.url}/settings/skills`);
    await main.getByRole('button', { name: 'Options for /tomatoes' }).click();
    await page.getByRole('menuitem', { name: 'Replace files…' }).click();
    await dialog.locator('input[type="file"]').setInputFiles(folder);
    await expect(dialog).toContainText('tomatoes.zip');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect(dialog).toBeHidden();
    await giveCookie(page.context(), installation.url, person.caller);
    await page.goto(`${installation.url}/settings/skills`);
    await main.getByRole('button', { name: 'Review /tomatoes' }).click();
    await expect(dialog.getByRole('region', { name: 'SKILL.md' })).toContainText('noon');
    await expect(dialog.getByRole('region', { name: 'scripts/water.sh' })).toHaveCount(1);
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await expect(main.getByRole('list', { name: 'Skills' })).toContainText('Changed');
  });
});

test('answers in the preview with the unsaved form, and leaves no conversation behind', async ({
  page,
  installation,
  person,
  provider,
}) => {
  await addModels(person.caller, provider, ['echo', 'think']);
  await page.goto(`${installation.url}/assistants/new`);
  const main = page.getByRole('main');
  const preview = main.getByRole('region', { name: 'Preview' });
  const message = preview.getByLabel('Message to the assistant');
  const answers = preview.locator('[data-role="assistant"][data-message]');
  const asked = async (): Promise<{ model: string; system: string }[]> => {
    const all: { model: string; system: string; lastText: string }[] = JSON.parse(
      await (await fetch(new URL('/requests', provider))).text(),
    );
    return all.filter(({ lastText }) => lastText.includes('first words'));
  };
  await main.getByLabel('Instructions', { exact: true }).fill('Speak like a pirate.');
  await message.fill('first words');
  await message.press('Enter');
  await expect(answers.first()).toContainText('first words');
  expect((await asked()).at(-1)?.system).toContain('Speak like a pirate.');
  await expectAccessible(page);

  await test.step('applies a change of the form to the next answer and to a repeated question', async () => {
    await main.getByLabel('Instructions', { exact: true }).fill('Speak like a judge.');
    await main.getByLabel('Model', { exact: true }).selectOption({ label: 'think' });
    await answers.first().hover();
    await answers.first().getByRole('button', { name: 'Regenerate', exact: true }).click();
    await expect(preview.getByText('2/2')).toBeVisible();
    const again = (await asked()).at(-1);
    expect(again?.system).toContain('Speak like a judge.');
    expect(again?.system).not.toContain('pirate');
    expect(again?.model).toBe('think');
  });

  await test.step('shows a tab on a narrow screen', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await expect(preview).toBeHidden();
    await main.getByRole('tab', { name: 'Edit' }).press('ArrowRight');
    await expect(main.getByRole('tab', { name: 'Preview' })).toBeFocused();
    await expect(answers.first()).toBeVisible();
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  await test.step('leaves its conversation out of the list, and deletes it on a restart', async () => {
    const count = () =>
      installation.query(
        `select id from chats where owner_id = (select id from users where email = '${person.email}')`,
      );
    expect(await count()).toHaveLength(1);
    expect((await person.caller.must('GET', '/api/chats')).chats).toEqual([]);
    await preview.getByRole('button', { name: 'Start over' }).click();
    await expect(preview).toContainText('saved or not');
    await expect.poll(count).toEqual([]);
  });
});
