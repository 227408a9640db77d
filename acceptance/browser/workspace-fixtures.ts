import { join } from 'node:path';
import { administrator, scratchFolder, setUp, startProduct } from '../product.ts';
import { test as base, end, queryOnce, signInElsewhere } from './fixtures.ts';

/** An installation with workspaces, in this machine's sandbox. */
export const test = base.extend<object, { whyNot: string | undefined }>({
  installation: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the fixtures from the pattern
    async ({}, use) => {
      const dataDir = join(scratchFolder(), 'data');
      const running = await startProduct(dataDir, { WORKSPACE_MODE: 'auto' });
      await setUp(running.url);
      await use({ url: running.url, dataDir, query: (sql) => queryOnce(dataDir, sql) });
      await end(running);
    },
    { scope: 'worker', timeout: 300_000 },
  ],
  whyNot: [
    async ({ installation }, use) => {
      const caller = await signInElsewhere(installation.url, administrator.email);
      const { phase, message } = await caller.must('GET', '/api/workspace/status');
      await use(phase === 'disabled' ? (message ?? 'workspaces are off') : undefined);
    },
    { scope: 'worker' },
  ],
});

test.beforeEach(({ whyNot }) => {
  if (whyNot !== undefined && process.env.REQUIRE_SANDBOX === '1') throw new Error(whyNot);
  test.skip(whyNot !== undefined, `no sandbox can be made here: ${whyNot}`);
});
