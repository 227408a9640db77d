import { administrator } from '../../product.ts';
import { expectAccessible, expectNoSidewaysScroll } from '../accessible.ts';
import { expect, giveCookie, signInElsewhere, test } from '../fixtures.ts';
import { dismissNotice, keepNotices } from '../timers.ts';

/** The administrators' desk: overview, installation check and people. */

test('the overview lists what needs attention, and a backup made from it settles the finding', async ({
  page,
  context,
  installation,
}) => {
  await giveCookie(context, installation.url, await signInElsewhere(installation.url, administrator.email));
  await page.goto(`${installation.url}/settings/admin`);
  await expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible();
  const attention = page.getByRole('list', { name: 'Needs attention' });
  const backup = attention.getByRole('listitem').filter({ hasText: 'There’s no backup yet.' });
  await expect(backup).toBeVisible({ timeout: 30_000 });
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await backup.getByRole('button', { name: 'Make a backup' }).click();
  await expect(backup).toBeHidden({ timeout: 60_000 });
  const facts = page.getByRole('list', { name: 'At a glance' });
  await expect(facts.getByRole('listitem').filter({ hasText: 'Last backup' })).not.toContainText('None yet');
  await facts.getByRole('link', { name: 'Installation check' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Installation check' })).toBeVisible();
  await expect(page.getByText(/^The last backup was made on /)).toBeVisible();
  await expect(page.getByText(/free on the data disk\.$/)).toBeVisible();
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
});

test('words the installation check in German', async ({ browser, installation }) => {
  const context = await browser.newContext({ locale: 'de-DE' });
  await giveCookie(context, installation.url, await signInElsewhere(installation.url, administrator.email));
  const page = await context.newPage();
  await page.goto(`${installation.url}/settings/admin/check`);
  await expect(page.getByText(/frei auf dem Datenspeicher\.$/)).toBeVisible({ timeout: 30_000 });
  await expect(page.getByText('Alle Einstellungen sind gültig.')).toBeVisible();
  await expectNoSidewaysScroll(page);
  await context.close();
});

test('filters people, changes several at once, and lists open invitations among them', async ({
  page,
  context,
  installation,
}) => {
  const caller = await signInElsewhere(installation.url, administrator.email);
  await giveCookie(context, installation.url, caller);
  await keepNotices(page);
  for (const name of ['Desk One', 'Desk Two', 'Desk Three']) {
    const email = `${name.toLowerCase().replace(' ', '-')}@example.org`;
    await caller.must('POST', '/api/admin/users', { name, email });
  }
  await caller.must('POST', '/api/invitations', { email: 'desk-guest@example.org' });
  await page.goto(`${installation.url}/settings/admin/users`);
  await page.getByLabel('Search by name or e-mail').fill('desk');
  const rows = page.getByRole('list', { name: 'Users' }).getByRole('listitem');
  await expect(rows).toHaveCount(4);
  await expect(page.getByText('3 people, 1 invited')).toBeVisible();
  await page.getByLabel('Sort by').selectOption('name');
  await expect(rows).toContainText(['desk-guest@example.org', 'Desk One', 'Desk Three', 'Desk Two']);
  for (const name of ['Desk One', 'Desk Two']) await page.getByRole('checkbox', { name: `Select ${name}` }).check();
  const bar = page.getByRole('toolbar', { name: '2 selected' });
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await bar.getByRole('button', { name: 'Disable…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Disable accounts' }).click();
  await dismissNotice(page, '2 accounts changed.');
  await page.getByLabel('Show', { exact: true }).selectOption('disabled');
  await expect(rows).toContainText(['Desk One', 'Desk Two']);
  await expect(rows).toHaveCount(2);
  for (const name of ['Desk One', 'Desk Two']) await page.getByRole('checkbox', { name: `Select ${name}` }).check();
  await bar.getByRole('button', { name: 'Enable' }).click();
  await dismissNotice(page, '2 accounts changed.');
  await expect(page.getByText('No users match “desk”.')).toBeVisible();
  await page.getByLabel('Show', { exact: true }).selectOption('invited');
  await expect(rows).toContainText(['desk-guest@example.org']);
  await page.getByRole('button', { name: 'Revoke the invitation for desk-guest@example.org' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke invitation' }).click();
  await expect(rows).toHaveCount(0);
  await page.getByRole('button', { name: 'Invite someone' }).click();
  await expect(page.getByRole('dialog').getByLabel('E-mail address')).toBeVisible();
  // Revoked invitations stay listed, and other specs begin without any.
  await installation.query(`delete from invitations where email = 'desk-guest@example.org'`);
});
