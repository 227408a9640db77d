import { administrator } from '../../product.ts';
import { expectAccessible, expectNoSidewaysScroll } from '../accessible.ts';
import { expect, giveCookie, signInElsewhere, test } from '../fixtures.ts';
import { startMcp } from '../mcp-server.ts';

const lookUp = { name: 'look_up', description: 'Looks a number up.', inputSchema: { type: 'object' } };

test('offers a server to everyone, adds it with personal keys, and withdraws it', async ({
  page,
  browser,
  installation,
  person,
}) => {
  const mcp = await startMcp([lookUp]);
  const context = await browser.newContext();
  try {
    await giveCookie(context, installation.url, await signInElsewhere(installation.url, administrator.email));
    const theirs = await context.newPage();
    const dialog = theirs.getByRole('dialog');
    await theirs.goto(`${installation.url}/settings/admin/mcp`);
    await expectAccessible(theirs);
    await theirs.getByRole('button', { name: 'Offer server' }).click();
    await dialog.getByLabel('Name', { exact: true }).fill('Harbour notes');
    await dialog.getByLabel('Description').fill('Notes of the harbour office');
    await dialog.getByLabel('URL').fill(mcp.url);
    await dialog.getByLabel('Headers that each person enters').fill('Authorization');
    await expectAccessible(theirs);
    await dialog.getByRole('button', { name: 'Offer server' }).click();
    await expect(theirs.getByRole('listitem').filter({ hasText: 'Harbour notes' })).toContainText(
      'nobody has added it',
    );
    await expectAccessible(theirs);
    await expectNoSidewaysScroll(theirs);

    const main = page.getByRole('main');
    await page.goto(`${installation.url}/settings/tools`);
    await expect(main).toContainText('Offered by your administrator');
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
    await main.getByRole('button', { name: 'Add Harbour notes' }).click();
    const adding = page.getByRole('dialog', { name: 'Add Harbour notes' });
    await adding.getByLabel('Authorization', { exact: true }).fill('Bearer of-this-person');
    await expectAccessible(page);
    await adding.getByRole('button', { name: 'Add', exact: true }).click();
    const review = page.getByRole('dialog', { name: 'Tools from Harbour notes' });
    await review.getByRole('button', { name: 'Trust this tool' }).click();
    await expect(main.getByText('Trusted', { exact: true })).toBeVisible();
    await expect(main).not.toContainText('Notes of the harbour office');
    expect(mcp.authorizations).toContain('Bearer of-this-person');
    await main.getByRole('button', { name: 'Edit Harbour notes' }).click();
    await expect(page.getByRole('dialog').getByLabel('URL')).toBeHidden();
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('My notes');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await expect(main.getByRole('heading', { name: 'My notes' })).toBeVisible();
    await expect(main.getByText('Trusted', { exact: true })).toBeVisible();

    await theirs.reload();
    await expect(theirs.getByRole('listitem').filter({ hasText: 'Harbour notes' })).toContainText(
      '1 person has added it',
    );
    await theirs.getByRole('button', { name: 'Withdraw Harbour notes' }).click();
    await dialog.getByRole('button', { name: 'Withdraw' }).click();
    await expect(theirs.getByText('No servers are offered')).toBeVisible();
    await page.reload();
    await expect(main).toContainText('No MCP servers yet');
    expect((await person.caller.must('GET', '/api/mcp')).servers).toEqual([]);
  } finally {
    await context.close();
    mcp.close();
  }
});
