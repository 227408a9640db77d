import type { Page } from '@playwright/test';
import { addModels } from '../../product.ts';
import { expectAccessible, expectNoSidewaysScroll } from '../accessible.ts';
import { test as base, expect } from '../fixtures.ts';
import { addTrusted, startMcp, type TestMcp } from '../mcp-server.ts';

/** Approvals: the question about a tool call and the person's decision. */

const inputSchema = { type: 'object', properties: { text: { type: 'string' } } };

const test = base.extend<{ mcp: TestMcp }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the fixtures from the pattern
  mcp: async ({}, use) => {
    const mcp = await startMcp([
      { name: 'read', inputSchema, annotations: { readOnlyHint: true } },
      { name: 'erase', inputSchema, annotations: { destructiveHint: true } },
    ]);
    await use(mcp);
    mcp.close();
  },
});

const waiting = (page: Page) => page.getByRole('region', { name: 'Allow Box to run erase?' });
const done = (page: Page) => page.locator('[data-role="assistant"][aria-busy="false"]');

/** Has the model call the tool with this input. */
async function order(page: Page, input: object): Promise<void> {
  const field = page.getByLabel('Message', { exact: true });
  await field.fill(`mcp__Box__erase ${JSON.stringify(input)}`);
  await page.getByRole('button', { name: 'Send', exact: true }).click();
}

test('sets destructive tools to ask first by default', async ({ page, installation, person, mcp }) => {
  const { server } = await person.caller.must('POST', '/api/mcp', { name: 'Box', url: mcp.url });
  expect(server.toolPolicies).toEqual({});
  await page.goto(`${installation.url}/settings/tools`);
  await page.getByRole('button', { name: 'Review and trust Box' }).click();
  const review = page.getByRole('dialog', { name: 'Tools from Box' });
  const asks = review.getByRole('checkbox', { name: /^Ask first before using this tool/ });
  await expect(asks).toBeChecked();
  await expect(review.getByText('erase', { exact: true }).last()).toBeVisible();
  await review.getByRole('button', { name: 'Trust these 2 tools' }).click();
  await expect(page.getByText('Trusted', { exact: true })).toBeVisible();
  expect((await person.caller.must('GET', '/api/mcp')).servers[0].toolPolicies).toEqual({ erase: 'ask' });
});

test('scrolls a long input beside the buttons on a phone, and denies with one press', async ({
  page,
  installation,
  person,
  provider,
  mcp,
}) => {
  await page.setViewportSize({ width: 390, height: 700 });
  await addModels(person.caller, provider, ['order']);
  await addTrusted(person.caller, { name: 'Box', url: mcp.url, toolPolicies: { erase: 'ask' } });
  await page.goto(installation.url);
  const lines = Array.from({ length: 60 }, (_, index) => `Line ${index + 1} of what is erased.`);
  await order(page, { text: lines.join('\n') });
  const deny = waiting(page).getByRole('button', { name: 'Deny', exact: true });
  await expect(deny).toBeVisible();
  await expectNoSidewaysScroll(page);
  await expectAccessible(page);
  // Both of these end on a wide window.
  await page.setViewportSize({ width: 390, height: 700 });
  for (const line of ['Line 1 ', 'Line 30 ', 'Line 60 ']) {
    await test.step(line, async () => {
      await expect.poll(() => isReadable(page, line)).toBe(true);
      await expect(deny).toBeInViewport({ ratio: 1 });
    });
  }
  await deny.click();
  await expect(done(page)).toContainText('did not allow this call');
  await expect(waiting(page)).toHaveCount(0);
  expect(mcp.calls).toEqual([]);
});

test('remembers an approval for the conversation only', async ({ page, installation, person, provider, mcp }) => {
  await addModels(person.caller, provider, ['order']);
  await addTrusted(person.caller, { name: 'Box', url: mcp.url, toolPolicies: { erase: 'ask' } });
  await page.goto(installation.url);
  await order(page, { text: 'one' });
  await waiting(page).getByRole('button', { name: 'Always allow…' }).click();
  await waiting(page).getByRole('button', { name: 'In this conversation' }).click();
  await expect(done(page)).toContainText('heard');
  await order(page, { text: 'two' });
  await expect(done(page)).toHaveCount(2);
  expect(mcp.calls.map((call) => call.arguments)).toEqual([{ text: 'one' }, { text: 'two' }]);
  await page.goto(installation.url);
  await order(page, { text: 'three' });
  await expect(waiting(page)).toBeVisible();
  expect(mcp.calls).toHaveLength(2);
});

