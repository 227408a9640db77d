import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { addModels, type Caller, type Running, scratchFolder, setUp, startProduct } from '../../product.ts';
import { test as base, end, expect, giveCookie } from '../fixtures.ts';
import { startMcp, type TestMcp } from '../mcp-server.ts';

/** Answers on an open page while the service restarts. */

type Restartable = {
  url: string;
  caller: Caller;
  stop: (signal: NodeJS.Signals) => Promise<void>;
  start: () => Promise<void>;
};

const test = base.extend<{ service: Restartable; mcp: TestMcp }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the fixtures from the pattern
  service: async ({}, use) => {
    const dataDir = join(scratchFolder(), 'data');
    let running: Running = await startProduct(dataDir);
    const { url } = running;
    await use({
      url,
      caller: await setUp(url),
      stop: async (signal) => {
        running.kill(signal);
        await running.exited;
      },
      start: async () => {
        running = await startProduct(dataDir, {}, Number(new URL(url).port));
      },
    });
    await end(running);
  },
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the fixtures from the pattern
  mcp: async ({}, use) => {
    const mcp = await startMcp([{ name: 'look_up', inputSchema: { type: 'object' } }]);
    await use(mcp);
    mcp.close();
  },
});

const field = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true });
const done = (page: Page) => page.locator('[data-role="assistant"][aria-busy="false"]');

/** Counts the frames in which an answer appears both finished and running. */
async function watchContradictions(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(`window.contradictions = 0;
    new MutationObserver(() => {
      const text = document.body.innerText;
      const isOver = text.includes('This answer was interrupted.');
      const isRunning = text.includes('Connection lost.') || document.querySelector('button[aria-label="Stop"]') !== null;
      if (isOver && isRunning) window.contradictions += 1;
    }).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true })`);
  return () => page.evaluate<number>('window.contradictions');
}

test('keeps a pending approval over a restart, and shows the continued answer on the open page', async ({
  page,
  context,
  service,
  provider,
  mcp,
}) => {
  const { caller } = service;
  await addModels(caller, provider, ['tool']);
  const toolPolicies = { look_up: 'ask' };
  const { server } = await caller.must('POST', '/api/mcp', { name: 'Numbers', url: mcp.url, toolPolicies });
  await caller.must('POST', '/api/mcp/trust', { id: server.id, fingerprint: server.fingerprint });
  await giveCookie(context, service.url, caller);
  await page.goto(service.url);
  await field(page).fill('Look it up');
  await field(page).press('Enter');
  const waiting = page.getByRole('region', { name: 'Allow Numbers to run look_up?' });
  const allow = waiting.getByRole('button', { name: 'Allow', exact: true });
  await expect(allow).toBeVisible();
  const contradictions = await watchContradictions(page);
  await service.stop('SIGTERM');
  await service.start();
  await page.evaluate(`window.dispatchEvent(new Event('online'))`);
  await expect(waiting.getByRole('button', { name: 'Deny', exact: true })).toBeVisible();
  expect(mcp.calls).toEqual([]);
  await allow.click();
  await expect(done(page)).toContainText('Done after 1 tool results.', { timeout: 30_000 });
  expect(mcp.calls).toHaveLength(1);
  expect(await contradictions()).toBe(0);
});

test('never shows an answer cut off by a crash as both complete and running', async ({
  page,
  context,
  service,
  provider,
}) => {
  await addModels(service.caller, provider, ['hang-5']);
  await giveCookie(context, service.url, service.caller);
  await page.goto(service.url);
  await field(page).fill('Go');
  await field(page).press('Enter');
  await expect(page.locator('[data-role="assistant"]')).toContainText('word4');
  const contradictions = await watchContradictions(page);
  await service.stop('SIGKILL');
  await expect(page.getByText('Connection lost.')).toBeVisible();
  await service.start();
  await page.evaluate(`window.dispatchEvent(new Event('online'))`);
  await expect(page.getByText('This answer was interrupted.')).toBeVisible({ timeout: 30_000 });
  await expect(page.getByRole('button', { name: 'Stop' })).toHaveCount(0);
  await expect(page.getByText('Connection lost.')).toHaveCount(0);
  // A crash may lose the last second of an answer: here, possibly all of it.
  await expect(page.getByRole('button', { name: /^(Continue|Try again)$/ })).toBeVisible();
  expect(await contradictions()).toBe(0);
});
