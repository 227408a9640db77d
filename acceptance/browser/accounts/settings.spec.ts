import { addModels, administrator, type Caller } from '../../product.ts';
import { expectAccessible, expectAccessibleHere, expectNoSidewaysScroll } from '../accessible.ts';
import { addPerson, expect, giveCookie, password, signInElsewhere, test } from '../fixtures.ts';
import { dismissNotice, keepNotices } from '../timers.ts';

test('adds a provider with a test, chooses models, edits it without the key, and deletes it', {
  tag: '@smoke',
}, async ({ page, installation, person, provider }) => {
  await page.goto(`${installation.url}/settings/models`);
  await page.getByRole('link', { name: 'Add a provider' }).click();
  await expect(page.getByRole('heading', { name: 'No providers yet' })).toBeVisible();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Add provider' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Ollama').click();
  await expect(dialog.getByLabel('Base URL')).toHaveValue('http://localhost:11434/v1');
  await dialog.getByLabel('Name', { exact: true }).fill('Box');
  await dialog.getByLabel('Base URL').fill(provider);
  await dialog.getByLabel('API key', { exact: true }).fill('sk-one');
  await dialog.getByText('Custom headers').click();
  await dialog.getByRole('button', { name: 'Add header' }).click();
  await expect(dialog.getByLabel('Header 1: name')).toBeFocused();
  await dialog.getByLabel('Header 1: name').fill('Host');
  await dialog.getByLabel('Header 1: value').fill('research');
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await dialog.getByRole('button', { name: 'Add provider' }).click();
  await expect(dialog.getByText('This header is set by the connection itself')).toBeVisible();
  await expect(dialog.getByLabel('Header 1: name')).toBeFocused();
  await dialog.getByLabel('Header 1: name').fill('X-Team');
  await dialog.getByRole('button', { name: 'Test connection' }).click();
  await expect(dialog.getByRole('status')).toContainText('Connected');
  await dialog.getByRole('button', { name: 'Add provider' }).click();

  await expect(page.getByRole('dialog', { name: 'Add models from Box' })).toBeVisible();
  await dialog.getByRole('checkbox', { name: 'echo' }).check();
  await dialog.getByRole('checkbox', { name: 'reason' }).check();
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Add 2 models' }).click();
  await expect(dialog).toBeHidden();
  await expect(page.getByText('2 models', { exact: true })).toBeVisible();
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);

  await test.step('keeps the stored key unless it is replaced or removed', async () => {
    await page.getByRole('button', { name: 'Edit Box' }).click();
    await expect(dialog.getByText('A key is stored. Leave empty to keep it.')).toBeVisible();
    await dialog.getByLabel('Base URL').fill('https://elsewhere.example/v1');
    const { origin } = new URL(provider);
    await expect(dialog.getByText(`The stored key stays with ${origin}. Enter it again`)).toBeVisible();
    await dialog.getByLabel('Base URL').fill(provider);
    await dialog.getByLabel('Name', { exact: true }).fill('Big box');
    const request = page.waitForRequest((each) => each.method() === 'PATCH');
    await dialog.getByRole('button', { name: 'Save' }).click();
    expect((await request).postDataJSON()).toEqual({ id: expect.any(String), name: 'Big box', baseUrl: provider });
    await expect(dialog).toBeHidden();
    expect((await catalogue(person.caller)).providers[0]).toMatchObject({
      hasApiKey: true,
      headers: { 'X-Team': 'research' },
    });
    await page.getByRole('button', { name: 'Edit Big box' }).click();
    await dialog.getByRole('button', { name: 'Remove the stored key' }).click();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect(page.getByText('no key')).toBeVisible();
  });

  await test.step('keeps changes on a stray key or click', async () => {
    await page.getByRole('button', { name: 'Edit Big box' }).click();
    await dialog.getByLabel('Name', { exact: true }).fill('Other');
    await page.keyboard.press('Escape');
    const question = page.getByRole('dialog', { name: 'Discard your changes?' });
    await expect(question).toBeVisible();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await expect(question).toBeHidden();
    await expect(dialog.getByLabel('Name', { exact: true })).toHaveValue('Other');
    await page.goBack();
    await question.getByRole('button', { name: 'Cancel' }).click();
    await expect(dialog.getByLabel('Name', { exact: true })).toHaveValue('Other');
    await page.keyboard.press('Escape');
    await question.getByRole('button', { name: 'Discard changes' }).click();
    await expect(dialog).toBeHidden();
  });

  await page.getByRole('switch', { name: 'Use Big box' }).press('Space');
  await expect(page.getByText('switched off')).toBeVisible();
  await page.getByRole('button', { name: 'Delete Big box' }).click();
  await expect(dialog).toContainText('Its 2 models will be deleted too: echo, reason.');
  await dialog.getByRole('button', { name: 'Delete provider' }).click();
  await expect(page.getByRole('heading', { name: 'No providers yet' })).toBeVisible();
  expect((await catalogue(person.caller)).providers).toEqual([]);
});

