import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  brotliCompressSync,
  constants,
  createGzip,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib';
import { until } from '../../../contracts/test/until.ts';
import { type Clock, systemClock } from '../../src/platform/clock.ts';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { ManualClock } from '../fakes/manual-clock.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';
import { chunk, type FakeScript, failure, finish, say, stream } from '../fakes/provider/provider-scripts.ts';
import {
  addModels,
  answer,
  chatDetail,
  createChat,
  postChat,
  readStream,
  submit,
  untilStored,
} from './chat-harness.ts';

/** Servers that compress, keep connections open, or stay silent for long; and titles when one of them is down. */

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
  app = await startTestApp({ clock, timings: { tickMs: 10, sweepMs: 600_000 }, config: { modelTitles: true } });
});
after(async () => {
  await app.stop();
  await provider.close();
});

let models = 0;
async function asked(
  script: FakeScript,
): Promise<{ user: SignedIn; chatId: string; messageId: string; model: string }> {
  const user = await app.signIn();
  const model = `waits-${++models}`;
  await addModels(user, provider, [model]);
  provider.script(model, (call) => stream([...say('A title'), ...finish(call, 2)]));
  provider.enqueue(model, script);
  const chatId = await createChat(user);
  return { user, chatId, messageId: await submit(user, chatId, 'Go'), model };
}

const events = (...texts: string[]): string =>
  [
    ...texts.map((content) => JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })),
    JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
    '[DONE]',
  ]
    .map((data) => `data: ${data}\n\n`)
    .join('');

const encodings: [encoding: string, encode: (text: string) => Uint8Array][] = [
  ['gzip', (text) => gzipSync(text)],
  ['GZIP', (text) => gzipSync(text)],
  ['deflate', (text) => deflateSync(text)],
  ['deflate', (text) => deflateRawSync(text)],
  ['br', (text) => brotliCompressSync(text)],
  ['zstd', (text) => zstdCompressSync(text)],
  // Without the trailer.
  ['gzip', (text) => gzipSync(text, { finishFlush: constants.Z_SYNC_FLUSH })],
];
for (const [at, [encoding, encode]] of encodings.entries()) {
  test(`decodes an answer in ${encoding} that was not asked for (${at})`, async () => {
    const headers = { 'content-encoding': encoding, 'content-type': 'text/event-stream' };
    const { user, chatId, messageId } = await asked({ headers, steps: [{ raw: encode(events('Hello', ' you.')) }] });
    const { text } = await answer(user, chatId, messageId);
    assert.equal(text, 'Hello you.');
    assert.equal((await chatDetail(user, chatId)).messages[1].finishReason, 'stop');
  });
}

test('shows each part of a compressed answer as it comes', async () => {
  const gzip = createGzip();
  const flushed = async (text: string): Promise<Uint8Array> => {
    gzip.write(text);
    await new Promise<void>((resolve) => gzip.flush(constants.Z_SYNC_FLUSH, () => resolve()));
    return gzip.read();
  };
  const [first, second] = events('Hello', ' you.').split(/(?<=Hello.*\n\n)(?=data)/s);
  const steps = [{ raw: await flushed(first ?? '') }, { pause: true } as const, { raw: await flushed(second ?? '') }];
  const { user, chatId, messageId } = await asked({ headers: { 'content-encoding': 'gzip' }, steps });
  const streaming = answer(user, chatId, messageId);
  await untilStored(app, chatId, 'Hello');
  provider.release();
  assert.equal((await streaming).text, 'Hello you.');
});

test('reports a compressed answer that cannot be read, and a compressed refusal as itself', async () => {
  const broken = await asked({ headers: { 'content-encoding': 'gzip' }, steps: [{ raw: 'no gzip at all' }] });
  const failed = await answer(broken.user, broken.chatId, broken.messageId);
  assert.deepEqual([failed.status, failed.body.error.code], [502, 'provider_unreachable']);
  const body = JSON.stringify({ error: { message: 'Incorrect API key provided.', code: 'invalid_api_key' } });
  const headers = { 'content-encoding': 'gzip', 'content-type': 'application/json' };
  const refused = await asked({ status: 401, headers, steps: [{ raw: gzipSync(body) }] });
  const { body: told } = await answer(refused.user, refused.chatId, refused.messageId);
  assert.deepEqual([told.error.code, told.error.details.reason], ['provider_error', 'key']);
});

