import { setTimeout as delay } from 'node:timers/promises';
import type { Bench } from './bench.ts';
import { launchChromium, PageCpu, readProbe, resetProbe, signedIn, urlOf } from './chromium.ts';
import type { Product } from './product.ts';
import { median } from './statistics.ts';

/** A long answer in the thread: script time, late frames, long tasks, layout shifts; then with a slow processor. */
export async function measureThread(bench: Bench): Promise<void> {
  const product = await bench.markdownProduct();
  const browser = await launchChromium();
  try {
    const plain: Awaited<ReturnType<typeof answer>>[] = [];
    for (let round = 0; round < bench.rounds; round++) plain.push(await answer(browser, product, 1));
    const of = (pick: (run: (typeof plain)[number]) => number) => median(plain.map(pick));
    const row = (what: string, measured: number, unit: string, most: number) =>
      bench.report.add({
        ...{ part: 'thread', what, measured, unit, judge: 'value' },
        limit: { at: 'most', value: most },
      });
    row(
      '10,000 tokens at 500/s: script',
      of(({ script }) => script),
      'ms',
      500,
    );
    row(
      'frames later than 33 ms',
      of(({ late }) => late),
      '%',
      2,
    );
    row(
      'longest task',
      of(({ longest }) => longest),
      'ms',
      100,
    );
    row(
      'layout shift, load and answer',
      of(({ shift }) => shift),
      '',
      0.02,
    );
    const slow = await answer(browser, product, 4);
    row('script, CPU 4 times slower', slow.script, 'ms', 2_000);
  } finally {
    await browser.close();
  }
}

async function answer(browser: Awaited<ReturnType<typeof launchChromium>>, product: Product, slowdown: number) {
  const [chatId = ''] = await product.createChats(1);
  const context = await signedIn(browser, product);
  const page = await context.newPage();
  const cpu = await PageCpu.of(page);
  await cpu.throttle(slowdown);
  await page.goto(urlOf(product, `/c/${chatId}`));
  await page.locator('main textarea').fill('Tell me about tides.');
  await resetProbe(page);
  await cpu.start();
  await page.keyboard.press('Enter');
  await answered(product, chatId);
  // The last words come to the screen, and the page to rest.
  await page.waitForTimeout(1_000);
  const { script } = await cpu.spent();
  const seen = await readProbe(page);
  await context.close();
  return {
    script,
    late: (100 * seen.lateFrames) / seen.frames,
    longest: seen.longestTask,
    shift: seen.layoutShift,
  };
}

/** Resolves when no answer is running or waiting any more. */
export async function answered(product: Product, chatId: string): Promise<void> {
  const until = performance.now() + 120_000;
  while (performance.now() < until) {
    await delay(500);
    const detail = await product.call('GET', `/api/chats?id=${chatId}`);
    const { response, inputs, messages } = detail as { response: unknown; inputs: unknown[]; messages: unknown[] };
    if (response === null && inputs.length === 0 && messages.length >= 2) return;
  }
  throw new Error('The answer did not end');
}
