import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ProviderKind, providerKinds } from '@homeport/contracts/catalogue/provider-kinds';
import { interruptExpired } from '../../src/chat/ledger/interruption.ts';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';
import { chunk, type FakeStep, failure, finish, say, stream } from '../fakes/provider/provider-scripts.ts';
import {
  addModels,
  answer,
  chatDetail,
  createChat,
  idle,
  partsOf,
  passLease,
  postChat,
  readStream,
  submit,
  untilStored,
} from './chat-harness.ts';

/** Answers that were cut at the output limit and are continued (contract.md section 12). */

let app: TestApp;
let provider: FakeProvider;
before(async () => {
  provider = await startFakeProvider();
  app = await startTestApp({ timings: { tickMs: 10, sweepMs: 600_000 } });
});
after(async () => {
  await app.stop();
  await provider.close();
});

let models = 0;
const cutAfter = (text: string): FakeStep[] => [...say(text), chunk({}, 'length'), { event: '[DONE]' }];
const texts = (message: Json): string[] =>
  message.parts.flatMap((part: Json) => (part.type === 'text' ? [part.text] : []));

type Cut = { user: SignedIn; chatId: string; model: string; id: string; last: () => Promise<Json> };

/** A conversation whose answer was cut after `text`. */
async function cutAnswer(text: string, kind: ProviderKind = 'openai'): Promise<Cut> {
  const user = await app.signIn();
  const model = `cut-${++models}`;
  await addModels(user, provider, [model], kind);
  provider.enqueue(model, stream(cutAfter(text)));
  provider.script(model, (call) => stream([...say('Not asked for.'), ...finish(call, 3)]));
  const chatId = await createChat(user);
  await answer(user, chatId, await submit(user, chatId, 'Tell me'));
  const last = async () => (await chatDetail(user, chatId)).messages.at(-1);
  const message = await last();
  assert.deepEqual([message.finishReason, texts(message)], ['length', [text]]);
  return { user, chatId, model, id: message.id, last };
}

const resume = async ({ user, chatId }: Cut) => readStream(await postChat(user, { chatId, resume: true }));
const goOn = ({ model }: Cut, text: string): void =>
  provider.enqueue(model, (call) => stream([...say(text), ...finish(call, 3)]));

for (const kind of providerKinds) {
  test(`${kind}: appends to the same answer in the same text`, async () => {
    const cut = await cutAnswer('One two', kind);
    goOn(cut, ' three four.');
    const streamed = await resume(cut);
    const first = streamed.frames[0]?.frame;
    assert.equal(first?.type === 'start' && first.messageId, cut.id);
    const message = await cut.last();
    assert.equal(message.id, cut.id);
    assert.deepEqual(texts(message), ['One two three four.']);
    assert.deepEqual([message.status, message.finishReason], ['complete', 'stop']);
    assert.deepEqual(partsOf(streamed.frames), message.parts, 'the stream shows the same');
    const { messages } = await chatDetail(cut.user, cut.chatId);
    assert.equal(messages.length, 2);
    const asked = provider.requests.findLast(({ body }) => body.model === cut.model)?.body.messages ?? [];
    const roles = asked.map(({ role }) => role);
    if (kind === 'anthropic') assert.deepEqual([roles.at(-1), asked.at(-1)?.content], ['assistant', 'One two']);
    else assert.deepEqual([roles.at(-2), roles.at(-1)], ['assistant', 'user']);
  });
}

test('shows nothing twice when the model repeats its last words or begins again', async () => {
  const story = 'Once upon a time there was a king who ruled';
  for (const repeated of ['a king who ruled a country.', `${story} a country.`]) {
    const cut = await cutAnswer(story);
    goOn(cut, repeated);
    const { text } = await resume(cut);
    assert.deepEqual(texts(await cut.last()), [`${story} a country.`]);
    assert.equal(text, `${story} a country.`);
  }
});