test('says after 15 s what a silent answer waits for, and until when', async () => {
  const { user, chatId, messageId } = await asked({
    head: false,
    steps: [{ pause: true }, ...say('At last.'), chunk({}, 'stop')],
  });
  const before = provider.requests.length;
  const response = postChat(user, { chatId, messageId });
  await until('the provider is asked', () => provider.requests.length > before);
  await until('its silence is watched', () => time.waiting > 0);
  time.advance(15_000);
  const begun = await response;
  assert.equal(begun.status, 200);
  const waits: object[] = [];
  const streamed = readStream(begun, ({ frame }) => {
    if (frame.type === 'data-retry' && waits.push(frame.data) === 1) provider.release();
    return false;
  });
  await until('the silence is reported', () => waits.length > 0);
  const { text } = await streamed;
  assert.equal(text, 'At last.');
  const [wait] = waits as { reason: string; retryAt: string }[];
  assert.equal(wait?.reason, 'first_byte');
  const seconds = (Date.parse(wait?.retryAt ?? '') - Date.now()) / 1000;
  assert.ok(seconds > 500 && seconds <= 601, `a private address has 10 minutes: ${seconds}`);
});

test('keeps how long the first byte of a provider may take, within its limits', async () => {
  const user = await app.signIn();
  const body = { name: 'Slow', baseUrl: provider.url };
  const { body: made } = await user.call('POST /api/providers', body);
  assert.equal(made.provider.firstByteSeconds, null);
  const { id } = made.provider;
  const change = (firstByteSeconds: unknown) => user.call('PATCH /api/providers', { id, firstByteSeconds });
  assert.equal((await change(1_200)).body.provider.firstByteSeconds, 1_200);
  assert.equal((await user.call('PATCH /api/providers', { id, name: 'Slower' })).body.provider.firstByteSeconds, 1_200);
  for (const wrong of [9, 3_601, 12.5, '60', -1]) assert.equal((await change(wrong)).status, 400, String(wrong));
  assert.equal((await change(null)).body.provider.firstByteSeconds, null);
  const created = await user.call('POST /api/providers', { ...body, firstByteSeconds: 30 });
  assert.equal(created.body.provider.firstByteSeconds, 30);
});

test('names a conversation with the model that answered when the model for titles cannot be reached', async () => {
  const user = await app.signIn();
  const dead = await user.call('POST /api/providers', { name: 'Dead', baseUrl: 'http://127.0.0.1:9/v1', apiKey: 'k' });
  const size = { contextWindow: 100_000, maxOutputTokens: 4_000, displayName: 'x' };
  const cheap = { ...size, providerId: dead.body.provider.id, providerModelId: 'cheap', tier: 1 };
  assert.equal((await user.call('POST /api/models', cheap)).status, 201);
  const alive = await user.call('POST /api/providers', { name: 'Alive', baseUrl: provider.url, apiKey: 'k' });
  const model = { ...size, providerId: alive.body.provider.id, providerModelId: 'answers', tier: 3, isDefault: true };
  assert.equal((await user.call('POST /api/models', model)).status, 201);
  provider.script('answers', (call) => stream([...say('Boats and tides'), ...finish(call, 3)]));
  provider.enqueue('answers', (call) => stream([...say('It is high at noon.'), ...finish(call, 3)]));
  const chatId = await createChat(user);
  await answer(user, chatId, await submit(user, chatId, 'When is high water?'));
  await until('the conversation is named', async () => {
    time.advance(1_000);
    return (await chatDetail(user, chatId)).chat.title === 'Boats and tides';
  });
});

test('a failed answer of a server that is down leaves the title of the first words', async () => {
  const { user, chatId, messageId } = await asked(failure(401));
  await answer(user, chatId, messageId);
  assert.equal((await chatDetail(user, chatId)).chat.title, 'Go');
});
