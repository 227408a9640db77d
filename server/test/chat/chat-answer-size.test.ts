import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { limits } from '@homeport/contracts/limits';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';
import { chunk, finish, stream } from '../fakes/provider/provider-scripts.ts';
import { addModels, chatDetail, createChat, idle, postChat, readStream, submit } from './chat-harness.ts';

let app: TestApp;
let provider: FakeProvider;
let user: SignedIn;
before(async () => {
  provider = await startFakeProvider();
  app = await startTestApp();
  user = await app.signIn();
  await addModels(user, provider, ['long']);
});
after(async () => {
  await app.stop();
  await provider.close();
});

const megabyte = 1024 * 1024;

/** A model that sends 24 pieces of 450,000 of these characters, and would continue. */
async function answer(character: string, kind: 'content' | 'reasoning_content') {
  const pieces = Array.from({ length: 24 }, () => chunk({ [kind]: character.repeat(450_000 / character.length) }));
  provider.enqueue('long', (call) => stream([...pieces, { hang: true }, ...finish(call, 1)]));
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'go');
  const { frames } = await readStream(await postChat(user, { chatId, messageId }));
  await idle(app);
  const closed = await provider.requests.at(-1)?.closed;
  const { messages } = await chatDetail(user, chatId);
  return { chatId, frames, closed, message: messages.at(-1) };
}

for (const [character, kind] of [
  ['x', 'content'],
  ['x', 'reasoning_content'],
  ['\u{1f600}', 'content'],
  ['"', 'content'],
] as const) {
  test(`a response ends at 8 MB with its reason and keeps its text: ${character} as ${kind}`, async () => {
    const { frames, closed, message } = await answer(character, kind);
    assert.deepEqual([message.status, message.error.code], ['failed', 'answer_too_long']);
    assert.match(message.error.message, /reached 8 MB.*kept/);
    assert.equal(closed, 'aborted', 'the provider is not read any further');
    const error = frames.map(({ frame }) => frame).findLast(({ type }) => type === 'error');
    assert.deepEqual(error, { type: 'error', code: 'answer_too_long', errorText: message.error.message });
    const bytes = Buffer.byteLength(JSON.stringify(message.parts));
    assert.ok(bytes <= limits.answerBytes + 10_000 && bytes > limits.answerBytes - megabyte, `${bytes} bytes`);
    const stored = message.parts.map(({ text = '' }) => text).join('');
    assert.ok(stored.isWellFormed() && stored.replaceAll(character, '') === '');
  });
}

test('continuing a response of the maximum size ends it again without calling the model', async () => {
  const { chatId, message } = await answer('x', 'content');
  const asked = provider.requests.length;
  await readStream(await postChat(user, { chatId, resume: true }));
  await idle(app);
  const again = (await chatDetail(user, chatId)).messages.at(-1);
  assert.deepEqual([again.status, again.error.code], ['failed', 'answer_too_long']);
  assert.deepEqual(again.parts, message.parts);
  assert.equal(provider.requests.length, asked);
});
