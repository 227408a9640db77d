import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import type { Signal } from '../../src/chat/log/signals.ts';
import { startTestApp, type TestApp } from '../app.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';
import { addModels, createChat, postChat, readStream, submit } from './chat-harness.ts';

/** Signals of a response through the database: none where no other replica can exist. */

let provider: FakeProvider;
before(async () => {
  provider = await startFakeProvider();
});
after(() => provider.close());

for (const alone of [true, false]) {
  const what = alone ? 'a replica alone on its database signals only itself' : 'a replica next to others signals them';
  test(`${what} about frames and ends`, async () => {
    const database = await createTestDatabase();
    const app = await startTestApp({ database, alone, timings: { tickMs: 5, aloneTickMs: 5 } });
    try {
      const sent = await signalsOfAnAnswer(app, database);
      assert.equal(sent.has('ended'), !alone);
      assert.equal(sent.has('frames'), !alone);
    } finally {
      await app.stop();
      await database.drop();
    }
  });
}

/** Signals through the database while a response runs and is stopped; this replica receives both in any case. */
async function signalsOfAnAnswer(app: TestApp, database: TestDatabase): Promise<Set<string>> {
  const signals = new Set<Signal['kind']>();
  app.service.deps.responses.signals.on(({ kind }) => signals.add(kind));
  const sent = new Set<string>();
  const client = await database.database.openClient();
  client.on('notification', ({ payload }) => sent.add(payload?.split(':')[0] ?? ''));
  await client.query('listen homeport');
  const user = await app.signIn();
  await addModels(user, provider, ['words-5001@50']);
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'go');
  const reading = readStream(await postChat(user, { chatId, messageId }));
  await until('frames', () => signals.has('frames'));
  await user.call(`POST /api/chat/${chatId}/stop`, {});
  await reading;
  await until('the end', () => signals.has('ended'));
  // Notices arrive in the order of their commits: after this one there are none from before.
  await client.query(`select pg_notify('homeport', 'mark:x')`);
  await until(() => sent.has('mark'));
  await client.end();
  return sent;
}