test('remembers an approval for all conversations', async ({ page, installation, person, provider, mcp }) => {
  await addModels(person.caller, provider, ['order']);
  await addTrusted(person.caller, { name: 'Box', url: mcp.url, toolPolicies: { erase: 'ask' } });
  await page.goto(installation.url);
  await order(page, { text: 'one' });
  await waiting(page).getByRole('button', { name: 'Always allow…' }).click();
  expect(mcp.calls).toEqual([]);
  await waiting(page).getByRole('button', { name: 'In all conversations' }).click();
  await expect(done(page)).toContainText('heard');
  await expect(waiting(page)).toHaveCount(0);
  await page.goto(installation.url);
  await order(page, { text: 'two' });
  await expect(done(page)).toContainText('heard');
  expect(mcp.calls.map((call) => call.arguments)).toEqual([{ text: 'one' }, { text: 'two' }]);
  expect((await person.caller.must('GET', '/api/chats')).chats).toHaveLength(2);
});

test('marks conversations that wait for the person or failed', async ({
  page,
  installation,
  person,
  provider,
  mcp,
}) => {
  const [asks, fails] = await addModels(person.caller, provider, ['order', 'error-400']);
  await addTrusted(person.caller, { name: 'Box', url: mcp.url, toolPolicies: { erase: 'ask' } });
  const add = async (title: string): Promise<string> =>
    (await person.caller.must('POST', '/api/chats', { title })).chat.id;
  const send = async (chatId: string, modelId: string | undefined, text: string) => {
    const message = { id: `message-${chatId}`, parts: [{ type: 'text', text }] };
    await person.caller.must('POST', '/api/chat/start', { chatId, message, modelId });
    await person.caller.call('POST', '/api/chat', { chatId, messageId: message.id, detach: true });
  };
  const [asking, failing] = [await add('Needs a word'), await add('Goes wrong')];
  const row = (title: string) => page.locator('[data-chat]').filter({ hasText: title });
  // Only a conversation that was opened here can have unread answers.
  await page.goto(`${installation.url}/c/${failing}`);
  await expect(row('Goes wrong').locator('[aria-current]')).toBeVisible();
  await expect(page.getByRole('log')).toBeVisible();
  await page.getByRole('link', { name: 'New conversation' }).first().click();
  await expect(page.locator('[data-chat] [aria-current]')).toHaveCount(0);
  await send(asking, asks, 'mcp__Box__erase {"text":"one"}');
  await send(failing, fails, 'Go');
  await expect(row('Needs a word').getByRole('img', { name: 'Waiting for you' })).toBeVisible();
  await expect(row('Goes wrong').getByRole('img', { name: 'Answer failed' })).toBeVisible();
});

test('labels an empty answer, also after a notice', async ({ page, installation, person, provider, mcp }) => {
  await addModels(person.caller, provider, ['words-0']);
  await addTrusted(person.caller, { name: 'Box', url: mcp.url, toolPolicies: { erase: 'ask' } });
  mcp.tools = mcp.tools.map((tool) => ({ ...tool, description: 'Something else.' }));
  await page.goto(installation.url);
  await order(page, {});
  await expect(done(page)).toContainText('have changed since you trusted them');
  await expect(done(page)).toContainText('The model returned an empty answer.');
  await expect(done(page).getByRole('button', { name: 'Regenerate' }).first()).toBeVisible();
});

/** Scrolls to a line of the input; true if no element covers it. */
async function isReadable(page: Page, line: string): Promise<boolean> {
  return page.evaluate<boolean>(`(() => {
    const card = document.querySelector('[data-approval]');
    const walker = document.createTreeWalker(card, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const at = node.data.indexOf(${JSON.stringify(line)});
      if (at === -1) continue;
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, at + 4);
      const scroller = [...document.querySelectorAll('*')].find((each) =>
        each.contains(card) && /auto|scroll/.test(getComputedStyle(each).overflowY) && each.scrollHeight > each.clientHeight);
      scroller.scrollTop += range.getBoundingClientRect().top - scroller.getBoundingClientRect().top - scroller.clientHeight / 3;
      const box = range.getBoundingClientRect();
      return node.parentElement.contains(document.elementFromPoint(box.left + 2, box.top + box.height / 2));
    }
    return false;
  })()`);
}