test('suggests a fix for each failure of a provider test', async ({ page, installation, person, provider }) => {
  await person.caller.must('POST', '/api/providers', { name: 'Nowhere', baseUrl: `${provider}/nowhere` });
  await page.goto(`${installation.url}/settings/providers`);
  const answers = [
    {
      status: 502,
      code: 'provider_error',
      details: { status: 401 },
      text: 'The provider rejected the credentials (401)',
    },
    {
      status: 502,
      code: 'provider_error',
      details: { status: 404 },
      text: 'No model list at this address (404)',
    },
    {
      status: 502,
      code: 'provider_error',
      details: { status: 429 },
      text: 'The provider is limiting your requests (429)',
    },
    { status: 502, code: 'provider_unreachable', details: {}, text: 'Couldn’t reach the provider' },
    { status: 409, code: 'credentials_unreadable', details: {}, text: 'The stored key can’t be read' },
    { status: 400, code: 'blocked_destination', details: {}, text: 'Homeport isn’t allowed to call this address' },
  ];
  for (const { status, code, details, text } of answers) {
    const body = { error: { code, details, message: 'In short.', requestId: 'r1' } };
    await page.route('**/api/providers/test', (route) => route.fulfill({ status, json: body }));
    await page.getByRole('button', { name: /^Test/ }).click();
    await expect(page.getByRole('alert')).toContainText(text);
    await page.unroute('**/api/providers/test');
  }
  await expectAccessible(page);
});

test('sets the default model, edits, disables and deletes models', async ({ page, installation, person, provider }) => {
  await keepNotices(page);
  await addModels(person.caller, provider, ['echo', 'reason', 'think']);
  await page.goto(`${installation.url}/settings/models`);
  const row = (name: string) =>
    page.getByRole('listitem').filter({ has: page.getByLabel(`Use ${name}`, { exact: true }) });
  await expect(row('echo')).toContainText('Default');
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await page.getByRole('button', { name: 'Options for reason' }).click();
  await page.getByRole('menuitem', { name: 'Make default' }).click();
  await expect(row('reason')).toContainText('Default');
  await expect(row('echo')).not.toContainText('Default');
  await dismissNotice(page, 'reason is now the default.');
  await page.getByRole('switch', { name: 'Use reason' }).press('Space');
  await expect(row('reason')).not.toContainText('Default');
  await dismissNotice(page, 'is now the default.');

  await page.getByRole('button', { name: 'Options for think' }).click();
  await page.getByRole('menuitem', { name: 'Edit' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByLabel('Name', { exact: true })).toBeFocused();
  await expectAccessible(page);
  await dialog.getByLabel('Max output tokens').fill('200000');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog.getByText('Can’t exceed the context window.')).toBeVisible();
  await expect(dialog.getByLabel('Max output tokens')).toBeFocused();
  await dialog.getByLabel('Max output tokens').fill('2000');
  await dialog.getByLabel('Name', { exact: true }).fill('Thinker');
  await dialog.getByLabel('Tier').selectOption('Maximum');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(row('Thinker')).toContainText('Maximum');

  await page.getByRole('button', { name: 'Options for Thinker' }).click();
  await page.getByRole('menuitem', { name: 'Delete…' }).click();
  await dialog.getByRole('button', { name: 'Delete model' }).click();
  await expect(row('Thinker')).toBeHidden();
  await expect(page.getByRole('heading', { level: 1 })).toBeFocused();
});

