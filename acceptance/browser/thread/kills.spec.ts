import type { Browser, Page } from '@playwright/test';
import { seededRandom } from '../../../contracts/test/seeded-random.ts';
import { addModels, pause, seedOf } from '../../product.ts';
import { addPerson, expect, giveCookie, type Installation, test } from '../fixtures.ts';

/**
 * Tabs that crash at random moments of sending: every message is there exactly once (issue of the client, "never lost,
 * never twice"). After a crash the test acts as a person would: it opens the page again, presses Retry where it is
 * offered, and sends the text in the field. BROWSER_KILLS=60 for more of them.
 */

const kills = Number(process.env.BROWSER_KILLS ?? 12);
const lanes = 4;
const messagesPerChat = 6;

type Lane = {
  url: string;
  newPage: () => Promise<Page>;
  random: () => number;
  found: Map<string, number>;
  /** The message whose sending the crash is sure to cut; the random moments may all miss it. */
  heldAt: number;
};
type Found = 'receipt' | 'draft' | 'nothing';

const field = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true });
/** How the page ends: its process dies, its tab is closed, or it is reloaded. */
const ends = ['crash', 'close', 'reload'] as const;
const retry = (page: Page) => page.getByRole('button', { name: 'Retry saved submission' });

/** Completes the work that the crash interrupted; resolves when the field is enabled and empty. */
async function recover(page: Page): Promise<Found> {
  await expect(field(page)).toBeVisible();
  const hasReceipt = await retry(page).isVisible();
  if (hasReceipt) await retry(page).click();
  await expect(field(page)).toBeEnabled();
  const hasDraft = (await field(page).inputValue()) !== '';
  if (hasDraft) await send(page);
  if (hasReceipt) return 'receipt';
  return hasDraft ? 'draft' : 'nothing';
}

async function send(page: Page): Promise<void> {
  await field(page).press('Enter');
  await expect(field(page)).toBeEnabled();
  await expect(field(page)).toHaveValue('');
}

/** Kills the renderer at once, as the system would: no code of the page runs afterwards. */
async function crash(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const crashed = page.waitForEvent('crash');
  session.send('Page.crash').catch(() => {});
  await crashed;
  await page.close();
}

/** Keeps the next message from the server; resolves once it has left, which is after its receipt was stored. */
async function holdMessage(page: Page): Promise<{ left: Promise<void> }> {
  const left = Promise.withResolvers<void>();
  let isNext = true;
  await page.route(/\/api\/chat\/(start|turn-inputs)$/, async (route) => {
    if (!isNext) return route.continue();
    isNext = false;
    left.resolve();
  });
  return { left: left.promise };
}

async function runLane(lane: Lane, name: string, count: number): Promise<string[]> {
  const texts: string[] = [];
  let page = await lane.newPage();
  await page.goto(lane.url);
  for (let index = 0; index < count; index += 1) {
    const text = `${name} message ${index}.`;
    texts.push(text);
    await field(page).fill(text);
    const end = ends[index % ends.length];
    const moment = lane.random() * 90;
    const held = index === lane.heldAt ? await holdMessage(page) : undefined;
    // Sending is not awaited: the crash comes before, during or after it.
    void page.keyboard.press('Enter').catch(() => {});
    await (held?.left ?? pause(moment));
    const { pathname } = new URL(page.url());
    if (end === 'crash') await crash(page);
    if (end === 'close') await page.close();
    if (end !== 'reload') page = await lane.newPage();
    await page.goto(lane.url + pathname, { waitUntil: 'commit' });
    const found = await recover(page);
    lane.found.set(found, (lane.found.get(found) ?? 0) + 1);
    const isFull = index % messagesPerChat === messagesPerChat - 1;
    if (isFull) {
      await page.getByRole('link', { name: 'New conversation' }).first().click();
      await expect(page.getByRole('heading', { name: 'What’s on your mind?' })).toBeVisible();
    }
  }
  await page.close();
  return texts;
}

async function startLane(
  browser: Browser,
  installation: Installation,
  provider: string,
  { seed, heldAt }: { seed: number; heldAt: number },
) {
  const person = await addPerson(installation);
  await addModels(person.caller, provider, ['echo']);
  const context = await browser.newContext();
  await giveCookie(context, installation.url, person.caller);
  const lane: Lane = {
    url: installation.url,
    newPage: () => context.newPage(),
    random: seededRandom(seed),
    found: new Map(),
    heldAt,
  };
  return { lane, person, context };
}

test(`sends every message exactly once over ${kills} crashes of the tab`, async ({
  browser,
  installation,
  provider,
}) => {
  const seed = seedOf('kills');
  const found = await Promise.all(
    Array.from({ length: lanes }, async (_, index) => {
      const count = Math.ceil(kills / lanes);
      const given = { seed: seed + index, heldAt: index % Math.min(count, ends.length) };
      const { lane, person, context } = await startLane(browser, installation, provider, given);
      const texts = await runLane(lane, `lane ${index}`, count);
      const rows = await installation.query(
        `select coalesce(m.parts, i.parts) as parts from inputs i left join messages m on m.id = i.id join users u on u.id = i.owner_id where u.email = '${person.email}'`,
      );
      const saved = rows.map(([parts]) => JSON.parse(parts ?? '[]')[0]?.text);
      expect(saved.sort(), `saved in lane ${index}`).toEqual(texts.sort());
      await context.close();
      return lane.found;
    }),
  );
  const count = (kind: Found) => found.reduce((sum, each) => sum + (each.get(kind) ?? 0), 0);
  console.log(`kills: ${count('receipt')} left a receipt, ${count('draft')} a draft, ${count('nothing')} nothing`);
  // The test is void without a crash in the middle of sending; each lane has at least one.
  expect(count('receipt')).toBeGreaterThan(0);
});
