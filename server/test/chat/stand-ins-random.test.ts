import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seededRandom } from '../../../contracts/test/seeded-random.ts';
import { startTestApp, type TestApp } from '../app.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';
import { type FakeScript, failure, finish, say, stream } from '../fakes/provider/provider-scripts.ts';
import { addModels, chatDetail, createChat, postChat, readStream, submit } from './chat-harness.ts';

/** Many turns with a provider that fails at random. */

const turns = Number(process.env.STAND_IN_TURNS ?? 100);
const atOnce = 10;
const failingShare = 0.3;
/** How much later the answers of a stand-in begin than those of the chosen model: their medians. */
const laterMaxMs = 1_500;
const failures: FakeScript[] = [
  failure(503, 'overloaded'),
  failure(500),
  failure(429, 'Too many requests'),
  { head: false, steps: [{ drop: true }] },
  stream([{ drop: true }]),
];

let app: TestApp;
let first: FakeProvider;
let second: FakeProvider;
before(async () => {
  first = await startFakeProvider();
  second = await startFakeProvider();
  app = await startTestApp();
});
after(async () => {
  await app.stop();
  await first.close();
  await second.close();
});

test(`answers at least 99.5 % of ${turns} turns once although 30 % of a provider’s answers fail`, async (context) => {
  const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
  context.diagnostic(`seed ${seed}`);
  const next = seededRandom(seed);
  const user = await app.signIn();
  const [chosen] = await addModels(user, first, ['flaky']);
  const [standIn] = await addModels(user, second, ['steady']);
  await user.call('PATCH /api/models', { id: chosen, standIns: [standIn] });
  let failed = 0;
  const script = (word: string) => (call: Parameters<typeof finish>[0]) => stream([...say(word), ...finish(call, 1)]);
  first.script('flaky', (call) => {
    if (next() >= failingShare) return script('first')(call);
    failed += 1;
    return failures[Math.floor(next() * failures.length)] ?? failure(500);
  });
  second.script('steady', script('second'));
  let complete = 0;
  let doubled = 0;
  let byStandIn = 0;
  const firstTexts: Record<string, number[]> = { first: [], second: [] };
  const one = async (): Promise<void> => {
    const chatId = await createChat(user);
    const messageId = await submit(user, chatId, 'hello');
    const askedAt = performance.now();
    let firstTextAt = Number.POSITIVE_INFINITY;
    const read = await readStream(await postChat(user, { chatId, messageId }), ({ frame }) => {
      if (frame.type === 'text-delta') firstTextAt = Math.min(firstTextAt, performance.now());
      return false;
    });
    const { messages } = await chatDetail(user, chatId);
    const text = messages[1]?.servedBy === undefined ? 'first' : 'second';
    firstTexts[text]?.push(firstTextAt - askedAt);
    if (messages[1]?.servedBy !== undefined) byStandIn += 1;
    if (messages[1]?.status === 'complete') complete += 1;
    const texts = messages[1]?.parts.filter(({ type }: { type: string }) => type === 'text');
    if (messages.length !== 2 || read.text !== text || texts.length !== 1 || texts[0].text !== text) doubled += 1;
  };
  for (let done = 0; done < turns; done += atOnce) await Promise.all(Array.from({ length: atOnce }, one));
  const { rows } = await app.database.database.pool.query('select count(*)::int as calls from usage_calls');
  context.diagnostic(`${complete} complete, ${doubled} doubled, ${byStandIn} by the stand-in, ${failed} failures`);
  const delay = (share: number) => percentile(firstTexts.second, share) - percentile(firstTexts.first, share);
  const later = delay(0.5);
  context.diagnostic(`first text of a stand-in: ${later} ms later (median), ${delay(0.99)} ms (99 %)`);
  assert.ok(later <= laterMaxMs, `${later} ms later`);
  assert.ok(complete >= 0.995 * turns, `${complete} of ${turns}`);
  assert.equal(doubled, 0);
  assert.equal(rows[0].calls, complete);
  assert.ok(failed > 0 && byStandIn >= failed);
});

/** In whole milliseconds. */
function percentile(values: readonly number[] | undefined, share: number): number {
  const sorted = [...(values ?? [])].sort((a, b) => a - b);
  return Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0);
}
