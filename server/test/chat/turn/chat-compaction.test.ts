import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../app.ts';
import { type FakeProvider, startFakeProvider } from '../../fakes/provider/provider.ts';
import { failure } from '../../fakes/provider/provider-scripts.ts';
import { chatDetail, idle, postChat, readStream } from '../chat-harness.ts';
import { addSmallModel, messagesOf, prose, speak, startConversation, textOf, textsOf } from './compaction-harness.ts';

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

async function rows(chatId: string) {
  const { database } = app;
  return (
    await database.database.kysely.selectFrom('summaries').selectAll().where('chat_id', '=', chatId).execute()
  ).map(({ kind, up_to_message_id: upToId, text }) => ({ kind, upToId, text }));
}

test('summarizes earlier messages near the window, and keeps the messages after them unchanged', async () => {
  const user = await app.signIn();
  const model = await addSmallModel(user, provider, { play: (call) => speak(call, prose(300, call.count)) });
  const { chatId, say } = await startConversation(user, model);
  await say('Plan a house. Never propose a cellar.');
  for (let turn = 1; model.summaries.length === 0; turn++) {
    assert.ok(turn < 12, 'the window is full and nothing was summarized');
    await say(`Question ${turn}. ${prose(100, turn)}`);
  }
  const [request] = model.summaries;
  assert.match(textsOf(request?.body ?? {}), /User: Plan a house\. Never propose a cellar\./);
  const contents = messagesOf(model.answers.at(-1)).map(({ role, content }) => [role, textOf(content)]);
  assert.deepEqual(contents[0], ['user', 'Plan a house. Never propose a cellar.']);
  assert.deepEqual(contents[1]?.[0], 'assistant');
  assert.match(contents[1]?.[1] ?? '', /^\[Summary of the earlier conversation.*\]\n\n- Rules: summary 1\.$/);
  assert.deepEqual(
    contents.slice(2).map(([role]) => role),
    ['user', 'assistant', 'user', 'assistant', 'user'],
  );
  const { messages } = await chatDetail(user, chatId);
  const [row, ...others] = await rows(chatId);
  assert.deepEqual(others, []);
  assert.deepEqual(row, { kind: 'summary', upToId: messages.at(-7).id, text: '- Rules: summary 1.' });
  const query = { chatId, messageId: messages.at(-1).id };
  const context = (await user.call('GET /api/chats/context', undefined, { query })).body;
  assert.deepEqual([context.summary.text, context.summary.upToMessageId], ['- Rules: summary 1.', row?.upToId]);
  assert.deepEqual(
    context.messages.map(({ state }: { state: string }) => state),
    ['sent', ...messages.slice(1, -6).map(() => 'summarized'), ...messages.slice(-6, -1).map(() => 'sent')],
  );
  // The usage of the response includes the request for the summary; the prompt context of the response is counted
  // separately.
  assert.equal(context.tokens.counted, true);
  assert.ok(context.tokens.total <= context.tokens.window, `${context.tokens.total}`);
  const before = JSON.stringify(messagesOf(model.answers.at(-1))).slice(0, -1);
  await say('And then?');
  assert.equal(model.summaries.length, 1);
  assert.ok(JSON.stringify(messagesOf(model.answers.at(-1))).startsWith(before));
});

test('a summary is shown as a step, and the usage of the response includes its cost', async () => {
  const user = await app.signIn();
  const model = await addSmallModel(user, provider, { play: (call) => speak(call, prose(300, call.count)) });
  const { chatId, say } = await startConversation(user, model);
  let last = await say('Go');
  while (model.summaries.length === 0) last = await say(prose(300, model.answers.length));
  const steps = last.frames.map(({ frame }) => frame).filter((frame) => frame.type === 'data-step');
  assert.deepEqual(
    steps.map(({ transient, data }) => [transient, data]),
    [
      [true, { name: 'compaction', state: 'started' }],
      [true, { name: 'compaction', state: 'done' }],
    ],
  );
  const { messages } = await chatDetail(user, chatId);
  const context = model.asked.slice(-1 - model.summaries.length).map(({ tokens }) => tokens);
  assert.equal(
    messages.at(-1).usage.inputTokens,
    context.reduce((sum, tokens) => sum + tokens, 0),
  );
  const sent = Math.ceil(model.answers.at(-1)?.tokens ?? 0);
  const query = { chatId, messageId: messages.at(-1).id };
  const { tokens } = (await user.call('GET /api/chats/context', undefined, { query })).body;
  assert.deepEqual([tokens.total, tokens.counted, messages.at(-1).usage.promptTokens], [sent, true, sent]);
  assert.ok(messages.at(-1).usage.contextTokens > sent && messages.at(-1).usage.contextTokens < sent + 400);
  assert.ok(messages.at(-1).parts.every(({ type }: { type: string }) => !type.startsWith('data-')));
});

