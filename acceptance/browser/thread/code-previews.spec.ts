import type { Page } from '@playwright/test';
import { addModels } from '../../product.ts';
import { expectAccessible, expectAccessibleHere } from '../accessible.ts';
import { expect, test as strictTest } from '../fixtures.ts';

/** Code blocks of an answer, shown as the page, picture, table or document that they are. */

/** The browser reports errors of the pages in the frames. */
const test = strictTest.extend({
  quiet: async ({ page }, use) => {
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    await use(undefined);
    expect(errors.filter((text) => !text.includes('missing is not defined'))).toEqual([]);
  },
});

const answer = (page: Page) => page.locator('[data-role="assistant"]').last();
const field = (page: Page) => page.getByLabel('Message', { exact: true });
const preview = (page: Page) => answer(page).getByRole('button', { name: 'Preview' });
const frame = (page: Page) => answer(page).frameLocator('iframe');
const fenced = (language: string, code: string) => `\`\`\`\`${language}\n${code}\n\`\`\`\``;

async function ask(page: Page, text: string): Promise<void> {
  const answers = page.locator('[data-role="assistant"][aria-busy="false"]');
  const before = await answers.count();
  await field(page).fill(text);
  await field(page).press('Enter');
  await expect(answers).toHaveCount(before + 1);
}

test('previews code blocks beside Copy, in the frame that files have', async ({
  page,
  person,
  installation,
  provider,
}, info) => {
  await addModels(person.caller, provider, ['echo']);
  await page.goto(installation.url);
  const look = (name: string) => page.screenshot({ path: info.outputPath(`${name}.png`) });

  await test.step('runs a page, sends its errors to the model, and shows the code again', async () => {
    await ask(
      page,
      fenced(
        'html',
        '<!doctype html><h1>Harbour</h1><script>document.querySelector("h1").append(" opened"); missing()</script>',
      ),
    );
    await preview(page).click();
    await expect(frame(page).getByRole('heading', { name: 'Harbour opened' })).toBeVisible();
    await expect(answer(page).locator('iframe')).toHaveAttribute('sandbox', 'allow-scripts');
    await expect(answer(page).locator('pre')).toBeHidden();
    await expect(answer(page)).toContainText('missing is not defined');
    await look('page');
    await expectAccessible(page);
    await answer(page).getByRole('button', { name: 'Ask the model to fix it' }).click();
    await expect(field(page)).toHaveValue(/When I run this html code[\s\S]*missing is not defined/);
    await field(page).fill('');
    await answer(page).getByRole('button', { name: 'Show code' }).click();
    await expect(answer(page).locator('pre')).toContainText('<h1>Harbour</h1>');
    await expect(answer(page).locator('iframe')).toHaveCount(0);
  });

  await test.step('runs a component with types', async () => {
    await ask(
      page,
      fenced(
        'tsx',
        `import { useState } from 'react';\nexport default function Counter(): JSX.Element {\n  const [count, setCount] = useState<number>(0);\n  return <button onClick={() => setCount(count + 1)}>Clicked {count} times</button>;\n}`,
      ),
    );
    await preview(page).click();
    await frame(page).getByRole('button', { name: 'Clicked 0 times' }).click();
    await expect(frame(page).getByRole('button', { name: 'Clicked 1 times' })).toBeVisible();
  });

  await test.step('shows a picture without a language', async () => {
    await ask(
      page,
      fenced('', '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="30"><text y="20">Buoy</text></svg>'),
    );
    await preview(page).click();
    await expect(frame(page).getByText('Buoy')).toBeVisible();
  });

  await test.step('shows tables and documents', async () => {
    await ask(
      page,
      `${fenced('csv', 'Port,Depth\n"Emden, East",11\nKiel,9')}\n\n${fenced('markdown', '# Tides\n\n- **high** water')}`,
    );
    await preview(page).first().click();
    await expect(answer(page).getByRole('cell', { name: 'Emden, East' })).toBeVisible();
    await preview(page).click();
    await expect(answer(page).getByRole('listitem').filter({ hasText: 'high water' })).toBeVisible();
    await look('table');
    await expectAccessibleHere(page);
    await page.setViewportSize({ width: 390, height: 844 });
    await look('narrow');
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  await test.step('copies the code of a previewed block with the answer', async () => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await answer(page).getByRole('button', { name: 'Copy message' }).click();
    const read = `navigator.clipboard.read().then(([item]) => item.getType('text/html')).then((blob) => blob.text())`;
    await expect.poll(() => page.evaluate(read)).toContain('"Emden, East",11');
    expect(await page.evaluate(read)).not.toContain('<table');
  });

  await test.step('offers no preview of other code', async () => {
    await ask(page, fenced('python', 'print("<svg>")'));
    await expect(answer(page).getByRole('button', { name: 'Copy code' })).toBeVisible();
    await expect(preview(page)).toHaveCount(0);
  });
});

test('shows a table of hostile width in parts', async ({ page, person, installation, provider }) => {
  await addModels(person.caller, provider, ['echo']);
  await page.goto(installation.url);
  await ask(
    page,
    fenced('csv', `${Array.from({ length: 3_000 }, (_, index) => index).join(',')}\n${','.repeat(3_000)}`),
  );
  await preview(page).click();
  await expect(answer(page)).toContainText('Only the first 200 columns are shown.');
  expect(await answer(page).getByRole('columnheader').count()).toBe(200);
});
