import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { type Clock, systemClock } from '../../src/platform/clock.ts';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { ManualClock } from '../fakes/manual-clock.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';
import { failure, finish, say } from '../fakes/provider/provider-scripts.ts';
import { addModels, chatDetail, createChat, postChat, readStream, submit } from './chat-harness.ts';

/** Responses of models that send nothing for a while (contract.md section 6), on a clock that tests move. */

const headMs = 15_000;
const time = new ManualClock();
const clock: Clock = {
  ...systemClock,
  elapsed: () => time.elapsed(),
  sleep: (milliseconds, signal) => time.sleep(milliseconds, signal),
};
let app: TestApp;
let provider: FakeProvider;
before(async () => {
  provider = await startFakeProvider();
  provider.script('silent', (call) => ({
    head: false,
    steps: [{ pause: true }, ...say('At last'), ...finish(call, 2)],
  }));
  provider.script('silent-then-refused', () => ({ ...failure(401), steps: [{ pause: true }, ...failure(401).steps] }));
  app = await startTestApp({ clock });
});
after(async () => {
  await app.stop();
  await provider.close();
});

type Asked = { chatId: string; settled: () => boolean; response: Promise<Response> };

/** Asks a model that stays silent until the provider is released. */
async function ask(user: SignedIn, model: string): Promise<Asked> {
  await addModels(user, provider, [model]);
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'Go');
  const before = provider.requests.length;
  let isSettled = false;
  const response = postChat(user, { chatId, messageId }).finally(() => {
    isSettled = true;
  });
  await until('the provider is asked', () => provider.requests.length > before);
  return { chatId, settled: () => isSettled, response };
}

/** The first bytes of a stream, and a function that reads the remaining ones. */
async function firstBytes(response: Response): Promise<{ first: string; rest: () => Promise<string> }> {
  assert.ok(response.body);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const { value = '' } = await reader.read();
  return {
    first: value,
    rest: async () => {
      let text = value;
      for (let read = await reader.read(); !read.done; read = await reader.read()) text += read.value;
      return text;
    },
  };
}

test('the stream begins with its head and a comment line within 15 s of a silent model', async () => {
  const { response, settled } = await ask(await app.signIn(), 'silent');
  time.advance(headMs - 1_000);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(settled(), false, 'a failure is still an HTTP error');
  time.advance(1_000);
  const streamed = await response;
  assert.equal(streamed.status, 200);
  assert.equal(streamed.headers.get('content-type'), 'text/event-stream; charset=utf-8');
  assert.equal(streamed.headers.get('x-vercel-ai-ui-message-stream'), 'v1');
  const { first, rest } = await firstBytes(streamed);
  assert.match(first, /^: [^\n]*\n\n/);
  provider.release();
  const text = await rest();
  assert.match(text, /"type":"text-delta"/);
  assert.match(text, /data: \[DONE\]\n\n$/);
});

test('a failure after the head is an error frame, and the message shows it', async () => {
  const user = await app.signIn();
  const { response, chatId } = await ask(user, 'silent-then-refused');
  time.advance(headMs);
  const streamed = await readStream(await response.then(released));
  assert.equal(streamed.status, 200);
  assert.equal(streamed.frames.filter(({ frame }) => frame.type === 'error').length, 1);
  assert.equal(streamed.done, true);
  const { messages } = await chatDetail(user, chatId);
  assert.deepEqual([messages[1].status, messages[1].error.code], ['failed', 'provider_error']);
});

test('a failure before the head is an HTTP error', async () => {
  const { response } = await ask(await app.signIn(), 'silent-then-refused');
  time.advance(headMs - 1_000);
  provider.release();
  const failed = await readStream(await response);
  assert.deepEqual([failed.status, failed.body.error.code], [502, 'provider_error']);
});

/** Lets the provider continue once the head has arrived. */
function released(response: Response): Response {
  provider.release();
  return response;
}
