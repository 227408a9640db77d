import type { Locator, Page } from '@playwright/test';
import { addModels, type Caller } from '../../product.ts';
import { expectAccessible, expectAccessibleHere, expectNoSidewaysScroll } from '../accessible.ts';
import { expect, test } from '../fixtures.ts';

// Here things move as they do for most people.
test.use({ contextOptions: { reducedMotion: 'no-preference' } });

const names = ['echo', 'reason', 'think', 'hang-5', ...Array.from({ length: 12 }, (_, index) => `words-${index + 10}`)];
const field = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true });

/** Opened by keyboard, checked, closed with Escape: the focus is back on the button. */
async function openAndClose(page: Page, button: Locator, look: () => Promise<void>): Promise<void> {
  await openByEnter(page, button, page.locator('[role="menu"]:focus-within, [role="combobox"]:focus'));
  await expect(button).toHaveAttribute('aria-expanded', 'true');
  await look();
  await page.keyboard.press('Escape');
  await expect(button).toHaveAttribute('aria-expanded', 'false');
  await expect(button).toBeFocused();
}

/**
 * A page or drawer that has just appeared takes the focus once, also from a menu opened before: a person opens it
 * again.
 */
async function openByEnter(page: Page, button: Locator, focused: Locator): Promise<void> {
  await expect(async () => {
    await button.focus();
    await page.keyboard.press('Enter');
    await expect(focused).toBeVisible({ timeout: 10_000 });
  }).toPass({ timeout: 120_000 });
}

async function bodyOfNextSubmission(page: Page): Promise<{ modelId?: string; modelPinned?: boolean }> {
  return (await page.waitForRequest('**/api/chat/start')).postDataJSON();
}

test('opens every menu by keyboard, without findings of axe', async ({ page, person, installation, provider }) => {
  await addModels(person.caller, provider, names);
  await page.goto(installation.url);
  await field(page).fill('Hello there');
  await field(page).press('Enter');
  await expect(page.locator('[data-role="assistant"][aria-busy="false"]')).toBeVisible();
  await openAndClose(page, page.getByRole('button', { name: 'Regenerate with…' }), async () => {
    await expect(page.getByRole('menuitem', { name: 'echo' })).toBeFocused();
    await page.keyboard.press('ArrowDown');
    await expect(page.getByRole('menuitem', { name: 'reason' })).toBeFocused();
    await expectAccessible(page);
  });
  await openAndClose(page, page.getByRole('button', { name: /of the context window used/ }), async () => {
    await expect(page.getByRole('menu')).toContainText('tokens');
    await expectAccessible(page);
  });
  await openAndClose(page, page.getByRole('button', { name: /^Model:/ }), async () => {
    await expect(page.getByRole('combobox', { name: 'Search models' })).toBeFocused();
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
  });
  await openAndClose(page, page.getByRole('button', { name: /^Account:/ }), async () => {
    await expect(page.getByRole('menuitemradio', { name: 'System' })).toBeFocused();
    await page.keyboard.press('ArrowUp');
    await expect(page.getByRole('menuitem', { name: 'Sign out' })).toBeFocused();
    await expect(page.getByRole('menuitem', { name: 'Help' })).toHaveAttribute('href', '/docs');
    await expectAccessibleHere(page);
  });
  await openAndClose(page, page.getByRole('navigation').getByRole('button', { name: /^Options for/ }), async () => {
    await expect(page.getByRole('menuitem', { name: 'Rename' })).toBeVisible();
    await expectAccessibleHere(page);
  });
  await page.setViewportSize({ width: 390, height: 844 });
  await openAndClose(page, page.getByRole('banner').getByRole('button', { name: /^Options for/ }), async () => {
    await expect(page.getByRole('menuitem', { name: 'Export as JSON' })).toBeVisible();
    await expectAccessibleHere(page);
  });
  await page.getByRole('button', { name: 'Open the sidebar' }).click();
  await openAndClose(page, page.getByRole('dialog').getByRole('button', { name: /^Account:/ }), async () => {
    await expect(page.getByRole('menuitem', { name: 'Sign out' })).toBeInViewport({ ratio: 1 });
  });
});

