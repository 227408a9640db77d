import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { addModels, administrator, scratchFolder, startProduct } from '../../product.ts';
import { end, expect, giveCookie, password, signInElsewhere, test } from '../fixtures.ts';

/** Clicks needed for tasks of a first day; typing and Enter in a form don't count. */

type Counted = { clicks: () => Promise<number>; startCounting: () => void };

/** Counts the clicks of a page, also over navigation. */
async function count(page: Page): Promise<Counted> {
  let clicks = 0;
  await page.exposeFunction('countClick', () => {
    clicks += 1;
  });
  await page.addInitScript(`addEventListener('pointerdown', () => void countClick(), true)`);
  return {
    clicks: async () => {
      // Calls of earlier clicks arrive before this one.
      await page.evaluate('countClick()');
      return clicks - 1;
    },
    startCounting: () => {
      clicks = 0;
    },
  };
}

test('gives a first answer four clicks after the account was created', async ({ page, provider }) => {
  const product = await startProduct(join(scratchFolder(), 'data'));
  const { clicks, startCounting } = await count(page);
  await page.goto(product.url);
  await page.getByLabel('Name').fill(administrator.name);
  await page.getByLabel('E-mail address').fill(administrator.email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Add a provider');
  startCounting();
  await page.getByText('Other', { exact: true }).click();
  await page.getByLabel('Name', { exact: true }).fill('Scripted');
  await page.getByLabel('Base URL').fill(provider);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Choose your models');
  await page.getByRole('checkbox', { name: 'echo', exact: true }).check();
  await page.getByRole('button', { name: /^Add/ }).click();
  await page.getByRole('link', { name: 'Start your first conversation' }).click();
  await page.getByLabel('Message', { exact: true }).fill('Harbor');
  await page.keyboard.press('Enter');
  await expect(page.locator('[data-role="assistant"][aria-busy="false"]')).toContainText('Harbor');
  expect(await clicks()).toBeLessThanOrEqual(4);
  await end(product);
});

test('shares a file with three clicks', async ({ page, person, installation }) => {
  const { project } = await person.caller.must('POST', '/api/projects', { name: 'Harbor' });
  const form = new FormData();
  form.append('projectId', project.id);
  form.append('file', new Blob(['berth,depth'], { type: 'text/csv' }), 'depths.csv');
  expect((await person.caller.fetch('/api/artifacts', { method: 'POST', body: form })).status).toBe(201);
  const { clicks, startCounting } = await count(page);
  await page.goto(`${installation.url}/p/${project.id}?tab=files`);
  startCounting();
  await page
    .getByRole('button', { name: /^Open depths\.csv|^depths\.csv/ })
    .first()
    .click();
  await page.getByRole('button', { name: 'Share…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Create link' }).click();
  await expect(page.getByRole('dialog').getByRole('textbox', { name: 'Link' })).toHaveValue(/\/s\//);
  expect(await clicks()).toBeLessThanOrEqual(3);
});

test('answers an invited person without any setting', async ({ page, installation, provider }) => {
  const admin = await signInElsewhere(installation.url, administrator.email);
  await addModels(admin, provider, ['echo']);
  const { providers } = await admin.must('GET', '/api/providers');
  await admin.must('PATCH', '/api/providers', { id: providers[0].id, sharedWith: 'everyone' });
  const email = `${randomUUID()}@example.org`;
  const { url } = await admin.must('POST', '/api/invitations', { email, name: 'Grace' });
  const { clicks } = await count(page);
  await page.goto(url);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.keyboard.press('Enter');
  await page.getByLabel('Message', { exact: true }).fill('Harbor');
  await page.keyboard.press('Enter');
  await expect(page.locator('[data-role="assistant"][aria-busy="false"]')).toContainText('Harbor');
  expect(await clicks()).toBe(0);
  await admin.must('PATCH', '/api/providers', { id: providers[0].id, sharedWith: 'none' });
});

test('keeps text typed before the palette is loaded, and finds “invite” in one step', async ({
  page,
  context,
  installation,
}) => {
  await giveCookie(context, installation.url, await signInElsewhere(installation.url, administrator.email));
  let release = () => {};
  const isHeld = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(/palette[^/]*\.js$/, async (route) => {
    await isHeld;
    await route.continue();
  });
  await page.goto(installation.url);
  const field = page.getByLabel('Message', { exact: true });
  await expect(field).toBeFocused();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('invx');
  await page.keyboard.press('Backspace');
  await page.keyboard.type('it');
  release();
  const palette = page.getByRole('combobox', { name: 'Search and commands' });
  await expect(palette).toBeFocused();
  await page.keyboard.type('e');
  await expect(palette).toHaveValue('invite');
  await expect(page.getByRole('option', { selected: true })).toContainText('Invite');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/settings\/admin\/(users|invitations)/);
  await page.goto(installation.url);
  await expect(field).toHaveValue('');
});
