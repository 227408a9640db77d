import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../../../../contracts/test/until.ts';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../../app.ts';
import { type FakeProvider, startFakeProvider } from '../../fakes/provider/provider.ts';
import { failure } from '../../fakes/provider/provider-scripts.ts';
import { answer, chatDetail, idle, postChat, readStream, submission } from '../chat-harness.ts';
import {
  addSmallModel,
  messagesOf,
  prose,
  type SmallModel,
  speak,
  startConversation,
  textOf,
  textsOf,
} from './compaction-harness.ts';

/** Summaries on request: made, read, edited, made again, undone. */

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

async function compact(user: SignedIn, chatId: string, extra: object = {}) {
  const answered = await user.call('POST /api/chats/compact', { id: chatId, ...extra });
  await idle(app);
  return answered;
}
const summariesOf = async (user: SignedIn, chatId: string): Promise<Json[]> =>
  (await chatDetail(user, chatId)).summaries;
const sentTexts = (model: SmallModel): string[] =>
  messagesOf(model.answers.at(-1)).map(({ content }) => textOf(content));

async function talk(turns: number, model: Parameters<typeof addSmallModel>[2] = {}) {
  const user = await app.signIn();
  const small = await addSmallModel(user, provider, { window: 50_000, ...model });
  const conversation = await startConversation(user, small);
  for (let turn = 0; turn < turns; turn++) await conversation.say(`Question ${turn}`);
  return { user, model: small, ...conversation };
}

test('makes a summary with a focus on request, shows it in the conversation, and sends it with the next turn', async () => {
  const { user, model, chatId, say } = await talk(5);
  const { status, body } = await compact(user, chatId, { focus: 'the names of ships' });
  assert.deepEqual([status, body.admitted, typeof body.assistantId], [202, true, 'string']);
  assert.match(textsOf(model.summaries[0]?.body ?? {}), /Pay most attention to: the names of ships/);
  const { messages, summaries, response } = await chatDetail(user, chatId);
  assert.equal(response, null);
  assert.equal(messages.length, 10);
  assert.deepEqual(
    summaries.map(({ upToMessageId, text }: Json) => [upToMessageId, text]),
    [[messages[5].id, '- Rules: summary 1.']],
  );
  await say('And now?');
  assert.deepEqual(sentTexts(model).slice(2), ['Question 3', 'Answer 4.', 'Question 4', 'Answer 5.', 'And now?']);
  assert.match(sentTexts(model)[1] ?? '', /summary 1/);
});

test('a summary can be edited, made again and undone', async () => {
  const { user, model, chatId, say } = await talk(4);
  await compact(user, chatId);
  const [{ id }] = await summariesOf(user, chatId);
  const edited = await user.call('PATCH /api/chats/summaries', { chatId, id, text: '  They like blue. ' });
  assert.equal(edited.body.summary.text, 'They like blue.');
  await say('One');
  assert.match(sentTexts(model)[1] ?? '', /They like blue\.$/);

  await compact(user, chatId);
  await compact(user, chatId);
  const [first, second, ...none] = await summariesOf(user, chatId);
  assert.deepEqual([first.id, first.text, second.text, none], [id, 'They like blue.', '- Rules: summary 3.', []]);
  const asked = model.summaries.map(({ body }) => textsOf(body));
  assert.match(asked[1] ?? '', /<earlier-summary>\nThey like blue\.\n<\/earlier-summary>/);
  assert.equal(asked[2], asked[1]);

  for (const undone of [second.id, first.id]) {
    assert.equal(
      (await user.call('DELETE /api/chats/summaries', undefined, { query: { chatId, id: undone } })).status,
      200,
    );
  }
  const detail = await chatDetail(user, chatId);
  assert.deepEqual([detail.summaries, detail.chat.autoCompaction], [[], false]);
  await say('Two');
  assert.equal(sentTexts(model)[0], 'Question 0');
  assert.equal(sentTexts(model).length, detail.messages.length + 1);
  await compact(user, chatId);
  assert.equal((await chatDetail(user, chatId)).chat.autoCompaction, true);
  assert.equal((await user.call('PATCH /api/chats/summaries', { chatId, id, text: 'Gone' })).status, 404);
});

test('a summary applies to every branch that contains its last message, and to no other', async () => {
  const { user, model, chatId } = await talk(4);
  await compact(user, chatId);
  const { messages } = await chatDetail(user, chatId);
  const edit = async (parentId: string) => {
    const body = submission(chatId, 'Edited', { parentId });
    await user.call('POST /api/chat/start', body);
    await answer(user, chatId, body.message.id);
    return [sentTexts(model).length, (await summariesOf(user, chatId)).length];
  };
  // Up to the response of the second turn is summarized.
  assert.deepEqual(await edit(messages[5].id), [5, 1]);
  assert.deepEqual(await edit(messages[3].id), [3, 1]);
  assert.deepEqual(await edit(messages[1].id), [3, 0]);
  await user.call('PATCH /api/chats', { id: chatId, activeMessageId: messages[7].id });
  assert.equal((await summariesOf(user, chatId)).length, 1);
});

