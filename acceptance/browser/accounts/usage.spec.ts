import { readFile } from 'node:fs/promises';
import { addModels, administrator } from '../../product.ts';
import { expectAccessible, expectAccessibleHere, expectNoSidewaysScroll } from '../accessible.ts';
import { expect, giveCookie, signInElsewhere, test } from '../fixtures.ts';
import { dismissNotice, keepNotices } from '../timers.ts';

test('shows own usage by day and model with a CSV, and enforces a budget after a warning', async ({
  page,
  installation,
  person,
  provider,
}) => {
  await page.goto(`${installation.url}/settings/usage`);
  await expect(page.getByText('Nothing used in this period')).toBeVisible();
  await addModels(person.caller, provider, ['echo']);
  const { providers } = await person.caller.must('GET', '/api/providers');
  const prices = { input: 1_000_000, output: 2_000_000, cachedInput: null, cacheWrite: null };
  await person.caller.must('PATCH', '/api/models', { id: providers[0].models[0].id, prices });

  await page.goto(installation.url);
  await page.getByRole('textbox', { name: 'Message' }).fill('Hello there');
  await page.keyboard.press('Enter');
  await expect(page.getByText(/tokens in, .* out · \$/).or(page.getByText(/out · .*\$0\.000/))).toBeVisible();

  await page.goto(`${installation.url}/settings/usage`);
  await expect(page.getByRole('figure', { name: 'Tokens by day' })).toBeVisible();
  await page.getByText('Model', { exact: true }).click();
  await expect(page.getByRole('rowheader', { name: /echo/ })).toBeVisible();
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download CSV' }).click(),
  ]);
  expect(await readFile(await download.path(), 'utf8')).toMatch(/^provider,model,calls,/);

  const admin = await signInElsewhere(installation.url, administrator.email);
  const { user } = await person.caller.must('GET', '/api/me');
  const { usage } = await person.caller.must('GET', '/api/me/usage');
  const used = usage.total.inputTokens + usage.total.outputTokens;
  const budget = { scope: 'person', userId: user.id, unit: 'tokens', period: 'month' };
  await admin.must('PUT', '/api/admin/budgets', { budgets: [{ ...budget, limit: Math.ceil(used / 0.85) }] });
  await page.goBack();
  await page.reload();
  const notice = page.getByRole('status').filter({ hasText: 'budget is used' });
  await expect(notice).toContainText('of your budget is used');
  await admin.must('PUT', '/api/admin/budgets', { budgets: [{ ...budget, limit: 1 }] });
  await page.getByRole('textbox', { name: 'Message' }).fill('More');
  await page.keyboard.press('Enter');
  await expect(page.getByText(/The budget is used up/).first()).toBeVisible();
  await admin.must('PUT', '/api/admin/budgets', { budgets: [] });
});

