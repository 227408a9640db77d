import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../../../../contracts/test/until.ts';
import { createCaller, type Json, type SignedIn, startTestApp, type TestApp } from '../../app.ts';
import { echoTool, startFakeMcp } from '../../fakes/mcp-server.ts';
import { type FakeProvider, startFakeProvider } from '../../fakes/provider/provider.ts';
import { chunk, finish, say } from '../../fakes/provider/provider-scripts.ts';
import {
  addModels,
  answer,
  type Collected,
  chatDetail,
  createChat,
  partsOf,
  postChat,
  readStream,
  submission,
  submit,
} from '../chat-harness.ts';

let app: TestApp;
let second: TestApp;
let provider: FakeProvider;
const timings = { heartbeatMs: 300, sweepMs: 300, dispatchMs: 100, tickMs: 20 };
const questions = [
  { header: 'Colour', question: 'Which colour?', options: ['Red', { label: 'Blue', description: 'Like the sea' }] },
  { question: 'Which sizes?', multiple: true, options: [{ label: 'S' }, { label: 'L' }] },
];
const plan = (...states: string[]) => ({
  items: states.map((status, index) => ({ content: `Step ${index + 1}`, status })),
});

before(async () => {
  provider = await startFakeProvider();
  // Calls the tool that the message names with the JSON behind it, then writes its result.
  provider.script('calls', (call) => {
    const last = (call.body.messages ?? []).at(-1);
    const order = last?.role === 'user' ? /^(\w+) (\{.*\})$/s.exec(String(last.content)) : null;
    if (order === null) return { steps: [...say(`heard ${String(last?.content)}`), ...finish(call, 3)] };
    const tool = { index: 0, id: `call-${call.count}`, function: { name: order[1], arguments: order[2] } };
    return { steps: [chunk({ tool_calls: [tool] }), ...finish(call, 2, 'tool_calls')] };
  });
  app = await startTestApp({ timings });
  second = await startTestApp({ timings, database: app.database });
});
after(async () => {
  await second.stop();
  await app.stop();
  await provider.close();
});

const at = (other: TestApp, user: SignedIn): SignedIn => ({
  ...createCaller(other.url, user.cookie),
  id: user.id,
  email: user.email,
});
const reply = (user: SignedIn, chatId: string, body: object) => user.call(`POST /api/chat/${chatId}/answers`, body);
const toolPart = (message: Json, name: string) =>
  message.parts.find(
    (part: { type: string; toolName?: string }) => part.type === 'dynamic-tool' && part.toolName === name,
  );

type Scene = { user: SignedIn; chatId: string; questionId: string; asked: Json; streaming: Promise<Collected> };

/** A response that waits for answers. */
async function asking(work: (scene: Scene) => Promise<void>, where: TestApp = app): Promise<void> {
  const user = await where.signIn();
  await addModels(user, provider, ['calls']);
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, `ask ${JSON.stringify({ questions })}`);
  const questionSeen = Promise.withResolvers<Json>();
  const streaming = readStream(await postChat(user, { chatId, messageId }), ({ frame }) => {
    if (frame.type === 'data-question') questionSeen.resolve(frame.data);
    return false;
  });
  const asked = await questionSeen.promise;
  await work({ user, chatId, questionId: asked.questionId, asked, streaming });
  await streaming;
}

async function ended(user: SignedIn, chatId: string) {
  return until(async () => {
    const detail = await chatDetail(user, chatId);
    const isOver = detail.response === null && detail.inputs.length === 0;
    return isOver && detail.messages.at(-1).status !== 'interrupted' ? detail : undefined;
  });
}

