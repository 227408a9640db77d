import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../contracts/test/until.ts';
import {
  addModels,
  type Caller,
  freePort,
  readEvents,
  scratchFolder,
  setUp,
  startProduct,
  startProvider,
} from '../product.ts';
import { allMessages, createChat, postChat, releaseWhile, submission, textOf } from './conversation.ts';

/**
 * SIGTERM (contract.md section 10): no new connections, running responses may finish up to 25 s, the rest is handed
 * over as `interrupted`, exit code 0.
 */

/** Submits, follows, and sends SIGTERM in the middle of the answer. One that pauses goes on once that is noticed. */
async function stopWithin(modelId: string, frames: number) {
  const dataDir = scratchFolder();
  const port = await freePort();
  const provider = await startProvider();
  const product = await startProduct(dataDir, {}, port);
  const caller = await setUp(product.url);
  await addModels(caller, provider.url, [modelId]);
  const chatId = await createChat(caller);
  const waiting = await createChat(caller);
  const events: string[] = [];
  await caller.must('POST', '/api/chat/start', submission(chatId, 'question'));
  await caller.must('POST', '/api/chat/start', submission(waiting, 'later'));
  let count = 0;
  let signalledAt = 0;
  const response = await postChat(caller, { chatId, messageId: 'question' });
  const streaming = readEvents(response, () => {
    count += 1;
    if (count === frames) {
      signalledAt = performance.now();
      product.kill('SIGTERM');
      void refused(caller).then((how) => events.push(how));
    }
    return false;
  });
  const ending = streaming.then(async ({ done }) => {
    events.push(done ? 'stream ended' : 'stream broke');
    const wentOnMs = performance.now() - signalledAt;
    assert.equal(await product.exited, 0, product.output());
    return wentOnMs;
  });
  const wentOnMs = await releaseWhile(provider, ending, () => events.includes('refused'));
  const restarted = await startProduct(dataDir, {}, port);
  const messages = await allMessages(caller, chatId);
  return {
    stream: await streaming,
    events,
    /** How long the stream lasted after the signal. */
    wentOnMs,
    provider,
    caller,
    chatId,
    waiting,
    messages,
    product: restarted,
    async end() {
      restarted.kill('SIGTERM');
      assert.equal(await restarted.exited, 0);
      provider.kill('SIGKILL');
    },
  };
}

/** Opens new connections until one is refused while the old one is still streaming. */
async function refused(caller: Caller): Promise<string> {
  for (;;) {
    const isAccepted = await fetch(`${caller.url}/api/health`, { headers: { connection: 'close' } }).then(
      () => true,
      () => false,
    );
    if (!isAccepted) return 'refused';
  }
}

test('finishes a response that ends within the limit before the service exits', async () => {
  const { stream, events, provider, caller, waiting, messages, end } = await stopWithin('pause-words-150@50', 20);
  assert.deepEqual(events.slice(0, 2), ['refused', 'stream ended']);
  assert.ok(stream.text.endsWith('word149'));
  const [, answer] = messages;
  assert.deepEqual([answer.status, textOf(answer)], ['complete', stream.text]);
  // The next service answers admitted inputs that had not started.
  const answered = async () => (await allMessages(caller, waiting)).at(-1)?.status === 'complete';
  await releaseWhile(provider, until('the waiting input is answered', answered));
  await end();
});

test('interrupts a longer response, keeps its text, and lets it be continued', async () => {
  const { stream, events, wentOnMs, caller, chatId, waiting, messages, end } = await stopWithin('words-5000@50', 20);
  assert.deepEqual(events.slice(0, 2), ['refused', 'stream ended']);
  // Much less than all of it, but more than had arrived at the signal: it had its 25 s, however busy the machine was.
  const said = stream.text.split(' word').length;
  assert.ok(said > 60 && said < 4_000, `${said} words`);
  assert.ok(wentOnMs > 24_900, `interrupted after ${wentOnMs} ms`);
  assert.ok(stream.events.some(({ frame }) => frame.type === 'error'));
  const [, answer] = messages;
  assert.deepEqual([answer.status, answer.error.code, textOf(answer)], ['interrupted', 'interrupted', stream.text]);
  const continued = await postChat(caller, { chatId, resume: true });
  let deltas = 0;
  await readEvents(continued, ({ frame }) => {
    if (frame.type === 'text-delta') deltas += 1;
    return deltas > 10;
  });
  assert.equal(continued.status, 200);
  await caller.must('POST', `/api/chat/${chatId}/stop`, {});
  // Its answer would take another 25 s to end.
  await caller.must('DELETE', `/api/chats?id=${waiting}`);
  await end();
});
