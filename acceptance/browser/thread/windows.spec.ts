import type { Page } from '@playwright/test';
import { addModels } from '../../product.ts';
import { expect, finishAnswers, giveCookie, test } from '../fixtures.ts';

/** Several windows of a browser, and browsers that change the page. */

const answer = (page: Page) => page.locator('[data-role="assistant"]').last();

async function ask(page: Page, words: string): Promise<void> {
  const field = page.getByLabel('Message', { exact: true });
  await field.fill(words);
  await field.press('Enter');
}

test('ten windows with running answers leave connections for another page', async ({
  page,
  context,
  installation,
  person,
  provider,
}) => {
  await addModels(person.caller, provider, ['pause-words-12@0']);
  const pages = [page];
  for (let count = 1; count < 10; count += 1) pages.push(await context.newPage());
  for (const [index, each] of pages.entries()) {
    await each.goto(installation.url);
    await ask(each, `Question ${index}`);
    await expect(answer(each)).toContainText(/\w+ \w+ \w+/);
  }
  const last = await context.newPage();
  await last.goto(`${installation.url}/settings/profile`);
  await expect(last.getByRole('heading', { level: 1 })).toBeVisible();
  await finishAnswers(provider);
  for (const each of pages) await expect(answer(each)).toHaveAttribute('aria-busy', 'false');
});

/** As browsers translate: text nodes are replaced by elements with other words, now and after each change. */
const translation = `setInterval(() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT, {
    acceptNode: (node) => {
      const element = node.parentElement;
      if (node.data.trim() === '' || element === null) return NodeFilter.FILTER_REJECT;
      const isKept = element.closest('font, script, style, textarea, .notranslate') || element.closest('[translate="no"]');
      return isKept ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT;
    },
  });
  const nodes = [];
  while (walker.nextNode()) nodes.push(walker.currentNode);
  for (const node of nodes) {
    const font = document.createElement('font');
    font.append(document.createElement('font'));
    font.firstChild.append(node.data.toUpperCase());
    node.replaceWith(font);
  }
}, 100)`;

test('keeps every word of an answer that streams while the browser translates the page', async ({
  page,
  installation,
  person,
  provider,
}) => {
  await addModels(person.caller, provider, ['words-150@40']);
  await page.goto(installation.url);
  await page.evaluate(translation);
  await ask(page, 'Translate me');
  await expect(answer(page)).toHaveAttribute('aria-busy', 'false');
  const { chats } = await person.caller.must('GET', '/api/chats');
  const { messages } = await person.caller.must('GET', `/api/chats?id=${chats[0].id}`);
  const text: string = messages.at(-1).parts.find((part: { type: string }) => part.type === 'text').text;
  const words = text.trim().toUpperCase().split(/\s+/);
  expect(words.length).toBeGreaterThan(100);
  await expect
    .poll(async () => (await answer(page).locator('[data-part="text"]').textContent())?.trim().split(/\s+/))
    .toEqual(words);
});

test('shows times as the locale of the browser writes them', async ({ browser, installation, person, provider }) => {
  await addModels(person.caller, provider, ['echo']);
  for (const locale of ['en-GB', 'sv-SE', 'en-US']) {
    const context = await browser.newContext({ locale, timezoneId: 'Europe/Berlin' });
    await giveCookie(context, installation.url, person.caller);
    const page = await context.newPage();
    await page.goto(installation.url);
    await ask(page, 'What time is it?');
    await expect(answer(page)).toHaveAttribute('aria-busy', 'false');
    const time = page.locator('time').first();
    const at = new Date((await time.getAttribute('datetime')) ?? '');
    const format = new Intl.DateTimeFormat(locale, { timeStyle: 'short', timeZone: 'Europe/Berlin' });
    expect((await time.textContent())?.replaceAll(/\s/g, ' ')).toBe(format.format(at).replaceAll(/\s/g, ' '));
    await context.close();
  }
});