test('many clients answer pending questions once, and the model reads the answers', () =>
  asking(async ({ user, chatId, questionId, asked, streaming }) => {
    assert.deepEqual(asked.questions, [
      {
        header: 'Colour',
        question: 'Which colour?',
        multiple: false,
        options: [{ label: 'Red' }, { label: 'Blue', description: 'Like the sea' }],
      },
      { question: 'Which sizes?', multiple: true, options: [{ label: 'S' }, { label: 'L' }] },
    ]);
    const [listed] = (await user.call('GET /api/chats')).body.chats;
    assert.deepEqual([listed.running, listed.waiting], [true, true]);
    const reloaded = await until(async () => {
      const [, message] = (await chatDetail(user, chatId)).messages;
      return message.parts.some(({ type }: { type: string }) => type === 'data-question') ? message : undefined;
    });
    assert.equal(toolPart(reloaded, 'ask').state, 'input-available');
    assert.equal((await reply(user, chatId, { questionId, answers: ['Red', 'S', 'too many'] })).status, 400);
    assert.equal((await reply(user, chatId, { questionId, answers: { 'Which shape?': 'Round' } })).status, 400);
    const approved = await user.call(`POST /api/chat/${chatId}/approvals`, { approvalId: questionId, approved: true });
    assert.equal(approved.status, 404, 'a word is no answer');
    const clients = Array.from({ length: 6 }, (_, index) => (index % 2 === 0 ? user : at(second, user)));
    const answers = ['A dark red', ['S', 'L']];
    const replies = await Promise.all(clients.map((client) => reply(client, chatId, { questionId, answers })));
    assert.deepEqual(replies.map(({ status }) => status).sort(), [200, ...Array(5).fill(409)]);
    assert.ok(replies.every(({ status, body }) => status === 200 || body.error.code === 'input_applied'));
    const streamed = await streaming;
    assert.match(streamed.text, /"Which colour\?","answer":"A dark red".*"Which sizes\?","answer":\["S","L"\]/);
    const { messages } = await ended(user, chatId);
    assert.deepEqual(messages[1].parts, partsOf(streamed.frames));
    assert.equal((await user.call('GET /api/chats')).body.chats[0].waiting, false);
  }));

test('pending questions can be answered after a crash of the service, by name, and the turn continues', async () => {
  const gone = await startTestApp({ timings, database: app.database });
  await asking(async ({ user, chatId, questionId }) => {
    await gone.service.deps.responses.drain(60_000);
    const here = at(app, user);
    const parked = await until(async () => {
      const [, message] = (await chatDetail(here, chatId)).messages;
      return message.status === 'interrupted' ? message : undefined;
    });
    assert.match(parked.error.message, /waiting for your answer/);
    assert.equal(toolPart(parked, 'ask').state, 'input-available');
    assert.equal((await reply(here, chatId, { questionId, answers: { Colour: 'Blue', 1: null } })).status, 200);
    const [, message] = (await ended(here, chatId)).messages;
    assert.equal(message.status, 'complete');
    assert.match(message.parts.at(-1).text, /"answer":"Blue".*"answer":"\(no answer\)"/);
    assert.equal((await reply(here, chatId, { questionId, answers: [] })).body.error.code, 'input_applied');
  }, gone);
  await gone.stop();
});

test('a message sent now closes the questions and is read instead', () =>
  asking(async ({ user, chatId, questionId, streaming }) => {
    const { body } = await user.call('POST /api/chat/turn-inputs', submission(chatId, 'something else'));
    await user.call('PATCH /api/chat/turn-inputs', { chatId, id: body.input.id, steer: true });
    assert.equal((await streaming).frames.at(-1)?.frame.type, 'data-next');
    const { messages } = await ended(user, chatId);
    assert.match(toolPart(messages[1], 'ask').output, /did not answer and sent a message instead/);
    assert.deepEqual([messages[2].id, messages[3].parts.at(-1).text], [body.input.id, 'heard something else']);
    assert.equal((await reply(user, chatId, { questionId, answers: ['Red'] })).body.error.code, 'input_applied');
  }));

