import { administrator } from '../../product.ts';
import { expectAccessible } from '../accessible.ts';
import { expect, giveCookie, signInElsewhere, test } from '../fixtures.ts';

test('shows the reason for disabled workspaces to administrators, and hides them from others', async ({
  page,
  context,
  installation,
  person,
}) => {
  await page.goto(installation.url);
  await expect(page.getByRole('link', { name: 'New conversation' })).toBeVisible();
  await expect(page.getByRole('link', { name: 'Workspace' })).toHaveCount(0);
  await page.goto(`${installation.url}/workspace`);
  await expect(page.getByText('Ask an administrator if you need one.')).toBeVisible();
  await expectAccessible(page);
  expect(person.email).not.toBe(administrator.email);
  await giveCookie(context, installation.url, await signInElsewhere(installation.url, administrator.email));
  await page.goto(installation.url);
  await page.getByRole('link', { name: 'Workspace' }).click();
  await expect(page.getByText(/Set WORKSPACE_MODE/)).toBeVisible();
});
