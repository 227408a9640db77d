import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { RecentTimeouts } from '../../src/platform/concurrency/recent-timeouts.ts';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { upload } from '../artifacts/artifact-makers.ts';
import { createChat } from '../chat/chat-harness.ts';
import { ManualClock } from '../fakes/manual-clock.ts';
import { chatGptConversation, zipOf } from '../imports/import-makers.ts';
import { makeEndlessPdf } from './hostile/endless-pdf.ts';

/** Slow files of one user don't block another user's. */

const dataDir = mkdtempSync(join(tmpdir(), 'homeport-turns-'));
let app: TestApp;
before(async () => {
  app = await startTestApp({ config: { dataDir } });
});
after(async () => {
  await app.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

async function stored(who: SignedIn, name: string, bytes: Buffer): Promise<Record<string, string>> {
  const chatId = await createChat(who);
  const { body } = await upload(who, { chatId }, { name, bytes, type: 'application/octet-stream' });
  return { chatId, id: body.artifact.id };
}

const stateOf = async (who: SignedIn, query: Record<string, string>): Promise<string> =>
  (await who.call('GET /api/artifacts/text', undefined, { query })).body.state;

test('reads a small file while three of another user take as long as they can', { timeout: 50_000 }, async () => {
  const [slow, other] = await Promise.all([app.signIn(), app.signIn()]);
  const files = await Promise.all([10, 11, 12].map((forms) => stored(slow, `${forms}.pdf`, makeEndlessPdf(forms))));
  assert.deepEqual(await Promise.all(files.map((file) => stateOf(slow, file))), ['working', 'working', 'working']);
  const hello = await stored(other, 'hello.txt', Buffer.from('Hello'));
  await until('the text', async () => (await stateOf(other, hello)) === 'ready', 40_000);
  assert.deepEqual(await Promise.all(files.map((file) => stateOf(slow, file))), ['working', 'working', 'working']);
});

test('imports a small archive while large ones of another user wait', { timeout: 120_000 }, async () => {
  const [busy, other] = await Promise.all([app.signIn(), app.signIn()]);
  const conversation = (index: number) => ({ ...chatGptConversation, conversation_id: `c${index}`, id: `c${index}` });
  const large = await zipOf({ 'conversations.json': Array.from({ length: 3_000 }, (_, index) => conversation(index)) });
  const begin = async (who: SignedIn, archive: Buffer): Promise<string> => {
    const begun = await who.fetch('/api/imports', { method: 'POST', body: Uint8Array.from(archive) });
    const { import: made }: Json = await begun.json();
    return made.id;
  };
  const states = (who: SignedIn, ids: string[]): Promise<string[]> =>
    Promise.all(
      ids.map(async (id) => (await who.call('GET /api/imports', undefined, { query: { id } })).body.import.state),
    );
  const many = [await begin(busy, large), await begin(busy, large), await begin(busy, large)];
  const one = await begin(other, await zipOf({ 'conversations.json': [conversation(0)] }));
  await until('the small one', async () => (await states(other, [one]))[0] !== 'reading', 100_000);
  const waiting = (await states(busy, many)).filter((state) => state === 'reading');
  assert.ok(waiting.length >= 2, `${waiting.length} of 3`);
});

test('a user whose files took too long gets shorter limits for a quarter of an hour', () => {
  const clock = new ManualClock();
  const timeouts = new RecentTimeouts(clock);
  const limits = (count: number) =>
    Array.from({ length: count }, () => {
      const limit = timeouts.limitFor('a', 60_000);
      timeouts.add('a');
      return limit;
    });
  assert.deepEqual(limits(5), [60_000, 15_000, 7_500, 5_000, 5_000]);
  assert.equal(timeouts.limitFor('b', 60_000), 60_000);
  clock.advance(15 * 60_000);
  assert.equal(timeouts.limitFor('a', 60_000), 60_000);
});