test('asks in words to continue where the model does not continue its own message', async () => {
  const cut = await cutAnswer('One two', 'anthropic');
  provider.enqueue(cut.model, failure(400, 'This model does not support assistant message prefill.'));
  goOn(cut, ' three.');
  await resume(cut);
  assert.deepEqual(texts(await cut.last()), ['One two three.']);
  assert.equal(provider.requests.at(-1)?.body.messages?.at(-1)?.role, 'user');
});

test('continues as often as the answer is cut', async () => {
  const cut = await cutAnswer('One');
  provider.enqueue(cut.model, stream(cutAfter(' two')));
  await resume(cut);
  assert.equal((await cut.last()).finishReason, 'length');
  goOn(cut, ' three.');
  await resume(cut);
  const message = await cut.last();
  assert.deepEqual([texts(message), message.finishReason], [['One two three.'], 'stop']);
});

test('refuses to continue an answer that was not cut, and a conversation without one', async () => {
  const cut = await cutAnswer('One two');
  goOn(cut, ' three.');
  await resume(cut);
  const again = await cut.user.call('POST /api/chat', { chatId: cut.chatId, resume: true });
  assert.deepEqual([again.status, again.body.error.code], [409, 'input_conflict']);
  const empty = await createChat(cut.user);
  assert.equal((await cut.user.call('POST /api/chat', { chatId: empty, resume: true })).status, 404);
  const stranger = await app.signIn();
  assert.equal((await stranger.call('POST /api/chat', { chatId: cut.chatId, resume: true })).status, 404);
  assert.deepEqual(texts(await cut.last()), ['One two three.']);
});

test('joins a continuation that is running, so that a repeated request asks the model once', async () => {
  const cut = await cutAnswer('One two');
  provider.enqueue(cut.model, (call) =>
    stream([...say(' three'), { pause: true }, ...say(' four.'), ...finish(call, 3)]),
  );
  const before = provider.requests.length;
  const join = () => postChat(cut.user, { chatId: cut.chatId, resume: true });
  // Each head comes with the first word, so all three have joined before the rest.
  const joined = [...(await Promise.all([join(), join()])), await join()];
  await untilStored(app, cut.chatId, ' three');
  provider.release();
  for (const stream of joined) assert.equal((await readStream(stream)).text, 'One two three four.');
  assert.equal(provider.requests.length, before + 1);
});

test('keeps everything of a continuation whose replica is lost, and continues it', async () => {
  const cut = await cutAnswer('One two');
  provider.enqueue(cut.model, stream([...say(' three four'), { hang: true }]));
  const lost = resume(cut);
  await untilStored(app, cut.chatId, ' four');
  await passLease(app, cut.chatId);
  await interruptExpired(app.service.deps, { chatId: cut.chatId });
  const interrupted = await cut.last();
  assert.deepEqual([interrupted.status, interrupted.finishReason], ['interrupted', 'error']);
  assert.deepEqual(texts(interrupted), ['One two three four']);
  app.service.deps.responses.stopLocally(cut.id);
  await lost;
  await idle(app);
  goOn(cut, ' five.');
  await resume(cut);
  const message = await cut.last();
  assert.deepEqual([message.id, texts(message).join('')], [cut.id, 'One two three four five.']);
});

test('continues an answer whose response is no longer kept', async () => {
  const cut = await cutAnswer('One two');
  await app.database.database.pool.query('delete from responses where id = $1', [cut.id]);
  goOn(cut, ' three.');
  await resume(cut);
  assert.deepEqual([(await cut.last()).id, texts(await cut.last())], [cut.id, ['One two three.']]);
});

test('keeps the text of a continuation that fails before its first word', async () => {
  const cut = await cutAnswer('One two');
  provider.enqueue(cut.model, failure(401));
  const { frames } = await resume(cut);
  assert.ok(frames.some(({ frame }) => frame.type === 'error'));
  const message = await cut.last();
  assert.deepEqual([message.status, texts(message)], ['failed', ['One two']]);
  assert.deepEqual(partsOf(frames), message.parts);
});
