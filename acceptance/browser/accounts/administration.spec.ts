import { join } from 'node:path';
import type { BrowserContext, Page } from '@playwright/test';
import { administrator, scratchFolder, setUp, startProduct, startProgram } from '../../product.ts';
import { expectAccessible, expectAccessibleHere, expectNoSidewaysScroll } from '../accessible.ts';
import { end, expect, giveCookie, password, signIn, signInElsewhere, test } from '../fixtures.ts';
import { dismissNotice, keepNotices } from '../timers.ts';

test.beforeEach(async ({ installation, context }) => {
  await giveCookie(context, installation.url, await signInElsewhere(installation.url, administrator.email));
});

test('creates users with a password, finds, changes, disables and enables them', async ({
  page,
  browser,
  installation,
}) => {
  await keepNotices(page);
  await page.goto(`${installation.url}/settings/admin/users`);
  await page.getByRole('button', { name: 'Add user' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Add user' }).click();
  await expect(dialog.getByLabel('Name', { exact: true })).toBeFocused();
  await dialog.getByLabel('Name', { exact: true }).fill('Grace Hopper');
  await dialog.getByLabel('E-mail address').fill(administrator.email);
  await dialog.getByRole('button', { name: 'Add user' }).click();
  await expect(dialog.getByText('Share a model first, or choose to add this person without one.')).toBeVisible();
  await dialog.getByRole('checkbox', { name: 'Add without a model' }).check();
  await dialog.getByRole('button', { name: 'Add user' }).click();
  await expect(dialog.getByText('An account with this address already exists.')).toBeVisible();
  await dialog.getByLabel('E-mail address').fill('grace@example.org');
  await expectAccessibleHere(page);
  await dialog.getByRole('button', { name: 'Add user' }).click();
  await expect(page.getByRole('dialog', { name: 'Grace Hopper can sign in now' })).toBeVisible();
  const generated = await dialog.getByLabel('Password', { exact: true }).inputValue();
  expect(generated).toMatch(/^[\w-]{23}$/);
  await expectAccessibleHere(page);
  await dialog.getByRole('button', { name: 'Done' }).click();

  await page.getByLabel('Search by name or e-mail').fill('hopper');
  await expect(page.getByRole('list', { name: 'Users' }).getByRole('listitem')).toHaveCount(1);
  await expect(page.getByText('must change password')).toBeVisible();
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);

  const hers = await (await browser.newContext()).newPage();
  await hers.goto(installation.url);
  await signIn(hers, 'grace@example.org', generated);
  await expect(hers.getByRole('heading', { name: 'Choose a new password' })).toBeVisible();

  await page.getByRole('link', { name: 'Grace Hopper' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Grace Hopper' })).toBeVisible();
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  const providerSwitch = page.getByRole('switch', { name: 'Provider settings' });
  await providerSwitch.press('Space');
  await expect(page.getByText('Changed for Grace Hopper.')).toBeVisible();
  await expect.poll(() => readUser(installation, 'grace')).toMatchObject(['user', 't', 'f', 't']);
  await page.getByRole('button', { name: 'Undo', exact: true }).click();
  await expect(providerSwitch).toBeChecked();
  await expect.poll(() => readUser(installation, 'grace')).toMatchObject(['user', 't', 't', 't']);

  await page.getByRole('button', { name: 'Generate' }).click();
  await page.getByRole('button', { name: 'Set password' }).click();
  await expect(page.getByRole('status').getByText('Grace Hopper has a new password.')).toBeVisible();
  await expect(page.getByRole('textbox', { name: 'New password' }).and(page.locator('[readonly]'))).toHaveValue(
    /^[\w-]{23}$/,
  );
  await hers.reload();
  await expect(hers.getByRole('button', { name: 'Sign in', exact: true })).toBeVisible();
  await hers.context().close();

  await page.getByRole('button', { name: 'Disable…' }).click();
  await expect(dialog).toContainText('All sessions end, running answers stop');
  await dialog.getByRole('button', { name: 'Disable account' }).click();
  await expect(page.getByText('Disabled', { exact: true })).toBeVisible();
  await page.getByRole('button', { name: 'Enable account' }).click();
  await expect(page.getByRole('button', { name: 'Disable…' })).toBeVisible();

  await page.getByRole('link', { name: 'Tiers', exact: true }).last().click();
  await expect(page.getByRole('heading', { name: 'Grace Hopper’s tiers' })).toBeVisible();
  await page.getByRole('link', { name: 'Tools (MCP)' }).last().click();
  await expect(page.getByRole('heading', { name: 'Grace Hopper’s tools' })).toBeVisible();
});

test('sets up the catalogue of a user who may not change it', async ({
  page,
  context,
  installation,
  person,
  provider,
}) => {
  await keepNotices(page);
  await installation.query(`update users set provider_settings_enabled = false where email = '${person.email}'`);
  await giveAdministrator(context, installation.url);
  await page.goto(`${installation.url}/settings/admin/users`);
  await page.getByLabel('Search by name or e-mail').fill(person.email);
  await expect(page.getByRole('list', { name: 'Users' }).getByRole('listitem')).toHaveCount(1);
  await page.getByRole('link', { name: 'Somebody' }).click();
  const tabs = page.getByRole('navigation', { name: 'Settings for Somebody' });
  await tabs.getByRole('link', { name: 'Models' }).click();
  await page.getByRole('link', { name: 'Add a provider' }).click();
  await page.getByRole('button', { name: 'Add provider' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Ollama').click();
  await dialog.getByLabel('Name', { exact: true }).fill('Box');
  await dialog.getByLabel('Base URL').fill(provider);
  await dialog.getByRole('button', { name: 'Test connection' }).click();
  await expect(dialog.getByRole('status')).toContainText('Connected');
  await dialog.getByRole('button', { name: 'Add provider' }).click();
  await dialog.getByRole('checkbox', { name: 'echo' }).check();
  await dialog.getByRole('checkbox', { name: 'reason' }).check();
  await dialog.getByRole('button', { name: 'Add 2 models' }).click();
  await expect(page.getByText('2 models', { exact: true })).toBeVisible();
  await expectAccessibleHere(page);
  await tabs.getByRole('link', { name: 'Models' }).click();
  await page.getByRole('switch', { name: 'Use echo' }).press('Space');
  await expect(page.getByText('is now the default.')).toBeVisible();
  await tabs.getByRole('link', { name: 'Tiers' }).click();
  await page.getByLabel('Name of tier 1').fill('Small');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Saved.')).toBeVisible();

  const theirs = await person.caller.must('GET', '/api/providers');
  expect(theirs.modelTiers[0].label).toBe('Small');
  expect(theirs.providers[0].models).toMatchObject([
    { providerModelId: 'echo', enabled: false },
    { providerModelId: 'reason', isDefault: true },
  ]);
  const own = await (await signInElsewhere(installation.url, administrator.email)).must('GET', '/api/providers');
  expect(own).toMatchObject({ providers: [], modelTiers: [{ label: 'Low' }, {}, {}, {}] });
});

test('confirms a switch for all users, and protects the last administrator', async ({
  page,
  context,
  installation,
  person,
}) => {
  await keepNotices(page);
  await giveAdministrator(context, installation.url);
  await page.goto(`${installation.url}/settings/admin/users`);
  await page.getByRole('button', { name: 'Tool settings: switch off for all' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('Accounts created later aren’t affected.');
  await dialog.getByRole('button', { name: 'Switch off for all' }).click();
  await dismissNotice(page, /accounts? changed\./);
  const name = person.email.split('@')[0] ?? '';
  expect((await readUser(installation, name))[3]).toBe('f');

  await page.getByRole('link', { name: administrator.name }).click();
  await page.getByText('User', { exact: true }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await dialog.getByRole('button', { name: 'Give up role' }).click();
  await expect(page.getByRole('alert')).toContainText('the last administrator who can sign in');
  await page.getByText('Administrator', { exact: true }).last().click();
  await page.goto(`${installation.url}/settings/admin/users/nobody`);
  await expect(page.getByRole('heading', { name: 'User not found' })).toBeVisible();
});

test('checks images and color contrast of the branding, and applies it to the page', async ({ page, installation }) => {
  await keepNotices(page);
  await page.goto(`${installation.url}/settings/admin/branding`);
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  const logo = page.locator('input[type="file"]').first();
  await logo.setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer: Buffer.from('GIF89a nothing of ours') });
  await expect(page.getByRole('alert').getByText('This isn’t a PNG, JPEG, WebP, SVG or ICO file.')).toBeVisible();
  await logo.setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer: Buffer.alloc(400_000, 'x') });
  await expect(page.getByRole('alert').getByText('The file is larger than')).toBeVisible();
  await logo.setInputFiles({ name: 'logo.svg', mimeType: 'image/svg+xml', buffer: Buffer.from(picture) });
  await expect(page.getByAltText('Logo: custom')).toBeVisible();

  await page.getByLabel('Product name').fill('Acme Chat');
  await page.getByLabel('Main color', { exact: true }).fill('#ffd40');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByLabel('Main color', { exact: true })).toBeFocused();
  await page.getByLabel('Main color', { exact: true }).fill('ffd400');
  await expect(page.getByText('easy to read')).toBeVisible();
  await page.getByText('Custom color', { exact: true }).click();
  await page.getByLabel('Text color', { exact: true }).fill('#ffffff');
  await expect(page.getByText('A contrast of 1.4:1 is hard to read')).toBeVisible();
  await expectAccessibleHere(page);
  await page.getByRole('button', { name: 'Use #000000' }).click();
  await expect(page.getByText('easy to read')).toBeVisible();
  await page.getByRole('button', { name: 'Save' }).click();
  await dismissNotice(page, 'Saved. Everyone sees it');
  await expect(page).toHaveTitle('Branding · Acme Chat');
  await page.mouse.move(0, 0);
  await expect(page.getByRole('button', { name: 'Save' })).toHaveCSS('background-color', 'rgb(255, 212, 0)');
  await expectAccessibleHere(page);
  await page.reload();
  await expect(page.getByAltText('Logo: custom')).toBeVisible();
  await page.getByRole('button', { name: 'Restore defaults' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page).toHaveTitle('Branding · Homeport');
});

test('enables single sign-on after a passed test, or without one on request', async ({ page, installation }) => {
  await keepNotices(page);
  const provider = await startProgram('server/test/fakes/real-identity-provider.ts', {
    REDIRECT_URI: `${installation.url}/api/auth/oauth2/callback/sso`,
  });
  await page.goto(`${installation.url}/settings/admin/single-sign-on`);
  await expect(page.getByRole('textbox', { name: 'Callback URL', exact: true })).toHaveValue(
    `${installation.url}/api/auth/oauth2/callback/sso`,
  );
  await page.getByText('More settings').click();
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await page.getByRole('switch', { name: 'Single sign-on' }).press('Space');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByLabel('Issuer')).toBeFocused();
  await page.getByLabel('Issuer').fill(provider.url);
  await page.getByLabel('Client ID').fill('homeport');
  await page.getByLabel('Client secret', { exact: true }).fill('wrong');
  await page.getByRole('textbox', { name: 'Only these e-mail domains' }).fill('Corp.example, nonsense,');
  await expect(page.getByText('Not a domain: nonsense')).toBeVisible();
  await page.getByRole('textbox', { name: 'Only these e-mail domains' }).fill('');
  await page.getByRole('switch', { name: 'Create accounts for new people' }).press('Space');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Not saved: the test failed')).toBeVisible();
  await expect(page.getByText('The provider refused the client id or the client secret.')).toBeVisible();
  await expectAccessibleHere(page);
  await page.getByLabel('Client secret', { exact: true }).fill('real:secret/with+signs%');
  await page.getByRole('button', { name: 'Test connection' }).click();
  await expect(page.getByText('The identity provider works')).toBeVisible();
  await page.getByRole('button', { name: 'Save' }).click();
  await dismissNotice(page, 'Saved. Single sign-on is on.');
  await expect(page.getByText('A secret is stored. Leave empty to keep it.')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Remove corp.example' })).toBeVisible();
  expect(await page.content()).not.toContain('real:secret');

  await test.step('binds the stored secret to its address', async () => {
    const stays = page.getByText(
      `The stored secret is only sent to ${new URL(provider.url).origin}. Enter it again for the new issuer.`,
    );
    await page.getByLabel('Issuer').fill('https://elsewhere.example');
    await expect(stays).toBeVisible();
    await page.getByLabel('Client secret', { exact: true }).fill('another');
    await expect(stays).toBeHidden();
    await page.getByLabel('Client secret', { exact: true }).fill('');
    await page.getByLabel('Discovery URL').fill(`${provider.url}/.well-known/openid-configuration`);
    await expect(stays).toBeHidden();
    await page.getByLabel('Discovery URL').fill('');
    await expect(stays).toBeVisible();
  });

  await page.getByLabel('Issuer').fill(`${provider.url}/elsewhere`);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('button', { name: 'Enable anyway' }).click();
  await expect(page.getByText('Not saved: the test failed')).toBeHidden();
  await expect
    .poll(() => installation.query(`select oidc->>'issuer', oidc->>'enabled' from settings`))
    .toEqual([[`${provider.url}/elsewhere`, 'true']]);
  // The form has the saved values only now.
  await dismissNotice(page, 'Saved. Single sign-on is on.');
  await page.getByRole('switch', { name: 'Single sign-on' }).press('Space');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Saved. Single sign-on is off.')).toBeVisible();
  await end(provider);
});

test('describes events of the audit log, filters and expands them', async ({ page, installation }) => {
  await installation.query(`
    insert into audit_events (id, at, actor_id, action, target_type, target_id, address, details)
    select 'old-' || n, now() - interval '3 days', null, 'thing.happened', 'thing', 'x' || n, null, '{"n": [1, "two"]}'
    from generate_series(1, 150) n`);
  await page.goto(`${installation.url}/settings/admin/audit`);
  await expect(page.getByText(`${administrator.name} signed in`).first()).toBeVisible();
  await page.getByRole('button', { name: 'Show more' }).click();
  await page.getByText('Installation', { exact: true }).click();
  await page.getByLabel('Search loaded events').fill('x150');
  await expect(page.getByText(/^1 of \d+ loaded events$/)).toBeVisible();
  await page.getByText('Someone not signed in: thing happened x150').click();
  await expect(page.getByText('1, two')).toBeVisible();
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await page.getByLabel('Search loaded events').fill('never');
  await expect(page.getByText(/^No (loaded event matches|events match)\./)).toBeVisible();
});

test('shows errors of a manifest beside their lines, previews it, and applies it once', async ({
  page,
  installation,
}) => {
  await page.goto(`${installation.url}/settings/admin/manifest`);
  await expectAccessible(page);
  const field = page.getByLabel('Manifest', { exact: true });
  const run = page.getByRole('button', { name: 'Preview changes' });
  await field.fill('{\n  "version": 1,\n  "users": [,]\n}');
  await run.click();
  await expect(page.getByRole('alert')).toContainText('From here on, this isn’t valid JSON.');
  await field.fill('version: 1\nusers:\n  - name: Mary\n    email: nobody\n  - name: X\n    email: x@example.org\n');
  await run.click();
  await expect(page.getByRole('alert')).toContainText('users.0.email');
  await expectAccessibleHere(page);
  await expectNoSidewaysScroll(page);
  await page.getByRole('button', { name: 'Go to line 4' }).click();
  await expect(field).toBeFocused();
  expect(await selected(page)).toBe('    email: nobody');

  await page.locator('input[type="file"]').setInputFiles({
    name: 'manifest.yaml',
    mimeType: 'application/yaml',
    buffer: Buffer.from('version: 1\nusers:\n  - name: Mary Manifest\n    email: mary@example.org\n'),
  });
  await expect(field).toHaveValue(/Mary Manifest/);
  await run.click();
  await expect(page.getByRole('heading', { name: 'What would change' })).toBeVisible();
  await expect(page.getByRole('table', { name: 'Individual changes' })).toContainText('mary@example.org');
  await expectAccessibleHere(page);
  await expectNoSidewaysScroll(page);
  expect(await readUser(installation, 'mary')).toEqual([]);
  await page.getByRole('button', { name: 'Apply…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Apply manifest' }).click();
  await expect(page.getByRole('heading', { name: 'What changed' })).toBeVisible();
  expect((await readUser(installation, 'mary'))[0]).toBe('user');
  await field.fill('{"version": 1, "users": [{"name": "Mary Manifest", "email": "mary@example.org"}]}');
  await run.click();
  await expect(page.getByText('Nothing to change: the installation already matches the manifest.')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Apply…' })).toHaveCount(0);
});

test('explains missing permissions to other users', async ({ page, installation, person }) => {
  await giveCookie(page.context(), installation.url, person.caller);
  await page.goto(`${installation.url}/settings/admin/users`);
  await expect(page.getByRole('heading', { name: 'Administrators only' })).toBeVisible();
  await expect(page.getByRole('link', { name: 'Invitations' })).toHaveCount(0);
  await expectAccessible(page);
});

test('shows no switch and no catalogue per user in the managed edition', async ({ page }) => {
  const running = await startProduct(join(scratchFolder(), 'data'), { EDITION: 'managed' });
  await setUp(running.url);
  const caller = await signInElsewhere(running.url, administrator.email);
  const { user } = await caller.must('POST', '/api/admin/users', {
    name: 'Grace',
    email: 'grace@example.org',
    password,
  });
  await giveCookie(page.context(), running.url, caller);
  await page.goto(`${running.url}/settings/admin/users`);
  await expect(page.getByRole('button', { name: 'Tool settings: allow for all' })).toBeVisible();
  await expect(page.getByRole('button', { name: /^Provider settings/ })).toHaveCount(0);
  await page.goto(`${running.url}/settings/admin/users/${user.id}`);
  await expect(page.getByRole('switch', { name: 'Tool settings' })).toBeVisible();
  await expect(page.getByRole('switch', { name: 'Provider settings' })).toHaveCount(0);
  const tabs = page.getByRole('navigation', { name: 'Settings for Grace' }).getByRole('link');
  await expect(tabs).toHaveText(['Account', 'Tools (MCP)']);
  await end(running);
});

const picture =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><circle cx="4" cy="4" r="3" fill="teal"/></svg>';

/** Role, enabled and the two switches of the account whose address begins like this. */
async function readUser(installation: { query: (sql: string) => Promise<(string | null)[][]> }, name: string) {
  const [row] = await installation.query(`
    select role, enabled, provider_settings_enabled, mcp_settings_enabled from users where email = '${name}@example.org'`);
  return row ?? [];
}

/** `person` signs in in the same browser; then it is the administrator's turn again. */
async function giveAdministrator(context: BrowserContext, url: string): Promise<void> {
  await giveCookie(context, url, await signInElsewhere(url, administrator.email));
}

function selected(page: Page): Promise<string> {
  return page.evaluate<string>(`(() => {
    const field = document.getElementById('manifest-text');
    return field.value.slice(field.selectionStart, field.selectionEnd);
  })()`);
}