test('adds, renames and moves tiers by keyboard, and lists the models of a used one', async ({
  page,
  installation,
  person,
  provider,
}) => {
  await keepNotices(page);
  await addModels(person.caller, provider, ['echo', 'reason']);
  await page.goto(`${installation.url}/settings/tiers`);
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await page.getByRole('button', { name: 'Move Maximum up' }).focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('button', { name: 'Move Maximum up' })).toBeFocused();
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Add tier' }).click();
  await expect(page.getByLabel('Name of tier 5')).toBeFocused();
  await page.keyboard.type('low');
  await page.keyboard.press('Enter');
  await expect(page.getByText('Two tiers can’t have the same name.')).toBeVisible();
  await page.getByLabel('Name of tier 5').fill('Experiments');
  await page.getByRole('link', { name: 'Models', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  // While saving, the button has another name.
  await expect(page.getByText('Saved.')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Save' })).toBeHidden();
  expect((await catalogue(person.caller)).modelTiers).toEqual([
    { value: 1, label: 'Low' },
    { value: 4, label: 'Maximum' },
    { value: 2, label: 'Medium' },
    { value: 3, label: 'High' },
    { value: 5, label: 'Experiments' },
  ]);

  await page.getByRole('button', { name: 'Remove Low' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('alert')).toContainText('Low: echo, reason');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Restore' }).click();
  await expect(page.getByLabel('Name of tier 5')).toHaveValue('Low');
});

test('changes the name, appearance, sessions and password of the account', { tag: '@smoke' }, async ({
  page,
  installation,
  person,
}) => {
  await keepNotices(page);
  await signInElsewhere(installation.url, person.email);
  await signInElsewhere(installation.url, person.email);
  await page.goto(`${installation.url}/settings`);
  await expect(page).toHaveURL(/\/settings\/account$/);
  await expect(page.getByText('this browser', { exact: true })).toBeVisible();
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);

  await page.getByLabel('Name', { exact: true }).fill('G');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByLabel('Name', { exact: true })).toBeFocused();
  await page.getByLabel('Name', { exact: true }).fill('Grace Hopper');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('button', { name: /^Account:/ })).toContainText('Grace Hopper');

  await page.getByText('Dark', { exact: true }).click();
  await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', 'dark');
  await page.reload();
  await expect(page.getByRole('radio', { name: 'Dark' })).toBeChecked();

  const ends = page.getByRole('button', { name: /^Sign out (?!everywhere)\S/ });
  await expect(ends).toHaveCount(2);
  await ends.first().click();
  await expect(ends).toHaveCount(1);
  await page.getByRole('button', { name: 'Sign out everywhere else' }).click();
  await expect(page.getByText('You’re not signed in anywhere else.')).toBeVisible();

  await page.getByLabel('Current password').fill(password);
  await page.getByLabel('New password').fill('another-horse-43');
  await page.getByRole('button', { name: 'Change password' }).click();
  await expect(page.getByText('Password changed.')).toBeVisible();
  await expect(page.getByLabel('Current password')).toHaveValue('');
});

test('changes the own e-mail address as an administrator, and names whom to ask otherwise', async ({
  page,
  installation,
  person,
}) => {
  await page.goto(`${installation.url}/settings/account`);
  const email = page.getByLabel('E-mail address');
  await expect(email).toHaveAttribute('readonly', '');
  await expect(page.getByRole('main')).toContainText(`Ask ${administrator.name} to change it.`);
  await installation.query(`update users set role = 'admin' where email = '${person.email}'`);
  await page.reload();
  await email.fill(administrator.email);
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('An account with this e-mail address already exists.')).toBeVisible();
  await email.fill(`moved-${person.email}`);
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Saved.')).toBeVisible();
  await page.reload();
  await expect(email).toHaveValue(`moved-${person.email}`);
  await installation.query(`update users set role = 'user' where email = 'moved-${person.email}'`);
});