test('Stop closes the questions, no other user answers them, and the model gets the errors of invalid ones', () =>
  asking(async ({ user, chatId, questionId }) => {
    const stranger = await app.signIn();
    const own = await createChat(stranger);
    for (const refused of [
      await reply(stranger, chatId, { questionId, answers: [] }),
      await reply(stranger, own, { questionId, answers: [] }),
      await reply(user, chatId, { questionId: 'none', answers: [] }),
    ]) {
      assert.deepEqual([refused.status, refused.body.error.code], [404, 'not_found']);
    }
    await user.call(`POST /api/chat/${chatId}/stop`, {});
    const { messages } = await ended(user, chatId);
    assert.deepEqual([messages[1].status, toolPart(messages[1], 'ask').state], ['stopped', 'output-error']);
    assert.equal((await reply(user, chatId, { questionId, answers: [] })).body.error.code, 'input_applied');
    const wrong = await answer(user, chatId, await submit(user, chatId, 'ask {"questions":[]}'));
    assert.match(wrong.text, /arguments are invalid/);
  }));

test('offers plan and ask only together with other tools', async () => {
  const fake = await startFakeMcp([echoTool]);
  try {
    const user = await app.signIn();
    await addModels(user, provider, ['calls']);
    const toolNames = async (): Promise<(string | undefined)[]> => {
      const chatId = await createChat(user);
      await answer(user, chatId, await submit(user, chatId, 'hello'));
      const asked = provider.requests.findLast(({ body }) => body.model === 'calls' && body.tools !== undefined);
      const last = provider.requests.findLast(({ body }) => body.messages?.at(-1)?.content === 'hello');
      return asked === last ? (last?.body.tools ?? []).map((tool) => tool.function?.name) : [];
    };
    assert.deepEqual(await toolNames(), []);
    const { body } = await user.call('POST /api/mcp', { name: 'Fake', url: fake.url });
    await user.call('POST /api/mcp/trust', { id: body.server.id });
    assert.deepEqual(await toolNames(), ['mcp__Fake__echo', 'plan', 'ask']);
  } finally {
    await fake.close();
  }
});

test('a plan belongs to its branch, and survives a summary word for word', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['calls']);
  const chatId = await createChat(user);
  const turn = async (text: string, extra: object = {}) =>
    answer(user, chatId, await submit(user, chatId, text, extra));
  assert.equal((await chatDetail(user, chatId)).plan, null);
  const first = await turn(`plan ${JSON.stringify(plan('in_progress', 'pending'))}`);
  assert.match(first.text, /0 of 2 done/);
  const made = await chatDetail(user, chatId);
  assert.deepEqual(made.plan, { messageId: made.messages[1].id, ...plan('in_progress', 'pending') });
  await turn('hello');
  assert.deepEqual((await chatDetail(user, chatId)).plan, made.plan, 'later messages keep it');
  await turn(`plan ${JSON.stringify(plan('completed', 'in_progress'))}`);
  assert.equal((await chatDetail(user, chatId)).plan.items[0].status, 'completed');
  await turn('elsewhere', { parentId: made.messages[1].id });
  assert.deepEqual((await chatDetail(user, chatId)).plan, made.plan, 'the other branch has the plan of its place');
  const two = await turn(`plan ${JSON.stringify(plan('in_progress', 'in_progress'))}`);
  assert.match(two.text, /At most one item/);
  for (const text of ['one', 'two', 'three']) await turn(text);
  const { body } = await user.call('POST /api/chats/compact', { id: chatId });
  assert.equal(body.admitted, true);
  await until(async () => (await chatDetail(user, chatId)).summaries.length === 1);
  await turn('after the summary');
  const asked = provider.requests.findLast((request) => request.body.messages?.at(-1)?.content === 'after the summary');
  const text = JSON.stringify(asked?.body.messages);
  assert.ok(
    text.includes('[The current plan, made with the tool plan.]\\n- [in progress] Step 1\\n- [ ] Step 2'),
    text,
  );
  await turn('plan {"items":[]}');
  assert.deepEqual((await chatDetail(user, chatId)).plan.items, []);
});
