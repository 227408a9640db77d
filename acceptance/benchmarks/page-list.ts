import type { Bench } from './bench.ts';
import { desktop, launchChromium, readProbe, resetProbe, signedIn, urlOf } from './chromium.ts';
import { median } from './statistics.ts';

const conversations = 1_000;

/** Late frames while a list of 1,000 conversations is scrolled with the wheel. */
export async function measureList(bench: Bench): Promise<void> {
  const product = await bench.markdownProduct();
  const client = await product.openDatabase();
  await client.query(
    `insert into chats (id, owner_id, title, title_source, title_search, created_at, updated_at)
     select 'list-' || n, (select id from users limit 1), 'Conversation about the tides, number ' || n, 'person',
       to_tsvector('simple', 'conversation ' || n), now() - n * interval '1 hour', now() - n * interval '1 hour'
     from generate_series(1, $1::int) as n on conflict do nothing`,
    [conversations],
  );
  await client.end();
  const browser = await launchChromium();
  try {
    const late: number[] = [];
    let frames = 0;
    for (let round = 0; round < bench.rounds; round++) {
      const context = await signedIn(browser, product);
      const page = await context.newPage();
      await page.goto(urlOf(product));
      await page.locator('[data-chat]').first().waitFor();
      await page.mouse.move(120, desktop.height / 2);
      // First to the end, so that every page is loaded; then the measurement.
      for (let step = 0; step < 400; step++) {
        await page.mouse.wheel(0, 4_000);
        await page.waitForTimeout(50);
        if ((await page.locator('[data-chat="list-1000"]').count()) > 0) break;
      }
      await page.locator('[data-chat="list-1000"]').waitFor();
      await page.waitForTimeout(500);
      await resetProbe(page);
      for (let step = 0; step < 150; step++) {
        await page.mouse.wheel(0, step < 75 ? -400 : 400);
        await page.waitForTimeout(33);
      }
      const seen = await readProbe(page);
      late.push(seen.lateFrames);
      frames = seen.frames;
      await context.close();
    }
    bench.report.add({
      part: 'list',
      what: `late frames, ${conversations} conversations`,
      measured: median(late),
      unit: 'frames',
      judge: 'value',
      limit: { at: 'most', value: 0 },
      note: `(of ${frames})`,
    });
  } finally {
    await browser.close();
  }
}
