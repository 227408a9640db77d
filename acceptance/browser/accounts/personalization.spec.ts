import { addModels, administrator } from '../../product.ts';
import { expectAccessible, expectAccessibleHere, expectNoSidewaysScroll } from '../accessible.ts';
import { addPerson, expect, giveCookie, signInElsewhere, test } from '../fixtures.ts';
import { keepNotices } from '../timers.ts';

test('corrects a misspelled variable in instructions, and controls the facts for models', async ({
  page,
  installation,
  person,
}) => {
  await keepNotices(page);
  await page.goto(`${installation.url}/settings/personalization`);
  const field = page.getByLabel('How should models answer you?');
  await test.step('marks unknown variables while typing', async () => {
    await field.fill('Call me {{USER_NAME}}. I work on {{topic}}.');
    const notice = page.getByRole('status').filter({ hasText: 'Unknown variables' });
    await expect(notice).toContainText('{{topic}}');
    await notice.getByRole('button', { name: 'Use {{user_name}}' }).click();
    await expect(field).toHaveValue('Call me {{user_name}}. I work on {{topic}}.');
    await expect(page.getByText('Unknown variable', { exact: true })).toBeVisible();
    await expectAccessible(page);
    await field.fill('Today is .');
    await expect(page.getByText('Unknown variable')).toBeHidden();
  });
  await test.step('inserts a variable at the cursor', async () => {
    await field.press('ArrowLeft');
    await page.getByText('Insert a variable').click();
    await page.getByRole('button', { name: '{{current_date}}' }).click();
    await expect(field).toHaveValue('Today is {{current_date}}.');
    await expect(field).toBeFocused();
  });
  await test.step('refuses a text that is too long, with the excess', async () => {
    await field.fill('x'.repeat(16_001));
    await expect(page.getByText('1 character too many')).toBeVisible();
    await page.getByRole('button', { name: 'Save' }).click();
    await expect(field).toBeFocused();
    await expect(page.getByText('At most 16,000 characters.')).toBeVisible();
    await field.fill('Be brief.');
  });
  await page.getByRole('switch', { name: 'Share your name' }).press('Space');
  await page.getByRole('switch', { name: 'Share your language' }).press('Space');
  await expect(page.getByLabel('Language', { exact: true })).toHaveValue('en-US');
  await page.getByLabel('Language', { exact: true }).selectOption('de-AT');
  await page.getByRole('switch', { name: 'Share your time zone' }).press('Space');
  await page.getByLabel('Time zone', { exact: true }).selectOption('Europe/Vienna');
  await expectAccessibleHere(page);
  await expectNoSidewaysScroll(page);
  await test.step('asks before leaving unsaved changes', async () => {
    await page.getByRole('link', { name: 'Account', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  });
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Saved.')).toBeVisible();
  expect((await person.caller.must('GET', '/api/me/personalization')).personalization).toEqual({
    instructions: 'Be brief.',
    aboutMe: { name: true, language: 'de-AT', timeZone: 'Europe/Vienna' },
  });
});

test('lets owners edit the instructions of a project, and members read them', async ({
  page,
  installation,
  person,
}) => {
  await keepNotices(page);
  const owner = await addPerson(installation);
  const { project } = await owner.caller.must('POST', '/api/projects', { name: 'Moon' });
  await owner.caller.must('POST', '/api/projects/members', {
    projectId: project.id,
    email: person.email,
    role: 'member',
  });
  await page.goto(`${installation.url}/p/${project.id}?tab=instructions`);
  const main = page.getByRole('main');
  await expect(main).toContainText('No instructions yet');
  await expectAccessible(page);
  await giveCookie(page.context(), installation.url, owner.caller);
  await page.reload();
  await main.getByLabel('What should models know in this project?').fill('Distances in kilometres.');
  await main.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Saved.')).toBeVisible();
  await expectNoSidewaysScroll(page);
  await giveCookie(page.context(), installation.url, person.caller);
  await page.reload();
  await expect(main).toContainText('Distances in kilometres.');
  await expect(main.getByRole('textbox')).toHaveCount(0);
});

test('sets instructions and parameters of a conversation', async ({ page, installation, person, provider }) => {
  await addModels(person.caller, provider, ['echo']);
  const { chat } = await person.caller.must('POST', '/api/chats', { title: 'A walk' });
  await page.goto(`${installation.url}/c/${chat.id}`);
  await page.getByRole('main').getByRole('button', { name: 'Options for “A walk”' }).click();
  await page.getByRole('menuitem', { name: 'Instructions…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Instructions for this conversation' });
  const field = dialog.getByLabel('Instructions', { exact: true });
  await expect(field).toBeFocused();
  await field.fill('Answer in verse.');
  await dialog.getByText('Parameters').click();
  await dialog.getByLabel('Temperature').fill('3');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog.getByText('Enter a number from 0 to 2.')).toBeVisible();
  await expect(dialog.getByLabel('Temperature')).toBeFocused();
  await dialog.getByLabel('Temperature').fill('0.5');
  await dialog.getByLabel('Reasoning effort').selectOption('high');
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog).toBeHidden();
  expect((await person.caller.must('GET', `/api/chats?id=${chat.id}`)).chat).toMatchObject({
    instructions: 'Answer in verse.',
    parameters: { temperature: 0.5, reasoningEffort: 'high' },
  });
});

test('overrides the default instructions of the installation, and resets them', async ({ page, installation }) => {
  await keepNotices(page);
  const caller = await signInElsewhere(installation.url, administrator.email);
  await giveCookie(page.context(), installation.url, caller);
  await page.goto(`${installation.url}/settings/admin/instructions`);
  const field = page.getByLabel('Instructions', { exact: true });
  await expect(field).toHaveAttribute('placeholder', /^You are a helpful assistant/);
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Start from the default' }).click();
  await expect(field).toHaveValue(/^You are a helpful assistant/);
  await field.fill('Answer like a librarian.');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Saved.')).toBeVisible();
  expect((await caller.must('GET', '/api/admin/config')).instructions).toBe('Answer like a librarian.');
  await page.getByRole('button', { name: 'Reset to default' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('The default text is in use.')).toBeVisible();
  expect((await caller.must('GET', '/api/admin/config')).instructions).toBeNull();
});
