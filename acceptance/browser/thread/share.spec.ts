import { addModels } from '../../product.ts';
import { expectAccessible, expectAccessibleHere, expectNoSidewaysScroll } from '../accessible.ts';
import { addPerson, expect, giveCookie, test } from '../fixtures.ts';

test('shares a conversation, opens and copies it, and ends the link', async ({
  page,
  person,
  installation,
  provider,
}) => {
  await addModels(person.caller, provider, ['echo']);
  await page.goto(installation.url);
  const field = page.getByRole('textbox', { name: 'Message', exact: true });
  await field.fill('Harbour plans');
  await field.press('Enter');
  await expect(page.locator('[data-role="assistant"][aria-busy="false"]')).toContainText('Harbour plans');
  await page
    .getByRole('main')
    .getByRole('button', { name: /^Options for/ })
    .first()
    .click();
  await page.getByRole('menuitem', { name: 'Share…' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByLabel('Who can open it')).toBeVisible();
  await expectAccessibleHere(page);
  await dialog.getByRole('switch', { name: 'My name' }).click();
  await dialog.getByRole('button', { name: 'Create link' }).click();
  const url = await dialog.getByRole('textbox', { name: 'Link' }).inputValue();
  await dialog.getByRole('button', { name: 'Close' }).first().click();

  await page.goto(url);
  await expect(page.getByRole('main')).toContainText('Harbour plans');
  await expect(page.getByText(/^Shared by /)).toBeVisible();
  await expectAccessible(page);
  await page.setViewportSize({ width: 390, height: 800 });
  await expectNoSidewaysScroll(page);
  await page.getByRole('button', { name: 'Copy to my conversations' }).click();
  await expect(page).toHaveURL(/\/c\//);
  await expect(page.locator('[data-role="assistant"]')).toContainText('Harbour plans');

  await page.goto(`${installation.url}/settings/shares`);
  await expect(page.getByText('opened once')).toBeVisible();
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await page.getByRole('button', { name: /^End the link to/ }).click();
  await expect(page.getByText('You share nothing.')).toBeVisible();
  await page.goto(url);
  await expect(page.getByRole('heading', { name: 'This link does not work' })).toBeVisible();
  await expectAccessible(page);
});

test('shares from the list of conversations with chosen people, and changes the link afterwards', async ({
  page,
  person,
  installation,
  provider,
}) => {
  await addModels(person.caller, provider, ['echo']);
  const reader = await addPerson(installation);
  await page.goto(installation.url);
  const field = page.getByRole('textbox', { name: 'Message', exact: true });
  await field.fill('Harbour plans');
  await field.press('Enter');
  await expect(page.locator('[data-role="assistant"][aria-busy="false"]')).toContainText('Harbour plans');
  await page.goto(`${installation.url}/settings/shares`);
  await page.goto(installation.url);
  const side = page.getByRole('complementary', { name: 'Sidebar' });
  const row = side.getByRole('listitem').filter({ hasText: 'Harbour plans' });
  await row.hover();
  await row.getByRole('button', { name: /^Options for/ }).click();
  await page.getByRole('menuitem', { name: 'Share…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Who can open it').selectOption('people');
  await dialog.getByRole('button', { name: 'Create link' }).click();
  await expect(dialog).toContainText('Choose at least one person.');
  await dialog.getByLabel('Name or e-mail address').fill(reader.email);
  await dialog.getByRole('list', { name: 'People found' }).getByRole('checkbox').check();
  await expectAccessibleHere(page);
  await dialog.getByRole('button', { name: 'Create link' }).click();
  const url = await dialog.getByRole('textbox', { name: 'Link' }).inputValue();
  await dialog.getByRole('button', { name: 'Close' }).first().click();
  await giveCookie(page.context(), installation.url, reader.caller);
  await page.goto(url);
  await expect(page.getByRole('main')).toContainText('Harbour plans');

  await giveCookie(page.context(), installation.url, person.caller);
  await page.goto(`${installation.url}/settings/shares`);
  await page.getByRole('button', { name: /^Change the link to/ }).click();
  await dialog.getByLabel('Ends').selectOption('week');
  await dialog.getByLabel('Password (optional)').fill('open sesame 1');
  await expectAccessibleHere(page);
  await page.setViewportSize({ width: 390, height: 800 });
  await expectNoSidewaysScroll(page);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog).toBeHidden();
  await expect(page.getByRole('main')).toContainText('with a password');
  await giveCookie(page.context(), installation.url, reader.caller);
  await page.goto(url);
  await expect(page.getByRole('heading', { name: 'This needs a password' })).toBeVisible();
});
