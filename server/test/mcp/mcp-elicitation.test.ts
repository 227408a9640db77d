import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { after, before, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { createCaller, type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import {
  addModels,
  type Collected,
  chatDetail,
  createChat,
  passLease,
  postChat,
  readStream,
  submit,
  untilStored,
} from '../chat/chat-harness.ts';
import { startEverything } from '../everything.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';

/** Questions that the protocol's reference server, a process of its own, asks the user while its tool runs. */

let app: TestApp;
let second: TestApp;
let provider: FakeProvider;
let everything: { url: string; child: ChildProcess };
const timings = { heartbeatMs: 300, sweepMs: 300, dispatchMs: 100, tickMs: 20 };
before(async () => {
  provider = await startFakeProvider();
  everything = await startEverything('streamableHttp');
  app = await startTestApp({ timings });
  second = await startTestApp({ timings, database: app.database });
});
after(async () => {
  everything.child.kill('SIGKILL');
  await second.stop();
  await app.stop();
  await provider.close();
});

const at = (other: TestApp, user: SignedIn): SignedIn => {
  return { ...createCaller(other.url, user.cookie), id: user.id, email: user.email };
};
const reply = (user: SignedIn, chatId: string, body: object) => user.call(`POST /api/chat/${chatId}/answers`, body);

type Scene = { user: SignedIn; chatId: string; asked: Json; streaming: Promise<Collected> };

async function asking(order: string, work: (scene: Scene) => Promise<void>, where: TestApp = app): Promise<void> {
  const user = await where.signIn();
  await addModels(user, provider, ['order']);
  const { body } = await user.call('POST /api/mcp', { name: 'Everything', url: everything.url });
  // Its hints make Homeport ask before this tool.
  await user.call('PATCH /api/mcp', { id: body.server.id, toolPolicies: { 'trigger-url-elicitation': 'allow' } });
  await user.call('POST /api/mcp/trust', { id: body.server.id, fingerprint: body.server.fingerprint });
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, order);
  const questionAsked = Promise.withResolvers<Json>();
  const streaming = readStream(await postChat(user, { chatId, messageId }), ({ frame }) => {
    if (frame.type === 'data-question') questionAsked.resolve(frame.data);
    return false;
  });
  await work({ user, chatId, asked: await questionAsked.promise, streaming });
  await streaming.catch(() => undefined);
}

const form = 'mcp__Everything__trigger-elicitation-request {}';
const optional = (asked: Json) => asked.questions.map(({ field }: Json) => (field.name === 'name' ? 'Ada' : null));

test('asks a form of every kind of field, accepts one answer from any replica, and returns it to the server', () =>
  asking(form, async ({ user, chatId, asked, streaming }) => {
    assert.equal(asked.from.server, 'Everything');
    assert.ok(asked.from.message.length > 5);
    const named = (name: string) => asked.questions.findIndex(({ field }: Json) => field.name === name);
    const [listed] = (await user.call('GET /api/chats')).body.chats;
    assert.deepEqual([listed.running, listed.waiting], [true, true]);
    const answers: Json[] = optional(asked);
    const { questionId } = asked;
    for (const [name, wrong] of [
      ['name', null],
      ['integer', '1.5'],
      ['integer', 'many'],
      ['check', 'Maybe'],
      ['untitledSingleSelectEnum', 'Nobody'],
    ] as const) {
      const refused = await reply(user, chatId, { questionId, answers: answers.with(named(name), wrong) });
      assert.deepEqual([refused.status, refused.body.error.details[0].path], [400, `answers.${named(name)}`], name);
    }
    answers[named('check')] = 'Yes';
    answers[named('integer')] = '42';
    answers[named('titledSingleSelectEnum')] = 'Green Lantern';
    answers[named('titledMultipleSelectEnum')] = ['Tuna', 'Trout'];
    const clients = Array.from({ length: 6 }, (_, index) => (index % 2 === 0 ? user : at(second, user)));
    const given = await Promise.all(clients.map((client) => reply(client, chatId, { questionId, answers })));
    assert.deepEqual(given.map(({ status }) => status).sort(), [200, 409, 409, 409, 409, 409]);
    const { text, frames } = await streaming;
    const rawResult = text.slice(text.indexOf('Raw result')).replaceAll('\\', '');
    assert.match(rawResult, /"action": "accept"/);
    for (const part of [/"name": "Ada"/, /"check": true/, /"integer": 42/, /"hero-2"/, /"fish-1"/, /"fish-3"/])
      assert.match(rawResult, part);
    assert.doesNotMatch(rawResult, /fish-2|"number"/);
    const last = frames.findLast(({ frame }) => frame.type === 'data-question')?.frame as Json;
    assert.deepEqual([last.data.questionId, last.data.outcome], [questionId, 'accept']);
    const [, message] = (await chatDetail(user, chatId)).messages;
    const parts = message.parts.filter(({ type }: Json) => type === 'data-question');
    assert.deepEqual(
      parts.map(({ data }: Json) => data.outcome),
      ['accept'],
    );
  }));

test('a declined form and another message instead reach the server as different actions', async () => {
  await asking(form, async ({ user, chatId, asked, streaming }) => {
    const { questionId } = asked;
    assert.equal((await reply(user, chatId, { questionId, answers: [], action: 'decline' })).status, 200);
    assert.match((await streaming).text, /"action": "decline"/);
  });
});

test('shows an address to open with its server, and asks no further question', () =>
  asking(
    'mcp__Everything__trigger-url-elicitation {"url":"https://example.org/pay?x=1","message":"Pay there"}',
    async (scene) => {
      const { user, chatId, asked, streaming } = scene;
      assert.deepEqual(asked.from, { server: 'Everything', message: 'Pay there', url: 'https://example.org/pay?x=1' });
      assert.equal((await reply(user, chatId, { questionId: asked.questionId, answers: [] })).status, 200);
      assert.match((await streaming).text, /User completed the URL elicitation/);
    },
  ));

test('declines an address without https without asking', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['order']);
  const { body } = await user.call('POST /api/mcp', { name: 'Everything', url: everything.url });
  // Its hints make Homeport ask before this tool.
  await user.call('PATCH /api/mcp', { id: body.server.id, toolPolicies: { 'trigger-url-elicitation': 'allow' } });
  await user.call('POST /api/mcp/trust', { id: body.server.id, fingerprint: body.server.fingerprint });
  const chatId = await createChat(user);
  const messageId = await submit(
    user,
    chatId,
    'mcp__Everything__trigger-url-elicitation {"url":"http://192.168.0.1/x"}',
  );
  const { text, frames } = await readStream(await postChat(user, { chatId, messageId }));
  assert.match(text, /User declined/);
  assert.ok(!frames.some(({ frame }) => frame.type === 'data-question'));
});

test('after a crash the call is stored as interrupted, the question is closed, and no answer continues it', async () => {
  const crashed = await startTestApp({
    timings: { ...timings, heartbeatMs: 600_000, sweepMs: 600_000, leaseLookMs: 600_000 },
    database: app.database,
  });
  await asking(
    form,
    async ({ user, chatId, asked }) => {
      const here = at(app, user);
      await untilStored(app, chatId, 'data-question');
      await passLease(app, chatId);
      const message = await until(async () => {
        const [, found] = (await chatDetail(here, chatId)).messages;
        return found.status === 'interrupted' ? found : undefined;
      });
      const call = message.parts.find(({ type }: Json) => type === 'dynamic-tool');
      assert.deepEqual(
        [call.state, /Interrupted before the tool returned/.test(call.errorText)],
        ['output-error', true],
      );
      const late = await reply(here, chatId, { questionId: asked.questionId, answers: optional(asked) });
      assert.deepEqual([late.status, late.body.error.code], [409, 'input_applied']);
      const [listed] = (await here.call('GET /api/chats')).body.chats;
      assert.deepEqual([listed.running, listed.waiting ?? false], [false, false]);
      void crashed.stop();
    },
    crashed,
  );
});
