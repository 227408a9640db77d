import type { Page } from '@playwright/test';
import { addModels } from '../../product.ts';
import { open, signedInPages } from '../every-page.ts';
import { expect, test } from '../fixtures.ts';
import { startMcp } from '../mcp-server.ts';

/** The same thing looks the same on every page. */

test('gives every page the same structure: main action, tabs, hints, selects and read-only fields', async ({
  browser,
  installation,
  provider,
}) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  const seen: Looks = { faults: [], actions: [], tabs: [], hints: [], selects: [], readOnly: [], editable: [] };
  for (const path of await signedInPages(context, installation, provider)) {
    await open(page, installation, path);
    const found = await looksOf(page);
    for (const key of kinds)
      seen[key].push(...found[key].map((each) => (key === 'faults' ? `${path}: ${each}` : each)));
  }
  await context.close();
  expect(seen.faults).toEqual([]);
  // Each of them was found.
  expect(seen.actions.length).toBeGreaterThan(5);
  expect(seen.tabs.length).toBeGreaterThan(5);
  expect(seen.hints.length).toBeGreaterThan(10);
  expect([...new Set(seen.selects)]).toHaveLength(1);
  expect([...new Set(seen.readOnly)]).toHaveLength(1);
  expect(seen.editable).not.toContain(seen.readOnly[0]);
});

test('never wraps an icon onto its own line on a phone', async ({ browser, installation, provider }) => {
  const context = await browser.newContext({ locale: 'de-DE', viewport: { width: 390, height: 844 } });
  const page = await context.newPage();
  const alone: string[] = [];
  for (const path of await signedInPages(context, installation, provider)) {
    await open(page, installation, path);
    for (const each of await iconsAlone(page)) alone.push(`${path}: ${each}`);
  }
  await context.close();
  expect(alone).toEqual([]);
});

test('gives every dialog the same overlay, corners and title', async ({ page, installation, person, provider }) => {
  await addModels(person.caller, provider, ['echo']);
  await person.caller.must('POST', '/api/chats', { title: 'Old plans' });
  await person.caller.must('POST', '/api/projects', { name: 'Sun' });
  const mcp = await startMcp([{ name: 'erase', description: 'Erases.', inputSchema: { type: 'object' } }]);
  await person.caller.must('POST', '/api/mcp', { name: 'Box', url: mcp.url });
  const looks: Record<string, string> = {};
  const look = async (name: string): Promise<void> => {
    const dialog = page.getByRole('dialog');
    await expect(dialog).toBeVisible();
    looks[name] = await dialogLook(page);
    await page.keyboard.press('Escape');
    await expect(dialog).toBeHidden();
  };
  await page.goto(installation.url);
  const conversation = page.getByRole('link', { name: 'Old plans' });
  await conversation.press('Delete');
  await look('a question');
  await page.getByRole('button', { name: 'Options for “Old plans”' }).click();
  await page.getByRole('menuitem', { name: 'Move to a project…' }).click();
  await look('moving');
  await page.getByRole('button', { name: 'New project' }).click();
  await look('a new project');
  await page.getByRole('heading', { level: 1 }).click();
  await page.keyboard.press('?');
  await look('shortcuts');
  await page.goto(`${installation.url}/settings/providers`);
  await page.getByRole('button', { name: 'Add provider' }).first().click();
  await look('a form');
  await page.goto(`${installation.url}/settings/tools`);
  await page.getByRole('button', { name: 'Review and trust Box' }).click();
  await look('a review');
  mcp.close();
  expect(Object.keys(looks)).toHaveLength(6);
  const [first = ''] = Object.values(looks);
  expect(first).toMatch(/rgba.*px.*600/);
  expect(looks).toEqual(Object.fromEntries(Object.keys(looks).map((name) => [name, first])));
});

const kinds = ['faults', 'actions', 'tabs', 'hints', 'selects', 'readOnly', 'editable'] as const;
type Looks = Record<(typeof kinds)[number], string[]>;

