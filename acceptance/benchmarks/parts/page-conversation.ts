import type { Bench } from '../bench.ts';
import { launchChromium, PageCpu, readProbe, resetProbe, signedIn, urlOf } from '../load/chromium.ts';
import type { Product } from '../servers/product.ts';
import { median } from '../statistics.ts';

const messages = 400;
const typed = 'While the answer comes I already write the next thing.';

/**
 * A conversation of 400 messages: the cost of opening it, and how soon a keystroke shows while an answer streams into
 * it.
 */
export async function measureConversation(bench: Bench): Promise<void> {
  const product = await bench.markdownProduct();
  const browser = await launchChromium();
  try {
    const opened: number[] = [];
    const interactions: number[] = [];
    for (let round = 0; round < bench.rounds; round++) {
      const title = `Long ${crypto.randomUUID()}`;
      const chatId = await seed(product, title);
      const context = await signedIn(browser, product);
      const page = await context.newPage();
      const cpu = await PageCpu.of(page);
      await page.goto(urlOf(product));
      const row = page.getByRole('link', { name: title });
      await row.waitFor();
      await page.waitForTimeout(500);
      await cpu.start();
      await row.click();
      await page.getByText('The last word of all.').waitFor();
      await page.waitForTimeout(500);
      opened.push((await cpu.spent()).task);
      await page.locator('main textarea').fill('Go on.');
      await page.keyboard.press('Enter');
      await page.getByText('Part 2: how the tide is read').last().waitFor();
      await resetProbe(page);
      await page.keyboard.type(typed, { delay: 60 });
      interactions.push((await readProbe(page)).slowestInteraction);
      await product.call('POST', `/api/chat/${chatId}/stop`, {});
      await context.close();
    }
    const row = (what: string, measured: number, most: number) =>
      bench.report.add({
        part: 'conversation',
        what,
        measured,
        unit: 'ms',
        judge: 'value',
        limit: { at: 'most', value: most },
      });
    row(`opening ${messages} messages: tasks`, median(opened), 200);
    row('slowest key while an answer streams into it', median(interactions), 100);
  } finally {
    await browser.close();
  }
}

async function seed(product: Product, title: string): Promise<string> {
  const [chatId = ''] = await product.createChats(1);
  const client = await product.openDatabase();
  await client.query(
    `insert into messages (id, chat_id, parent_id, role, parts, status, created_at)
     select $1 || '-' || n, $1, case when n > 1 then $1 || '-' || (n - 1) end, case when n % 2 = 1 then 'user' else 'assistant' end,
       json_build_array(json_build_object('type', 'text', 'text', case when n % 2 = 1 then 'What about part ' || n || '?'
         when n = $2::int then 'The last word of all.' else repeat($3, 1 + n % 3) end))::text,
       'complete', now() - ($2::int - n) * interval '1 second'
     from generate_series(1, $2::int) as n`,
    [chatId, messages, paragraph],
  );
  await client.query('update chats set active_message_id = $2, title = $3 where id = $1', [
    chatId,
    `${chatId}-${messages}`,
    title,
  ]);
  await client.end();
  return chatId;
}

const paragraph = `The **tide** turns twice a day, and \`ebb\` follows flood. A list:

- the first point, with a [link](https://example.org/)
- the second point

| a | b |
|---|---|
| 1 | 2 |

`;