test('shows three groups of settings without technical terms, and names whom to ask', async ({
  page,
  installation,
  person,
  provider,
}) => {
  await addModels(person.caller, provider, ['echo']);
  await installation.query(
    `update users set provider_settings_enabled = false, mcp_settings_enabled = false where email = '${person.email}'`,
  );
  await page.goto(`${installation.url}/settings`);
  const groups = page.getByRole('navigation', { name: 'Settings' }).getByRole('link');
  await expect(groups).toHaveText(['Account', 'Personalization', 'Data']);
  for (const section of ['account', 'personalization', 'prompts', 'skills', 'import-export', 'shares']) {
    await page.goto(`${installation.url}/settings/${section}`);
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    await expect(page.locator('body')).not.toContainText(/provider|MCP|\btiers?\b|token/i);
  }
  for (const section of ['providers', 'models', 'tiers']) {
    await page.goto(`${installation.url}/settings/${section}`);
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('This is set up for you');
    await expect(page.getByRole('main')).toContainText(`Ask ${administrator.name} if you need something else.`);
    await expect(page.getByRole('main').getByRole('button')).toHaveCount(0);
    await expectAccessible(page);
  }
  await page.goto(`${installation.url}/assistants/new`);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await expect(page.getByLabel('Model')).toBeVisible();
  await expect(page.locator('body')).not.toContainText(/provider|MCP|\btiers?\b|token/i, { useInnerText: true });
  await page.goto(installation.url);
  await page.getByRole('button', { name: 'Add files and tools' }).click();
  await expect(page.getByRole('menu')).not.toContainText(/provider|MCP|\btiers?\b|token/i);
});

test('names whom to ask when a shared model fails, without its address and without a link', async ({
  page,
  installation,
  person,
  provider,
}) => {
  const owner = await addPerson(installation);
  await addModels(owner.caller, provider, ['error-401']);
  await installation.query(`update users set role = 'admin' where email = '${owner.email}'`);
  const { providers } = await owner.caller.must('GET', '/api/providers');
  await owner.caller.must('PATCH', '/api/providers', {
    id: providers[0].id,
    sharedWith: { userIds: [await idOf(person)] },
  });
  await page.goto(installation.url);
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill('Hello');
  await page.keyboard.press('Enter');
  const answer = page.locator('[data-role="assistant"][aria-busy="false"]');
  await expect(answer).toContainText(/Choose another one, or tell .*Ada Admin/);
  await expect(answer.getByRole('link')).toHaveCount(0);
  await expect(answer).not.toContainText(/provider|key|http/i);
  await page.reload();
  await expect(answer).toContainText(/Choose another one, or tell .*Ada Admin/);
  await installation.query(`update users set role = 'user' where email = '${owner.email}'`);
});

async function idOf({ caller }: { caller: Caller }): Promise<string> {
  return (await caller.must('GET', '/api/me')).user.id;
}

test('shows one row above the content on a tablet, and all pages on demand', async ({ page, installation }) => {
  await giveCookie(page.context(), installation.url, await signInElsewhere(installation.url, administrator.email));
  await page.setViewportSize({ width: 820, height: 1180 });
  await page.goto(`${installation.url}/settings/admin/users`);
  const heading = page.getByRole('heading', { level: 1 });
  await expect(heading).toBeVisible();
  expect((await heading.boundingBox())?.y).toBeLessThan(160);
  const navigation = page.getByRole('navigation', { name: 'Settings' });
  await navigation.getByRole('button', { name: /Section:/ }).click();
  await expect(navigation.getByRole('link', { name: 'Invitations' })).toBeVisible();
  await expectAccessibleHere(page);
  await navigation.getByRole('link', { name: 'Shared links' }).click();
  await expect(page).toHaveURL(/settings\/shares$/);
  await expect(navigation.getByRole('link', { name: 'Invitations' })).toHaveCount(0);
});

async function catalogue(caller: Caller) {
  return caller.must('GET', '/api/providers');
}
