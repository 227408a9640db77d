import { addModels } from '../../product.ts';
import { expect, test } from '../fixtures.ts';

const answer = ['```ts', `const long = '${'x'.repeat(400)}';`, '```', '', '- [x] done', '- [ ] open'].join('\n');

test('prints a conversation with title, days, whole code and marks', async ({
  page,
  person,
  installation,
  provider,
}) => {
  await addModels(person.caller, provider, ['echo']);
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.goto(installation.url);
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill(answer);
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  const reply = page.locator('[data-role="assistant"][aria-busy="false"]');
  await expect(reply.locator('pre')).toBeVisible();

  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  const year = String(new Date().getFullYear());
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await expect(page.getByRole('main').getByText(year)).toBeVisible();
  await expect(page.getByRole('textbox', { name: 'Message', exact: true })).toBeHidden();
  const isWhole = `(() => {
    const { scrollWidth, clientWidth } = document.querySelector('[data-role="assistant"] pre');
    return scrollWidth <= clientWidth;
  })()`;
  expect(await page.evaluate<boolean>(isWhole)).toBe(true);
  await expect(reply).toHaveCSS('color', 'rgb(0, 0, 0)');
});
