import { setTimeout as delay } from 'node:timers/promises';
import type { Browser } from '@playwright/test';
import type { Bench } from '../bench.ts';
import { launchChromium, PageCpu, readProbe, resetProbe, type Seen, signedIn, urlOf } from '../load/chromium.ts';
import type { Product } from '../servers/product.ts';
import { median } from '../statistics.ts';

/** A long answer in the thread: script time, late frames, long tasks, layout shifts; then with a slow processor. */
export async function measureThread(bench: Bench): Promise<void> {
  const product = await bench.markdownProduct();
  const browser = await launchChromium();
  try {
    const row = (what: string, measured: number, unit: string, most: number) =>
      bench.report.add({
        part: 'thread',
        what,
        measured,
        unit,
        judge: 'value',
        limit: { at: 'most', value: most },
      });
    const scripts: number[] = [];
    const looks: Seen[] = [];
    for (let round = 0; round < bench.rounds; round++) {
      scripts.push((await answer(browser, product, { slowdown: 1, isProbed: false })).script);
      // Watching every frame is script too, so it gets a separate answer.
      const { seen } = await answer(browser, product, { slowdown: 1, isProbed: true });
      if (seen !== undefined) looks.push(seen);
    }
    const of = (pick: (seen: Seen) => number) => median(looks.map(pick));
    row('10,000 tokens at 500/s: script', median(scripts), 'ms', 500);
    row(
      'frames later than 33 ms',
      of(({ lateFrames, frames }) => (100 * lateFrames) / frames),
      '%',
      2,
    );
    row(
      'longest task',
      of(({ longestTask }) => longestTask),
      'ms',
      100,
    );
    row(
      'layout shift, load and answer',
      of(({ layoutShift }) => layoutShift),
      '',
      0.02,
    );
    const slow = await answer(browser, product, { slowdown: 4, isProbed: false });
    row('script, CPU 4 times slower', slow.script, 'ms', 2_000);
  } finally {
    await browser.close();
  }
}

async function answer(
  browser: Browser,
  product: Product,
  { slowdown, isProbed }: { slowdown: number; isProbed: boolean },
): Promise<{ script: number; seen: Seen | undefined }> {
  const [chatId = ''] = await product.createChats(1);
  const context = await signedIn(browser, product, { isProbed });
  const page = await context.newPage();
  const cpu = await PageCpu.of(page);
  await cpu.throttle(slowdown);
  await page.goto(urlOf(product, `/c/${chatId}`));
  await page.locator('main textarea').fill('Tell me about tides.');
  if (isProbed) await resetProbe(page);
  await cpu.start();
  await page.keyboard.press('Enter');
  await answered(product, chatId);
  // Time for the last words to appear and the page to settle.
  await page.waitForTimeout(1_000);
  const { script } = await cpu.spent();
  const seen = isProbed ? await readProbe(page) : undefined;
  await context.close();
  return { script, seen };
}

/** Resolves when no answer is running or queued. */
async function answered(product: Product, chatId: string): Promise<void> {
  const until = performance.now() + 120_000;
  while (performance.now() < until) {
    await delay(500);
    const detail = await product.call('GET', `/api/chats?id=${chatId}`);
    const { response, inputs, messages } = detail as { response: unknown; inputs: unknown[]; messages: unknown[] };
    if (response === null && inputs.length === 0 && messages.length >= 2) return;
  }
  throw new Error('The answer did not end');
}