test('shows all usage to administrators, and adds and removes a budget', async ({
  page,
  context,
  installation,
  person,
}) => {
  const admin = await signInElsewhere(installation.url, administrator.email);
  await giveCookie(context, installation.url, admin);
  await keepNotices(page);
  await page.goto(`${installation.url}/settings/admin/usage`);
  await page.getByText('Person', { exact: true }).click();
  await expect(page.getByRole('link', { name: 'Download CSV' })).toHaveAttribute('href', /by=person/);
  await page.goto(`${installation.url}/settings/admin/budgets`);
  await expect(page.getByText('No budgets')).toBeVisible();
  await page.getByLabel('Limit').fill('a lot');
  await page.getByRole('button', { name: 'Add budget' }).click();
  await expect(page.getByText('Enter a number of 0 or more, without thousands separators.')).toBeVisible();
  await page.getByLabel('For', { exact: true }).selectOption('person');
  await page.getByLabel('Limit').fill('19.50');
  await page.getByLabel('E-mail address').fill(person.email);
  await page.getByRole('button', { name: 'Add budget' }).click();
  await expect(page.getByText('$19.50 a month')).toBeVisible();
  await dismissNotice(page, 'Budgets saved');
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  const { budgets } = await admin.must('GET', '/api/admin/budgets');
  expect(budgets).toMatchObject([{ scope: 'person', unit: 'cost', period: 'month', limit: 19_500_000, spent: 0 }]);
  await page.getByRole('button', { name: /Edit the budget/ }).click();
  const limit = page.getByRole('listitem').getByLabel('Limit');
  await expect(limit).toHaveValue('19.50');
  await limit.fill('5');
  await page.getByRole('button', { name: 'Save budget' }).click();
  await expect(page.getByText('$5.00 a month')).toBeVisible();
  await dismissNotice(page, 'Budgets saved');
  await page.getByRole('button', { name: /Remove the budget/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await expect(page.getByText('$5.00 a month')).toBeVisible();
  await page.getByRole('button', { name: /Remove the budget/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove budget' }).click();
  await expect(page.getByText('No budgets')).toBeVisible();
  await dismissNotice(page, 'Budgets saved');
  expect((await admin.must('GET', '/api/admin/budgets')).budgets).toEqual([]);

  const save = page.locator('form', { has: page.getByLabel('Steps') }).getByRole('button', { name: 'Save' });
  await page.getByLabel('Steps').fill('0');
  await page.getByLabel('Tokens', { exact: true }).fill('250000');
  await save.click();
  await expect(page.getByText('Enter a whole number from 1 to 2,000.')).toBeVisible();
  await page.getByLabel('Steps').fill('50');
  await save.click();
  await dismissNotice(page, 'Limits per answer saved');
  const config = await admin.must('GET', '/api/admin/config');
  expect(config.turnBudget).toEqual({ steps: 50, minutes: 120, tokens: 250_000 });
  await page.getByRole('button', { name: 'Reset to defaults' }).click();
  await save.click();
  const budgetNow = async () => (await admin.must('GET', '/api/admin/config')).turnBudget;
  await expect.poll(budgetNow).toEqual({ steps: 200, minutes: 120, tokens: null });
});

test('shows whom a budget would stop before it is saved, and lets administrators go on', async ({
  page,
  context,
  installation,
  person,
}) => {
  const admin = await signInElsewhere(installation.url, administrator.email);
  await giveCookie(context, installation.url, admin);
  await keepNotices(page);
  const { user } = (await person.caller.must('GET', '/api/me')) as { user: { id: string; name: string } };
  await installation.query(
    `insert into usage_days (owner_id, day, provider_name, provider_model_id, calls, unpriced_calls, input_tokens,
       cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens, cost)
     select id, (now() at time zone 'utc')::date, 'p', 'm', 1, 0, 121885, 0, 0, 0, 0, 0 from users
     where id = '${user.id}' or email = '${administrator.email}'`,
  );
  await page.goto(`${installation.url}/settings/admin/budgets`);
  await page.getByLabel('For', { exact: true }).selectOption('each');
  await page.getByLabel('Measured in').selectOption('tokens');
  await page.getByLabel('Limit').fill('5000');
  await page.getByRole('button', { name: 'Add budget' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('Stop 1 person now?');
  await expect(dialog).toContainText(user.name);
  await expectAccessibleHere(page);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  expect((await admin.must('GET', '/api/admin/budgets')).budgets).toEqual([]);
  await expect(page.getByLabel('Limit')).toHaveValue('5000');
  await page.getByRole('switch', { name: 'Also stops administrators' }).press('Space');
  await page.getByRole('button', { name: 'Add budget' }).click();
  await expect(dialog).toContainText('Stop 2 people now?');
  await expect(dialog).toContainText('You are one of them.');
  await dialog.getByRole('button', { name: 'Save and stop them' }).click();
  await expect(page.getByText('Each person: 5,000 tokens a month')).toBeVisible();
  await page.goto(`${installation.url}/settings/usage`);
  await expect(page.getByText('121,885 of 5,000 tokens used.')).toBeVisible();
  await admin.must('PUT', '/api/admin/budgets', { budgets: [] });
});