/** Returns the structure of a page and its differences from other pages. */
function looksOf(page: Page): Promise<Looks> {
  return page.evaluate<Looks>(`(() => {
    const found = { faults: [], actions: [], tabs: [], hints: [], selects: [], readOnly: [], editable: [] };
    const main = document.querySelector('main');
    const shown = (each) => each.checkVisibility({ visibilityProperty: true }) && each.getBoundingClientRect().width > 1;
    const all = (selector, within = main) => [...within.querySelectorAll(selector)].filter(shown);
    const name = (each) => each.outerHTML.slice(0, 100);
    const title = main.querySelector('h1');
    const header = title.closest('header');
    const box = (each) => each.getBoundingClientRect();
    if (header !== null) {
      const buttons = all('button, a', header).filter((each) => /filled|default/.test(each.dataset.variant ?? ''));
      found.actions.push(...buttons.map(name));
      const end = Math.max(...buttons.map((each) => box(each).right));
      if (buttons.length > 0 && Math.abs(end - box(header).right) > 1) found.faults.push('its action is not at the right');
      for (const each of buttons) if (box(each).top > box(title).bottom) found.faults.push('below the title: ' + name(each));
    }
    for (const each of all('[role="tablist"], nav')) {
      found.tabs.push(name(each));
      if (box(each).top < box(header ?? title).bottom) found.faults.push('tabs beside the title: ' + name(each));
    }
    for (const each of all('.mantine-InputWrapper-description')) {
      const field = each.parentElement.querySelector('.mantine-Input-wrapper');
      if (field === null) continue;
      found.hints.push(name(each));
      if (box(each).top < box(field).bottom) found.faults.push('a hint above its field: ' + name(field));
    }
    const look = (each, names) => names.map((one) => getComputedStyle(each)[one]).join(' ');
    const fieldLook = ['borderRadius', 'borderTopWidth', 'borderTopStyle', 'backgroundColor', 'color'];
    for (const each of all('select')) {
      if (each.disabled) continue;
      found.selects.push(look(each, [...fieldLook, 'appearance']) + ' ' + (each.parentElement.querySelector('svg') !== null));
    }
    for (const each of all('input.mantine-Input-input, textarea.mantine-Input-input')) {
      found[each.readOnly || each.disabled ? 'readOnly' : 'editable'].push(look(each, fieldLook.slice(2, 4)));
    }
    return found;
  })()`);
}

/** Buttons without words that have no text and no other control to their left or right. */
function iconsAlone(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(() => {
    const main = document.querySelector('main');
    const shown = (each) => each.checkVisibility({ visibilityProperty: true });
    const company = [...main.querySelectorAll('button, a, input, select, textarea, img')]
      .filter(shown)
      .map((each) => [each, [each.getBoundingClientRect()]]);
    const texts = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
      if (text.data.trim() === '' || !shown(text.parentElement)) continue;
      const range = document.createRange();
      range.selectNodeContents(text);
      company.push([text, [...range.getClientRects()]]);
    }
    return [...main.querySelectorAll('button, a')].filter(shown).flatMap((each) => {
      if (each.textContent.trim() !== '' || each.querySelector('svg') === null) return [];
      const box = each.getBoundingClientRect();
      const middle = box.top + box.height / 2;
      const isBeside = ({ top, bottom, width }) => width > 1 && top < middle && bottom > middle;
      const isAlone = !company.some(([other, boxes]) => !each.contains(other) && boxes.some(isBeside));
      return isAlone && box.width > 1 ? [each.outerHTML.slice(0, 120)] : [];
    });
  })()`);
}

function dialogLook(page: Page): Promise<string> {
  return page.evaluate<string>(`(() => {
    const dialog = document.querySelector('[role="dialog"]');
    const title = document.getElementById(dialog.getAttribute('aria-labelledby'));
    const overlay = document.querySelector('.mantine-Modal-overlay');
    const of = (each, ...names) => names.map((name) => getComputedStyle(each)[name]).join(' ');
    return [
      of(overlay, 'backgroundColor', 'backdropFilter'),
      of(dialog, 'borderRadius', 'backgroundColor', 'boxShadow'),
      of(title, 'fontSize', 'fontWeight', 'lineHeight', 'color'),
    ].join(' | ');
  })()`);
}
