import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../../../../contracts/test/until.ts';
import { createCaller, type SignedIn, startTestApp, type TestApp } from '../../app.ts';
import { echoTool, type FakeMcp, startFakeMcp } from '../../fakes/mcp-server.ts';
import { type FakeProvider, startFakeProvider } from '../../fakes/provider/provider.ts';
import { chunk, type FakeChatBody, finish, say } from '../../fakes/provider/provider-scripts.ts';
import {
  addModels,
  answer,
  type Collected,
  chatDetail,
  createChat,
  passLease,
  postChat,
  readStream,
  submission,
  submit,
} from '../chat-harness.ts';

let app: TestApp;
let second: TestApp;
let provider: FakeProvider;
const timings = { heartbeatMs: 300, sweepMs: 300, dispatchMs: 100, tickMs: 20 };

type SentMessage = { role: string; content: string };
const messagesIn = (body: FakeChatBody): SentMessage[] =>
  (body.messages ?? []).flatMap(({ role, content }) =>
    role === 'user' || role === 'tool' ? [{ role, content: String(content) }] : [],
  );

before(async () => {
  provider = await startFakeProvider();
  // Calls the tool once for a message that begins with “work”, and repeats the last message.
  provider.script('works', (call) => {
    const last = messagesIn(call.body).at(-1);
    if (last?.role !== 'user' || !last.content.startsWith('work')) {
      return { steps: [...say(`heard ${last?.content}`), ...finish(call, 2)] };
    }
    const tool = {
      index: 0,
      id: `call-${call.count}`,
      function: { name: 'mcp__Fake__echo', arguments: '{"text":"done"}' },
    };
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

type Scene = {
  user: SignedIn;
  chatId: string;
  /** The message that began it, and the stream of its response. */
  messageId: string;
  streaming: Promise<Collected>;
  /** Ends the tool call that the response waits for. */
  release(): void;
};

/** A response whose tool is running. */
async function working(work: (scene: Scene) => Promise<void>, at: TestApp = app): Promise<void> {
  const fake: FakeMcp = await startFakeMcp([echoTool]);
  const gate = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  fake.hook = async (message) => {
    if (message.method !== 'tools/call') return undefined;
    begun.resolve();
    await gate.promise;
    return undefined;
  };
  try {
    const user = await at.signIn();
    await addModels(user, provider, ['works']);
    const { body } = await user.call('POST /api/mcp', { name: 'Fake', url: fake.url });
    await user.call('POST /api/mcp/trust', { id: body.server.id });
    const chatId = await createChat(user);
    const messageId = await submit(user, chatId, 'work');
    const streaming = readStream(await postChat(user, { chatId, messageId }));
    await begun.promise;
    await work({ user, chatId, messageId, streaming, release: () => gate.resolve() });
  } finally {
    gate.resolve();
    await fake.close();
  }
}

async function queue(user: SignedIn, chatId: string, text: string): Promise<string> {
  const { status, body } = await user.call('POST /api/chat/turn-inputs', submission(chatId, text));
  assert.equal(status, 201);
  return body.input.id;
}

const steer = (user: SignedIn, chatId: string, id: string) =>
  user.call('PATCH /api/chat/turn-inputs', { chatId, id, steer: true });
const elsewhere = (user: SignedIn): SignedIn => ({
  ...createCaller(second.url, user.cookie),
  id: user.id,
  email: user.email,
});

async function settled(user: SignedIn, chatId: string, messages: number) {
  return until(async () => {
    const detail = await chatDetail(user, chatId);
    return detail.response === null && detail.inputs.length === 0 && detail.messages.length === messages
      ? detail
      : undefined;
  });
}

const textOf = (message: { parts: { type: string; text?: string }[] }): string =>
  message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');

test('messages sent now reach the model after the results of the step, in their order, each once', () =>
  working(async ({ user, chatId, streaming, release }) => {
    const [later, first, then] = [
      await queue(user, chatId, 'later'),
      await queue(user, chatId, 'first'),
      await queue(user, chatId, 'then'),
    ];
    const steered = await steer(user, chatId, first);
    assert.deepEqual([steered.status, steered.body.input.id, steered.body.input.state], [200, first, 'steering']);
    assert.equal((await steer(elsewhere(user), chatId, then)).body.input.state, 'steering', 'at any replica');
    assert.deepEqual((await steer(user, chatId, first)).body, steered.body, 'twice is once');
    const waiting = (await chatDetail(user, chatId)).inputs;
    assert.deepEqual(
      waiting.map(({ id, state }: { id: string; state: string }) => [id, state]),
      [
        [first, 'steering'],
        [then, 'steering'],
        [later, 'queued'],
      ],
    );
    const asked = provider.requests.length;
    release();
    const streamed = await streaming;
    assert.equal(streamed.frames.at(-1)?.frame.type, 'data-next');
    const { messages } = await settled(user, chatId, 7);
    assert.deepEqual(
      messages.map(({ id, role }: { id: string; role: string }) => (role === 'user' ? id : role)).slice(1),
      ['assistant', first, then, 'assistant', later, 'assistant'],
    );
    assert.deepEqual(
      messages.map(({ status }: { status: string }) => status),
      Array(7).fill('complete'),
    );
    assert.equal(textOf(messages[4]), 'heard first\n\nthen');
    const [next] = provider.requests.slice(asked).filter(({ body }) => body.model === 'works');
    assert.ok(next);
    assert.deepEqual(
      messagesIn(next.body).map(({ content }) => content),
      ['work', messagesIn(next.body)[1]?.content, 'first\n\nthen'],
      'the question after the step has the result and both messages, as one',
    );
    for (const id of [first, then]) {
      const late = await steer(user, chatId, id);
      assert.deepEqual([late.status, late.body.error.code], [409, 'input_applied']);
      const replayed = await answer(user, chatId, id);
      assert.deepEqual([replayed.text, replayed.done], ['heard first\n\nthen', true], 'both have the answer');
    }
  }));

test('a response that ends first is followed by the messages sent now, before the queued ones', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['words-3']);
  provider.enqueue('words-3', (call) => ({
    steps: [...say('One'), { pause: true }, ...say(' two'), ...finish(call, 2)],
  }));
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'go');
  const streaming = readStream(await postChat(user, { chatId, messageId }));
  const [queued, now] = [await queue(user, chatId, 'queued'), await queue(user, chatId, 'now')];
  assert.equal((await steer(user, chatId, now)).status, 200);
  provider.release();
  const next = (await streaming).frames.at(-1)?.frame;
  assert.equal(next?.type === 'data-next' && next.data.messageId, now);
  const { messages } = await settled(user, chatId, 6);
  assert.deepEqual([messages[2].id, messages[4].id], [now, queued]);
});

test('a message sent now can be canceled until it is delivered, and the response continues', () =>
  working(async ({ user, chatId, streaming, release }) => {
    const id = await queue(user, chatId, 'never mind');
    await steer(user, chatId, id);
    const gone = await user.call('DELETE /api/chat/turn-inputs', undefined, { query: { chatId, id } });
    assert.equal(gone.body.input.state, 'cancelled');
    const late = await steer(user, chatId, id);
    assert.deepEqual([late.status, late.body.error.code], [409, 'input_applied']);
    release();
    assert.match((await streaming).text, /^heard .*done/);
    assert.equal((await settled(user, chatId, 2)).messages.length, 2);
  }));

test('a lost replica delivers nothing, and the next one delivers once', async () => {
  const gone = await startTestApp({
    timings: { ...timings, heartbeatMs: 600_000, sweepMs: 600_000, leaseLookMs: 600_000, dispatchMs: 600_000 },
    database: app.database,
  });
  try {
    await working(async ({ user, chatId }) => {
      const here: SignedIn = { ...createCaller(app.url, user.cookie), id: user.id, email: user.email };
      const id = await queue(here, chatId, 'still here');
      await steer(here, chatId, id);
      await passLease(app, chatId);
      const { messages } = await settled(here, chatId, 4);
      assert.deepEqual(
        [messages[1].status, messages[2].id, textOf(messages[3])],
        ['interrupted', id, 'heard still here'],
      );
    }, gone);
  } finally {
    await gone.stop();
  }
});

test('sends a queued message now only for its author, and only with the value true', () =>
  working(async ({ user, chatId, streaming, release }) => {
    const id = await queue(user, chatId, 'mine');
    const stranger = await app.signIn();
    const own = await createChat(stranger);
    for (const refused of [
      await steer(stranger, chatId, id),
      await steer(stranger, own, id),
      await steer(user, chatId, 'none'),
    ]) {
      assert.deepEqual([refused.status, refused.body.error.code], [404, 'not_found']);
    }
    assert.equal((await user.call('PATCH /api/chat/turn-inputs', { chatId, id, steer: false })).status, 400);
    assert.equal((await chatDetail(user, chatId)).inputs[0].state, 'queued');
    release();
    await streaming;
    await settled(user, chatId, 4);
  }));

for (const isSteered of [false, true]) {
  for (const [place, at] of [
    ['here', (user: SignedIn) => user],
    ['at another replica', elsewhere],
  ] as const) {
    const what = isSteered ? 'sent now' : 'queued';
    test(
      `Stop ${place} interrupts a running tool, and the message that was ${what} is answered`,
      { timeout: 300_000 },
      () =>
        working(async ({ user, chatId, streaming }) => {
          const id = await queue(user, chatId, 'instead');
          if (isSteered) assert.equal((await steer(user, chatId, id)).status, 200);
          const stopped = await at(user).call(`POST /api/chat/${chatId}/stop`, {});
          assert.equal(stopped.body.stopped, true);
          const { done, frames } = await streaming;
          assert.equal(done, true);
          assert.equal(frames.at(-1)?.frame.type, 'data-next');
          const { messages } = await settled(user, chatId, 4);
          assert.deepEqual([messages[1].status, textOf(messages[3])], ['stopped', 'heard instead']);
        }),
    );
  }
}

test('Stop does not wait for an MCP server that does not list its tools', { timeout: 300_000 }, async () => {
  const fake = await startFakeMcp([echoTool]);
  const gate = Promise.withResolvers<undefined>();
  // Each answer has to ask it.
  fake.announces = false;
  try {
    const user = await app.signIn();
    await addModels(user, provider, ['works']);
    const { body } = await user.call('POST /api/mcp', { name: 'Fake', url: fake.url });
    await user.call('POST /api/mcp/trust', { id: body.server.id });
    const asked = Promise.withResolvers<void>();
    fake.hook = ({ method }) => {
      if (method !== 'tools/list') return undefined;
      asked.resolve();
      return gate.promise;
    };
    const chatId = await createChat(user);
    const messageId = await submit(user, chatId, 'hello');
    const streaming = postChat(user, { chatId, messageId }).then((response) => readStream(response));
    await asked.promise;
    await user.call(`POST /api/chat/${chatId}/stop`, {});
    await streaming;
    const { messages } = await settled(user, chatId, 2);
    assert.equal(messages[1].status, 'stopped');
    const [after] = (await user.call('GET /api/mcp')).body.servers;
    assert.equal(after.lastError, null, 'it was not waited for until its time was over');
  } finally {
    gate.resolve(undefined);
    await fake.close();
  }
});
