import type { Page } from '@playwright/test';
import type { Bench } from '../bench.ts';
import { launchChromium, PageCpu, phone, readProbe, signedIn, urlOf } from '../load/chromium.ts';
import { median } from '../statistics.ts';

const lines = [
  { name: '9 Mbit/s, 60 ms, CPU 4 times slower', megabits: 9, latency: 60, most: 1_000 },
  { name: '1.6 Mbit/s, 150 ms, CPU 4 times slower', megabits: 1.6, latency: 150, most: 2_500 },
];

/** From the navigation until the message field is usable, on a phone's screen with an empty cache. */
export async function measureLoad(bench: Bench): Promise<void> {
  const product = await bench.markdownProduct();
  const browser = await launchChromium();
  try {
    for (const line of lines) {
      const times: number[] = [];
      for (let round = 0; round < bench.rounds + 2; round++) {
        const context = await signedIn(browser, product, { view: phone });
        const page = await context.newPage();
        const cpu = await PageCpu.of(page);
        await cpu.throttle(4);
        await cpu.limitNetwork(line.megabits, line.latency);
        await page.goto(urlOf(product), { waitUntil: 'commit' });
        times.push(await usableAt(page));
        await context.close();
      }
      bench.report.add({
        part: 'load',
        what: `composer usable, ${line.name}`,
        measured: median(times),
        unit: 'ms',
        judge: 'value',
        limit: { at: 'most', value: line.most },
      });
    }
  } finally {
    await browser.close();
  }
}

async function usableAt(page: Page): Promise<number> {
  for (let tries = 0; tries < 150; tries++) {
    const seen = await readProbe(page);
    if (seen.usableAt > 0) return seen.usableAt;
    await page.waitForTimeout(200);
  }
  throw new Error('The message field did not come');
}
