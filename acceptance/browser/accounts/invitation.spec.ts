import { administrator } from '../../product.ts';
import { expectAccessible, expectAccessibleHere, expectNoSidewaysScroll } from '../accessible.ts';
import { expect, giveCookie, password, signInElsewhere, test } from '../fixtures.ts';

test.beforeEach(async ({ installation, context }) => {
  await giveCookie(context, installation.url, await signInElsewhere(installation.url, administrator.email));
});

test('shows an invitation link once, creates one account from it, and explains dead links', async ({
  page,
  browser,
  installation,
}) => {
  await page.goto(`${installation.url}/settings/admin/invitations`);
  await expect(page.getByRole('heading', { name: 'No invitations yet' })).toBeVisible();
  await expectAccessibleHere(page);
  const dialog = page.getByRole('dialog');
  const invite = async (email: string) => {
    await page.getByRole('button', { name: 'Invite', exact: true }).click();
    await dialog.getByLabel('E-mail address').fill(email);
    await dialog.getByRole('checkbox', { name: 'Invite without a model' }).check();
    await dialog.getByRole('button', { name: 'Create link' }).click();
    await expect(dialog.getByText('no e-mail is sent')).toBeVisible();
    await expect(dialog.getByText('This link opens only on this computer')).toBeVisible();
    return dialog.getByLabel('Link', { exact: true }).inputValue();
  };
  const link = await invite('invited@example.org');
  await expectAccessibleHere(page);
  await dialog.getByRole('button', { name: 'Done' }).click();
  const revoked = await invite('revoked@example.org');
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('button', { name: 'Revoke the invitation for revoked@example.org' }).click();
  await dialog.getByRole('button', { name: 'Revoke invitation' }).click();
  await expect(page.getByText('Revoked', { exact: true })).toBeVisible();
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);

  const theirs = await (await browser.newContext()).newPage();
  const asked: string[] = [];
  theirs.on('request', (request) => asked.push(request.url()));
  await theirs.goto(link);
  await expect(theirs.getByLabel('E-mail address')).toHaveValue('invited@example.org');
  await expect(theirs.getByText(`${administrator.name} invited you.`)).toBeVisible();
  await expectAccessible(theirs);
  await theirs.getByLabel('Name', { exact: true }).fill('Invited One');
  await theirs.getByLabel('Password', { exact: true }).fill('short');
  await theirs.getByRole('button', { name: 'Create account' }).click();
  await expect(theirs.getByLabel('Password', { exact: true })).toBeFocused();
  await theirs.getByLabel('Password', { exact: true }).fill(password);
  await theirs.getByRole('button', { name: 'Create account' }).click();
  await expect(theirs.getByRole('button', { name: /^Account:/ })).toContainText('Invited One');
  await expect(theirs.getByRole('heading', { level: 1 })).toHaveText('You don’t have a model yet');
  await expect(theirs.getByRole('main')).toContainText(`Ask ${administrator.name} to share a model with you.`);
  expect(asked.filter((url) => url.includes('token=') && !/\/api\/invitations(\/inviter)?\?/.test(url))).toEqual([]);

  await theirs.goto('about:blank');
  await theirs.goto(link);
  await expect(theirs.getByRole('heading', { name: 'You already have an account' })).toBeVisible();
  for (const dead of [revoked, `${installation.url}/invitation#token=nonsense`, `${installation.url}/invitation`]) {
    await theirs.goto('about:blank');
    await theirs.goto(dead);
    await expect(theirs.getByRole('heading', { name: 'This invitation link isn’t valid' })).toBeVisible();
  }
  await expectAccessibleHere(theirs);
  await installation.query(`update invitations set expires_at = now(), revoked_at = null where accepted_at is null`);
  await theirs.goto('about:blank');
  await theirs.goto(revoked);
  await expect(theirs.getByRole('heading', { name: 'This invitation has expired' })).toBeVisible();
  await theirs.context().close();
});
