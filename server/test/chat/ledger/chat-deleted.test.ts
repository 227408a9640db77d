import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../app.ts';
import { type FakeProvider, startFakeProvider } from '../../fakes/provider/provider.ts';
import { addModels, createChat, idle, postChat, readStream, submit } from '../chat-harness.ts';

/** A conversation that is deleted during a running response. */

const never = 2_000_000_000;
const log: string[] = [];
const deleted = Promise.withResolvers<void>();
let app: TestApp;
let provider: FakeProvider;
before(async () => {
  provider = await startFakeProvider();
  // Only the end itself notices the deletion.
  app = await startTestApp({
    log: (line) => log.push(line),
    timings: { tickMs: never, heartbeatMs: never, sweepMs: never, watchMs: never },
    trace: async (statement, work) => {
      if (/update responses set state = \$\d+, ended_at/.test(statement)) await deleted.promise;
      return work();
    },
  });
});
after(async () => {
  await app.stop();
  await provider.close();
});

test('a response whose conversation is deleted before its end is stored ends without an error', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['words-30@100']);
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'Count');
  let isAsked = false;
  const stream = await readStream(await postChat(user, { chatId, messageId }), ({ frame }) => {
    if (frame.type === 'text-delta' && !isAsked) {
      isAsked = true;
      app.database.database.pool
        .query('delete from chats where id = $1', [chatId])
        .then(() => deleted.resolve(), deleted.reject);
    }
    return false;
  });
  assert.equal(stream.done, false);
  await idle(app);
  const errors = log.filter((line) => JSON.parse(line).level >= 50);
  assert.deepEqual(errors, []);
});