test('searches a model, and uses it once or for the conversation', async ({ page, person, installation, provider }) => {
  const ids = await addModels(person.caller, provider, names);
  await tierOf(person.caller, ids[2] ?? '', 4);
  await page.goto(installation.url);
  const picker = page.getByRole('button', { name: /^Model:/ });
  const search = page.getByRole('combobox', { name: 'Search models' });
  await picker.click();
  await expect(page.getByRole('option', { name: /^Default/ })).toHaveAttribute('aria-selected', 'true');
  await expect(page.getByRole('group', { name: 'Maximum' }).getByRole('option')).toHaveText(/^think/);
  await expect(page.getByRole('dialog', { name: 'Choose a model' })).toBeInViewport({ ratio: 1 });
  await search.fill('WORDS scripted 15');
  await expect(page.getByRole('option')).toHaveCount(1);
  await expect(page.getByRole('option').locator('mark')).toHaveText(['words', '15']);
  await search.fill('no-such');
  await expect(page.getByText('No models match “no-such”.')).toBeVisible();
  await expectAccessibleHere(page);

  await test.step('uses a model once', async () => {
    await page.getByRole('checkbox', { name: 'Keep for this conversation' }).uncheck();
    await search.fill('rea');
    await search.press('Enter');
    await expect(picker).toHaveAccessibleName('Model: reason');
    await expect(picker).toBeFocused();
    await expect(picker).toContainText('once');
    await field(page).fill('One');
    const body = bodyOfNextSubmission(page);
    await field(page).press('Enter');
    expect(await body).toMatchObject({ modelId: ids[1] });
    expect(await body).not.toHaveProperty('modelPinned');
    await expect(page.locator('[data-role="assistant"][aria-busy="false"]')).toContainText('Then I answer.');
    await expect(picker).toHaveAccessibleName('Model: echo');
  });

  await test.step('keeps a model, chosen by arrow keys', async () => {
    await picker.press('Enter');
    await expect(search).toBeFocused();
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await expect(search).toHaveAttribute('aria-activedescendant', /.+/);
    await page.keyboard.press('Enter');
    await expect(picker).toHaveAccessibleName('Model: think');
    await field(page).fill('Two');
    const body = bodyOfNextSubmission(page);
    await field(page).press('Enter');
    expect(await body).toMatchObject({ modelId: ids[2], modelPinned: true });
    await expect(page.locator('[data-role="assistant"][aria-busy="false"]')).toHaveCount(2);
    await page.reload();
    await expect(picker).toHaveAccessibleName('Model: think');
  });

  await test.step('returns to the default model', async () => {
    await picker.click();
    await page.getByRole('option', { name: /^Default/ }).click();
    await field(page).fill('Three');
    const body = bodyOfNextSubmission(page);
    await field(page).press('Enter');
    expect(await body).toMatchObject({ modelPinned: false });
  });
});

test('shows no search for few models, and supports the keys of a list', async ({
  page,
  person,
  installation,
  provider,
}) => {
  await addModels(person.caller, provider, ['echo', 'reason', 'think']);
  await page.goto(installation.url);
  const picker = page.getByRole('button', { name: /^Model:/ });
  // The field takes the focus when it appears.
  await expect(field(page)).toBeFocused();
  const list = page.getByRole('listbox', { name: 'Choose a model' });
  await openByEnter(page, picker, page.locator('[role="listbox"]:focus'));
  await expect(list).toBeFocused();
  await expect(page.getByRole('combobox')).toHaveCount(0);
  await page.keyboard.press('End');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Space');
  await expect(picker).toHaveAccessibleName('Model: reason');
  await expect(picker).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(list).toBeFocused();
  await page.keyboard.press('Home');
  await page.keyboard.press('Enter');
  await expect(picker).toHaveAccessibleName('Model: echo');
});

test('shows the chosen model from sending on, and keeps a choice over leaving and reloading', async ({
  page,
  person,
  installation,
  provider,
}) => {
  const [, , slow] = await addModels(person.caller, provider, ['echo', 'reason', 'hang-5']);
  await page.goto(installation.url);
  const picker = page.getByRole('button', { name: /^Model:/ });
  const choose = async (name: RegExp) => {
    await picker.click();
    await page.getByRole('option', { name }).click();
  };

  await choose(/^reason/);
  await page.reload();
  await expect(picker).toHaveAccessibleName('Model: reason');
  await choose(/^Default/);
  await field(page).fill('One');
  await field(page).press('Enter');
  await expect(page.locator('[data-role="assistant"][aria-busy="false"]')).toHaveCount(1);

  const conversation = page.url();
  await choose(/^hang-5/);
  await page.goto(installation.url);
  await expect(picker).toHaveAccessibleName('Model: echo');
  await page.goto(conversation);
  await expect(picker).toHaveAccessibleName('Model: hang-5');

  await field(page).fill('Two');
  const body = bodyOfNextSubmission(page);
  await field(page).press('Enter');
  expect(await body).toMatchObject({ modelId: slow, modelPinned: true });
  await expect(page.locator('[data-role="assistant"][aria-busy="true"]')).toBeVisible();
  await expect(picker).toBeEnabled();
  await expect(picker).toHaveAccessibleName('Model: hang-5');
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect(page.locator('[data-role="assistant"][aria-busy="false"]')).toHaveCount(2);
  await expect(picker).toHaveAccessibleName('Model: hang-5');
});

test('begins new conversations with the model of the last message, and offers ways to begin', async ({
  page,
  person,
  installation,
  provider,
}) => {
  await addModels(person.caller, provider, ['echo', 'reason']);
  await page.goto(installation.url);
  const picker = page.getByRole('button', { name: /^Model:/ });
  await picker.click();
  await page.getByRole('option', { name: /^reason/ }).click();
  await field(page).fill('notes');
  await page.getByRole('region', { name: 'Ways to begin' }).getByRole('button', { name: 'Summarize a text' }).click();
  await expect(field(page)).toHaveValue('Summarize this text in five points:\n\nnotes');
  await expect(field(page)).toBeFocused();
  await expect(page.getByRole('switch')).toHaveCount(0);
  await expectAccessible(page);
  await field(page).press('Enter');
  await expect(page.locator('[data-role="assistant"][aria-busy="false"]')).toHaveCount(1);
  await page.goto(installation.url);
  await expect(picker).toHaveAccessibleName('Model: reason');
  await page.reload();
  await expect(picker).toHaveAccessibleName('Model: reason');
  await picker.click();
  await page.getByRole('option', { name: /^Default/ }).click();
  await expect(picker).toHaveAccessibleName('Model: echo');
  await page.reload();
  await expect(picker).toHaveAccessibleName('Model: echo');
});

async function tierOf(caller: Caller, id: string, tier: number): Promise<void> {
  await caller.must('PATCH', '/api/models', { id, tier });
}