test('after a fresh context no older message is summarized or sent', async () => {
  const { user, model, chatId, say } = await talk(4);
  await compact(user, chatId);
  await user.call('PATCH /api/chats', { id: chatId, freshContext: true });
  for (let turn = 0; turn < 4; turn++) await say(`Fresh ${turn}`);
  await compact(user, chatId);
  assert.doesNotMatch(textsOf(model.summaries.at(-1)?.body ?? {}), /Question|summary 1/);
  await say('And now?');
  assert.equal(sentTexts(model)[0], 'Fresh 0');
});

test('refuses a summary with the reason, and a failing model affects nothing else', async () => {
  const { user, model, chatId, say } = await talk(1, { summarize: () => failure(400) });
  const short = await compact(user, chatId);
  assert.deepEqual([short.status, short.body.error.message], [400, 'This conversation is too short to be summarized.']);
  assert.equal((await user.call('POST /api/chats/compact', { id: chatId, focus: 'x'.repeat(1001) })).status, 400);
  for (let turn = 1; turn < 4; turn++) await say(`Question ${turn}`);
  assert.equal((await compact(user, chatId)).status, 202);
  const { summaries, response, chat } = await chatDetail(user, chatId);
  assert.deepEqual([summaries, response, chat.running, chat.autoCompaction], [[], null, false, true]);
  assert.equal((await say('And now?')).status, 200);
  assert.equal(model.answers.length, 5);
});

test('a summary runs as a response: it can be followed and stopped, and the next message waits for it', async () => {
  const begun = Promise.withResolvers<void>();
  const { user, chatId, model } = await talk(4, {
    summarize: () => {
      begun.resolve();
      return { steps: [{ hang: true }] };
    },
    play: (call) => speak(call, prose(5)),
  });
  const { body } = await user.call('POST /api/chats/compact', { id: chatId });
  await begun.promise;
  const { response } = await chatDetail(user, chatId);
  assert.deepEqual([response.assistantId, response.kind], [body.assistantId, 'compaction']);
  const refused = await user.call('POST /api/chats/compact', { id: chatId });
  assert.equal(refused.body.error.code, 'response_running');
  const next = submission(chatId, 'Next', { modelId: model.id });
  await user.call('POST /api/chat/turn-inputs', next);
  const waiting = await readStream(await postChat(user, { chatId, messageId: next.message.id }));
  assert.equal(waiting.status, 202);
  const followed = readStream(await user.fetch(`/api/chat/${chatId}/stream`));
  const stopped = await user.call(`POST /api/chat/${chatId}/stop`, { assistantId: body.assistantId });
  assert.equal(stopped.body.stopped, true);
  const frames = (await followed).frames.map(({ frame }) => frame.type);
  assert.deepEqual(frames, ['start', 'data-step', 'abort', 'finish', 'data-next']);
  const { messages, summaries } = await until('the next message is answered', async () => {
    const found = await chatDetail(user, chatId);
    const [asked, answered] = found.messages.slice(-2);
    return found.response === null && asked.parts[0].text === 'Next' && answered.status === 'complete' && found;
  });
  assert.deepEqual(
    [messages.length, messages.at(-1).status, messages.at(-2).parts[0].text, summaries],
    [10, 'complete', 'Next', []],
  );
});

test('drops the oldest turns instead in conversations with summaries switched off', async () => {
  const { user, model, chatId, say } = await talk(1, {
    window: 3_000,
    play: (call) => speak(call, prose(200, call.count)),
  });
  const { body } = await user.call('PATCH /api/chats', { id: chatId, autoCompaction: false });
  assert.equal(body.chat.autoCompaction, false);
  for (let turn = 1; turn < 16; turn++) await say(`Question ${turn}. ${prose(50, turn)}`);
  assert.equal(model.summaries.length, 0);
  assert.deepEqual(sentTexts(model).slice(0, 2), ['Question 0', '[Earlier messages are omitted.]']);
  const [newest] = (await chatDetail(user, chatId)).messages.slice(-1);
  const query = { chatId, messageId: newest.id };
  const context = (await user.call('GET /api/chats/context', undefined, { query })).body;
  assert.deepEqual([...new Set(context.messages.map(({ state }: Json) => state))], ['sent', 'omitted']);
  assert.equal(context.summary, null);
});
