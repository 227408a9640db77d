import { addModels } from '../../product.ts';
import { expectAccessible, expectNoSidewaysScroll } from '../accessible.ts';
import { expect, test } from '../fixtures.ts';

const answer = [
  '## A heading',
  '',
  'Words with `code`, **weight**, [a link](https://example.org) and $e^{i\\pi} + 1 = 0$, all for $5.',
  '',
  '```ts',
  "// adds\nexport const add = (a: number, b = 'x') => a + Number(b) * 42;",
  '```',
  '',
  '```python',
  "def greet(name):\n    return f'hello {name}'  # comment",
  '```',
  '',
  '$$',
  // Without an operator whose parts overlap: axe could not judge those.
  'x^2 + y^2 = z^2',
  '$$',
  '',
  '| a | b |',
  '|---|--:|',
  '| one | 1 |',
].join('\n');

test('shows code colors and formulas, quotes a selection, and regenerates with another model', async ({
  page,
  installation,
  person,
  provider,
}) => {
  await addModels(person.caller, provider, ['echo', 'reason']);
  await page.goto(installation.url);
  const field = page.getByLabel('Message', { exact: true });
  await field.fill(answer);
  await field.press('Enter');
  const reply = page.locator('[data-role="assistant"]').last();
  await expect(reply).toHaveAttribute('aria-busy', 'false');
  await expect(reply.locator('code[data-highlighted]')).toHaveCount(2);
  await expect(reply.locator('[data-kind="keyword"]').first()).toHaveText('export const ');
  await expect(reply.locator('[data-formula="set"]')).toHaveCount(2);
  await expect(reply).toContainText('all for $5');
  await expectAccessible(page);

  await test.step('never scrolls sideways at 320 px', async () => {
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);
    await expect(page.getByRole('log')).toHaveCSS('overflow-x', 'hidden');
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  await test.step('quotes a selection in the draft', async () => {
    await reply.getByRole('heading', { name: 'A heading' }).selectText();
    await page.getByRole('button', { name: 'Quote' }).click();
    await expect(field).toHaveValue('> A heading\n\n');
    await expect(field).toBeFocused();
    await field.fill('');
  });

  await test.step('answers once with another model, with thoughts', async () => {
    await page.getByRole('button', { name: 'Regenerate with…' }).click();
    await page.getByRole('menuitem', { name: 'reason' }).click();
    await expect(reply).toContainText('Then I answer.');
    await expect(reply.getByText('Thoughts')).toBeVisible();
    await expect(reply).toContainText('reason ·');
    await page.getByRole('button', { name: 'Previous version' }).click();
    await expect(reply).toContainText('A heading');
  });

  await test.step('marks a fresh context with a line', async () => {
    await page.getByRole('button', { name: /of the context window used/ }).click();
    await page.getByRole('menuitem', { name: /Start fresh context/ }).click();
    await expect(page.getByText('The model can’t see messages above this line.')).toBeVisible();
    await page.getByRole('button', { name: '0% of the context window used' }).click();
    await expect(page.getByRole('menuitem', { name: /Start fresh context/ })).toBeDisabled();
  });
});

test('highlights code with a slow grammar', async ({ page, installation, person, provider }) => {
  await addModels(person.caller, provider, ['echo']);
  // Each of the first reads of the clock advances it by half a second, as on a busy machine.
  const slowly = `let [looks, gone] = [0, 0];
    const [date, time] = [Date.now, performance.now.bind(performance)];
    const late = () => (looks++ < 40 ? (gone += 500) : gone);
    Date.now = () => date() + late();
    performance.now = () => time() + late();\n`;
  await page.route(/highlight\.worker.*\.js$/, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: slowly + (await response.text()) });
  });
  await page.goto(installation.url);
  const field = page.getByLabel('Message', { exact: true });
  await field.fill(answer);
  await field.press('Enter');
  const reply = page.locator('[data-role="assistant"]').last();
  await expect(reply.locator('code[data-highlighted]')).toHaveCount(2);
  await expect(reply.locator('[data-kind="keyword"]').first()).toHaveText('export const ');
});

test('turns a long paste into an attachment, and keeps it over a reload', async ({
  page,
  installation,
  person,
  provider,
}) => {
  await addModels(person.caller, provider, ['echo']);
  await page.goto(installation.url);
  const field = page.getByLabel('Message', { exact: true });
  const long = `beginning ${'word '.repeat(1_000)}end`;
  const paste = (fill: string) =>
    page.evaluate(`(() => {
      const data = new DataTransfer();
      ${fill};
      const event = new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true });
      document.querySelector('[data-composer]').dispatchEvent(event);
    })()`);
  const pasteText = () => paste(`data.setData('text/plain', ${JSON.stringify(long)})`);
  await field.fill('Look at this');
  await pasteText();
  const chips = page.getByRole('list', { name: /Pasted texts/ });
  await expect(chips).toContainText('Pasted text, 5,013 characters');
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await page.reload();
  await expect(chips).toContainText('5,013');
  await chips.getByRole('button', { name: 'Insert into message' }).click();
  await expect(field).toHaveValue(`Look at this\n\n${long}`);
  await field.fill('Look at that');
  await pasteText();
  await field.press('Enter');
  await expect(page.locator('[data-role="assistant"][aria-busy="false"]')).toContainText('Look at that');
  await expect(page.locator('[data-role="user"]')).toContainText('end');
  await expect(chips).toBeHidden();
  await expect(field).toHaveValue('');
});