test('without summaries the oldest turns are dropped in one large step, and the beginning then stays stable', async () => {
  const off = await startTestApp({ database: app.database, config: { compactionAt: 0 }, timings: { tickMs: 10 } });
  try {
    const user = await off.signIn();
    const model = await addSmallModel(user, provider, { play: (call) => speak(call, prose(200, call.count)) });
    const { chatId, say } = await startConversation(user, model);
    for (let turn = 0; turn < 30; turn++) await say(`Question ${turn}. ${prose(20, turn)}`);
    assert.equal(model.summaries.length, 0);
    const cuts = await rows(chatId);
    assert.ok(cuts.length >= 2 && cuts.every(({ kind }) => kind === 'cut'));
    const texts = model.answers.map((modelRequest) => JSON.stringify(messagesOf(modelRequest)).slice(0, -1));
    const breaks = texts.filter((text, index) => index > 0 && !text.startsWith(texts[index - 1] ?? ''));
    assert.equal(breaks.length, cuts.length);
    assert.ok(model.answers.every(({ tokens, body }) => tokens + (body.max_tokens ?? 0) <= model.window));
    assert.match(texts.at(-1) ?? '', /^\[\{"role":"user","content":"Question 0\./);
  } finally {
    await off.stop();
  }
});

test('continues without a summary when none can be made, and stops trying after three failures', async () => {
  const user = await app.signIn();
  const model = await addSmallModel(user, provider, {
    play: (call) => speak(call, prose(120, call.count)),
    summarize: () => failure(400),
  });
  const { chatId, say } = await startConversation(user, model);
  let answers = 0;
  for (; model.summaries.length < 3; answers++) {
    assert.ok(answers < 60);
    const { done, frames } = await say(`Question ${answers}. ${prose(30, answers)}`);
    assert.ok(done && frames.at(-1)?.frame.type === 'finish');
  }
  for (let turn = 0; turn < 25; turn++) await say(`Later ${turn}. ${prose(30, turn)}`);
  assert.equal(model.summaries.length, 3);
  assert.ok((await rows(chatId)).length >= 1 && (await rows(chatId)).every(({ kind }) => kind === 'cut'));
  assert.ok(model.answers.every(({ tokens, body }) => tokens + (body.max_tokens ?? 0) <= model.window));
  assert.equal((await chatDetail(user, chatId)).messages.at(-1).status, 'complete');
});

test('Stop during a summary cancels its request and writes nothing, and the response can be continued', async () => {
  const user = await app.signIn();
  const begun = Promise.withResolvers<'begun'>();
  let isSlow = true;
  const model = await addSmallModel(user, provider, {
    play: (call) => speak(call, prose(300, call.count)),
    summarize() {
      begun.resolve('begun');
      return isSlow ? { steps: [{ hang: true }] } : undefined;
    },
  });
  const { chatId, say } = await startConversation(user, model);
  for (let turn = 0; model.summaries.length === 0; turn++) {
    assert.ok(turn < 12);
    const answered = say(prose(300, turn));
    if ((await Promise.race([answered, begun.promise])) === 'begun')
      await user.call(`POST /api/chat/${chatId}/stop`, {});
    await answered;
  }
  await idle(app);
  const last = provider.requests.at(-1);
  assert.equal(await last?.closed, 'aborted');
  assert.equal((await chatDetail(user, chatId)).messages.at(-1).status, 'stopped');
  assert.deepEqual(await rows(chatId), []);
  isSlow = false;
  const resumed = await readStream(await postChat(user, { chatId, resume: true }));
  assert.ok(resumed.done);
  assert.equal((await chatDetail(user, chatId)).messages.at(-1).status, 'complete');
  assert.equal((await rows(chatId)).length, 1);
});

test('refuses a message that does not fit before calling the provider', async () => {
  const user = await app.signIn();
  const model = await addSmallModel(user, provider);
  const { chatId, say } = await startConversation(user, model);
  const asked = model.asked.length;
  const { status, body } = await say(prose(9_000));
  assert.deepEqual([status, body.error.code, body.error.details.reason], [413, 'payload_too_large', 'context_window']);
  assert.equal(model.asked.length, asked);
  const message = (await chatDetail(user, chatId)).messages.at(-1);
  assert.deepEqual([message.status, message.error.code], ['failed', 'payload_too_large']);
});
