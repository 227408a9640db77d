import type { Locator } from '@playwright/test';
import { addModels, administrator } from '../../product.ts';
import { expect, giveCookie, signInElsewhere, test } from '../fixtures.ts';
import { keepNotices } from '../timers.ts';

test('shows a missing page inside the layout', async ({ page, context, installation }) => {
  await giveCookie(context, installation.url, await signInElsewhere(installation.url, administrator.email));
  await page.goto(`${installation.url}/nowhere`);
  await expect(page.getByRole('heading', { name: 'Page not found' })).toBeVisible();
  await expect(page.getByRole('complementary', { name: 'Sidebar' })).toBeVisible();
});

test('marks the open workspace in the sidebar', async ({ page, context, installation }) => {
  await giveCookie(context, installation.url, await signInElsewhere(installation.url, administrator.email));
  await page.goto(`${installation.url}/workspace`);
  const link = page.getByRole('complementary', { name: 'Sidebar' }).getByRole('link', { name: 'Workspace' });
  await expect(link).toHaveAttribute('aria-current', 'page');
  await expect(link).not.toHaveCSS('background-color', 'rgba(0, 0, 0, 0)');
});

test('never covers the main button of a page with a notice', async ({ page, installation, person, provider }) => {
  await keepNotices(page);
  await addModels(person.caller, provider, ['echo']);
  await page.goto(`${installation.url}/settings/providers`);
  await page.getByRole('button', { name: /^Delete / }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete provider' }).click();
  await expect(page.getByRole('region', { name: 'Notices' })).toContainText('deleted.');
  await expect(page.getByRole('dialog')).toBeHidden();
  const main = page.getByRole('main').getByRole('button', { name: 'Add provider' }).first();
  const box = await main.boundingBox();
  const toast = await page.getByRole('region', { name: 'Notices' }).boundingBox();
  expect(box && toast && toast.y > box.y + box.height).toBe(true);
});

test('offers to archive a conversation instead of deleting it', async ({ page, installation, person }) => {
  await keepNotices(page);
  await person.caller.must('POST', '/api/chats', { title: 'Old plans' });
  await page.goto(installation.url);
  const side = page.getByRole('complementary', { name: 'Sidebar' });
  await side.getByRole('link', { name: 'Old plans' }).hover();
  await side.getByRole('button', { name: 'Options for “Old plans”' }).click();
  await page.getByRole('menuitem', { name: 'Delete…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Archive instead' }).click();
  await expect(page.getByText('“Old plans” archived.')).toBeVisible();
  const { chats } = (await person.caller.must('GET', '/api/chats?archived=1')) as { chats: { title: string }[] };
  expect(chats.map(({ title }) => title)).toEqual(['Old plans']);
});

test('shows the time and context of search hits, in the sidebar and in the palette', async ({
  page,
  installation,
  person,
  provider,
}) => {
  await addModels(person.caller, provider, ['echo']);
  await page.goto(installation.url);
  await page.getByRole('textbox', { name: 'Message' }).fill('Where is the C++ lighthouse?');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('log')).toContainText('lighthouse');
  await expect(page.getByRole('button', { name: 'Regenerate' }).or(page.getByText('tokens in')).first()).toBeVisible();
  const side = page.getByRole('complementary', { name: 'Sidebar' });
  await side.getByRole('searchbox').fill('c++ light');
  await expect(side.locator('time')).toBeVisible();
  await expect(side.locator('mark').filter({ hasText: 'C++' }).first()).toBeVisible();
  await page.keyboard.press('Control+k');
  const palette = page.getByRole('dialog');
  await palette.getByRole('combobox').fill('lighthouse');
  await expect(palette.locator('time').first()).toBeVisible();
  await expect(palette.locator('mark').first()).toContainText('lighthouse');
});

test('translates default names and formats numbers in German', async ({ browser, installation, person, provider }) => {
  await addModels(person.caller, provider, ['echo']);
  const context = await browser.newContext({ locale: 'de-DE' });
  const page = await context.newPage();
  await page.goto(`${installation.url}/sign-in`);
  await expect(page.getByText('Dein eigener Ort für Gespräche mit jedem Modell')).toBeVisible();
  await giveCookie(context, installation.url, person.caller);
  await page.goto(`${installation.url}/settings/models`);
  await page
    .getByRole('button', { name: /^Modelle hinzufügen/ })
    .first()
    .click();
  // The provider does not send its size, so the person enters it.
  await page.getByRole('checkbox', { name: 'words-500@50' }).check();
  await expect(page.getByLabel('Kontextfenster')).toHaveValue('128.000');
  await expect(page.getByLabel('Stufe')).toContainText('Mittel');
  await context.close();
});

test('aligns controls on one line, without wrapped section names', async ({ browser, installation }) => {
  // High enough for every section to be in view.
  const context = await browser.newContext({ locale: 'de-DE', viewport: { width: 1440, height: 1000 } });
  const caller = await signInElsewhere(installation.url, administrator.email);
  await caller.must('POST', '/api/mcp', { name: 'Gone', url: 'http://127.0.0.1:9/mcp' });
  await giveCookie(context, installation.url, caller);
  const page = await context.newPage();
  const main = page.getByRole('main');
  await page.goto(`${installation.url}/settings/admin/single-sign-on`);
  await expectOneLine(main.getByLabel('Client-ID'), main.getByLabel('Client-Secret'));
  const callback = main.getByRole('textbox', { name: 'Callback-URL' });
  await expectOneLine(main.getByRole('button', { name: /Callback-URL/ }), callback);

  await page.goto(`${installation.url}/settings/tools`);
  const title = main.getByRole('heading', { level: 1 });
  const add = main.getByRole('button', { name: 'Server hinzufügen' });
  await expectOneLine(add, title);

  await caller.must('POST', '/api/chats', { title: 'Alte Pläne' });
  await page.goto(installation.url);
  await page.getByRole('link', { name: 'Alte Pläne' }).press('Delete');
  const dialog = page.getByRole('dialog');
  const archive = dialog.getByRole('button', { name: 'Stattdessen archivieren' });
  await expectOneLine(archive, dialog.getByRole('button', { name: 'Unterhaltung löschen' }));
  await page.goto(`${installation.url}/settings/tools`);

  // The name of the open section is bold, so each has to be open once.
  const navigation = page.getByRole('navigation', { name: 'Einstellungen' });
  const paths = new Set<string>();
  for (const group of ['/settings/tools', '/settings/admin/overview']) {
    await page.goto(installation.url + group);
    await expect(navigation.locator(`[href="${group}"]`).last()).toHaveAttribute('aria-current', 'page');
    for (const link of await navigation.getByRole('link').all()) paths.add((await link.getAttribute('href')) ?? '');
  }
  expect(paths.size).toBeGreaterThan(15);
  const wrapped: string[] = [];
  for (const path of paths) {
    await page.goto(installation.url + path);
    await expect(title).toBeVisible();
    for (const link of await navigation.getByRole('link').all()) {
      // One line of a group is 37 px high and of a page 32; a second one would add 20.
      const { height = 0 } = (await link.boundingBox()) ?? {};
      if (height > 40) wrapped.push(`${path}: ${await link.textContent()}`);
    }
  }
  expect(wrapped).toEqual([]);
  await context.close();
});

/** Their tops differ by the padding of a button at most. */
async function expectOneLine(one: Locator, other: Locator): Promise<void> {
  const [first, second] = [await one.boundingBox(), await other.boundingBox()];
  expect(Math.abs((first?.y ?? 0) - (second?.y ?? Number.NaN))).toBeLessThan(6);
}
