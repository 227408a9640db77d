import type { Page } from '@playwright/test';
import { chromiumPath } from '../../chromium.ts';
import { addModels } from '../../product.ts';
import { expect, test } from '../fixtures.ts';

/** As on a desktop: pages of another origin get a process of their own. */
test.use({
  launchOptions: {
    executablePath: chromiumPath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--site-per-process'],
  },
});

const figures = (page: Page) => page.locator('[data-role="assistant"] figure');
const diagram = (index: number): string => {
  const arrows = Array.from({ length: 30 }, (_, at) => `  N${at}[Buoy ${index}.${at}] --> N${at + 1}`);
  return ['```mermaid', 'flowchart TD', ...arrows, '```'].join('\n');
};

test('draws the diagrams of a long answer near the screen, one after the other, in another process', async ({
  page,
  person,
  installation,
  provider,
}) => {
  await addModels(person.caller, provider, ['echo']);
  let frames = 0;
  page.on('frameattached', () => {
    frames += 1;
  });
  await page.addInitScript(`
    window.atOnce = 0;
    new MutationObserver(() => {
      window.atOnce = Math.max(window.atOnce, document.querySelectorAll('iframe').length);
    }).observe(document, { childList: true, subtree: true });
  `);
  const session = await page.context().newCDPSession(page);
  const targets: string[] = [];
  session.on('Target.attachedToTarget', ({ targetInfo }) => targets.push(targetInfo.type));
  await session.send('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: false, flatten: true });
  await page.goto(installation.url);
  const field = page.getByLabel('Message', { exact: true });
  await field.fill(Array.from({ length: 12 }, (_, index) => diagram(index)).join('\n\n'));
  await field.press('Enter');
  await expect(page.locator('[data-role="assistant"][aria-busy="false"]')).toHaveCount(1);
  await figures(page).last().scrollIntoViewIfNeeded();
  await expect(figures(page).last().getByRole('img')).toBeVisible();
  await expect(figures(page).first().getByText('Drawing the diagram…')).toBeAttached();
  expect(await page.evaluate('window.atOnce')).toBe(1);
  expect(frames).toBeLessThan(12);
  expect(targets.filter((type) => type === 'iframe')).toHaveLength(frames);
});
