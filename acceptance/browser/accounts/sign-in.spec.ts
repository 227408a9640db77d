import { expectAccessible, expectNoSidewaysScroll } from '../accessible.ts';
import { addPerson, expect, password, signIn, test } from '../fixtures.ts';

test('reports a wrong password and a disabled account, and returns to the draft after sign-in', async ({
  page,
  context,
  installation,
  provider,
}) => {
  const { email, caller } = await addPerson(installation);
  const { provider: added } = await caller.must('POST', '/api/providers', { name: 'Scripted', baseUrl: provider });
  await caller.must('POST', '/api/models', {
    providerId: added.id,
    providerModelId: 'echo',
    displayName: 'Echo',
    contextWindow: 1000,
    maxOutputTokens: 100,
    tier: 1,
  });

  await page.goto(`${installation.url}/settings/models`);
  await expect(page).toHaveURL(/\/sign-in\?return=%2Fsettings%2Fmodels$/);
  await expect(page.getByLabel('E-mail address')).toHaveAttribute('autocomplete', 'username');
  await expect(page.getByLabel('Password', { exact: true })).toHaveAttribute('autocomplete', 'current-password');
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await expect(page.getByLabel('E-mail address')).toBeFocused();
  await signIn(page, email, 'not-my-password-1');
  await expect(page.getByRole('alert')).toHaveText('Wrong e-mail address or password.');
  await expect(page.getByLabel('Password', { exact: true })).toBeFocused();
  await expectAccessible(page);

  await installation.query(`update users set enabled = false where email = '${email}'`);
  await signIn(page, email);
  await expect(page.getByRole('alert')).toContainText('This account is disabled');
  await installation.query(`update users set enabled = true where email = '${email}'`);
  await signIn(page, email);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Models');
  await expect(page).toHaveURL(/\/settings\/models$/);

  await page.goto(installation.url);
  await page.getByLabel('Message', { exact: true }).fill('half a thought');
  await context.clearCookies();
  await page.reload();
  await expect(page).toHaveURL(/\/sign-in$/);
  await signIn(page, email);
  await expect(page.getByLabel('Message', { exact: true })).toHaveValue('half a thought');
});

test('reports an ended session, but not a sign-out', async ({ page, context, installation, person }) => {
  const ended = page.getByText('Your session ended. Sign in again.');
  await page.goto(`${installation.url}/settings/account`);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Account');
  await installation.query(
    `delete from sessions where user_id in (select id from users where email = '${person.email}')`,
  );
  await page.goto(installation.url);
  await expect(page).toHaveURL(/\/sign-in$/);
  await expect(ended).toBeVisible();
  await expectAccessible(page);
  await page.reload();
  await expect(ended).toBeVisible();

  await signIn(page, person.email);
  await expect(page).not.toHaveURL(/\/sign-in/);
  await page.goto(`${installation.url}/settings/account`);
  await page.getByRole('main').getByRole('button', { name: 'Sign out', exact: true }).click();
  await expect(page).toHaveURL(/\/sign-in$/);
  await expect(page.getByLabel('E-mail address')).toBeVisible();
  await expect(ended).toBeHidden();
  await context.clearCookies();
});

test('shows the waiting time after too many wrong passwords', async ({ page, installation }) => {
  const { email } = await addPerson(installation);
  await page.goto(`${installation.url}/sign-in`);
  for (let attempt = 0; attempt <= 10; attempt += 1) {
    const answered = page.waitForResponse('**/api/auth/sign-in/email');
    await signIn(page, email, `wrong-password-${attempt}`);
    await answered;
  }
  await expect(page.getByRole('alert')).toContainText(/Too many attempts\. Try again in about \d+ minutes?\./);
});

test('requires a change of a password set by an administrator', async ({ page, installation }) => {
  const { email } = await addPerson(installation);
  await installation.query(`update users set must_change_password = true where email = '${email}'`);
  await page.goto(`${installation.url}/settings/account`);
  await signIn(page, email);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Choose a new password');
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);

  await page.getByLabel('Current password').fill('not-my-password-1');
  await page.getByLabel('New password').fill('another-horse-43');
  await page.getByRole('button', { name: 'Change password' }).click();
  await expect(page.getByLabel('Current password')).toBeFocused();
  await expect(page.getByText('That’s not your current password.')).toBeVisible();
  await page.getByLabel('Current password').fill(password);
  await page.getByLabel('New password').fill(password);
  await page.getByRole('button', { name: 'Change password' }).click();
  await expect(page.getByText('Choose a password that differs from your current one.')).toBeVisible();
  await page.getByLabel('New password').fill('another-horse-43');
  await page.getByRole('button', { name: 'Change password' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Account');
});

test('asks for a new password after a refusal in the middle of work', async ({ page, installation, person }) => {
  await page.goto(`${installation.url}/settings/account`);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Account');
  await installation.query(`update users set must_change_password = true where email = '${person.email}'`);
  // The page refreshes periodically: after a pending request, the link can be gone before the click.
  const click = page.getByRole('link', { name: 'Models and tools' }).click();
  void click.catch(() => undefined);
  await expect(page).toHaveURL(/\/password\?return=/);
});
