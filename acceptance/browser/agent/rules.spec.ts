import { expectAccessible, expectNoSidewaysScroll } from '../accessible.ts';
import { expect, test } from '../fixtures.ts';
import { dismissNotice, keepNotices } from '../timers.ts';

test('sets rules for tools in the settings and for one conversation', async ({ page, installation, person }) => {
  await keepNotices(page);
  await page.goto(`${installation.url}/settings/tools`);
  const main = page.getByRole('main');
  await expect(main.getByRole('radio', { name: 'Auto' })).toBeChecked();
  await main.getByText('Ask first', { exact: true }).click();
  await main.getByRole('button', { name: 'Add rule' }).click();
  await main.getByLabel('Commands of rule 1').fill('git push *');
  await main.getByLabel('Action of rule 1').selectOption('Deny');
  await main.getByRole('switch', { name: 'Programs can use my models' }).uncheck();
  await expectAccessible(page);
  await page.screenshot({ path: test.info().outputPath('wide.png'), fullPage: true });
  await main.getByRole('button', { name: 'Save' }).click();
  await dismissNotice(page, 'Rules saved');
  const rules = [{ tool: 'bash', pattern: 'git push *', policy: 'deny' }];
  expect(await person.caller.must('GET', '/api/workspace/rules')).toEqual({
    preset: 'ask',
    rules,
    programModels: false,
  });
  await page.setViewportSize({ width: 360, height: 740 });
  await page.emulateMedia({ colorScheme: 'dark' });
  await expectNoSidewaysScroll(page);
  await page.screenshot({ path: test.info().outputPath('narrow.png'), fullPage: true });
  await page.setViewportSize({ width: 1280, height: 800 });

  const { chat } = await person.caller.must('POST', '/api/chats', { title: 'A walk' });
  await page.goto(`${installation.url}/c/${chat.id}`);
  await page.getByRole('main').getByRole('button', { name: 'Options for “A walk”' }).click();
  await page.getByRole('menuitem', { name: 'Instructions…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Instructions for this conversation' });
  await dialog.getByText('Read only', { exact: true }).click();
  await page.screenshot({ path: test.info().outputPath('dialog.png') });
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog).toHaveCount(0);
  const detail = await person.caller.must('GET', `/api/chats?id=${chat.id}`);
  expect(detail.chat.toolRules).toEqual({ preset: 'read-only', rules: [] });
});
