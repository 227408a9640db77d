import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { interruptExpired } from '../../src/chat/ledger/interruption.ts';
import { createCaller, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import {
  addModels,
  chatDetail,
  createChat,
  partsOf,
  passLease,
  postChat,
  readStream,
  type StreamedFrame,
  submit,
  untilStored,
} from '../chat/chat-harness.ts';
import { echoTool, type FakeMcp, startFakeMcp } from '../fakes/mcp-server.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';
import { chunk, finish, say } from '../fakes/provider/provider-scripts.ts';

let app: TestApp;
let second: TestApp;
let provider: FakeProvider;
const timings = { heartbeatMs: 300, sweepMs: 300, dispatchMs: 100, tickMs: 20 };
before(async () => {
  provider = await startFakeProvider();
  // Calls `wipe` and `echo` in parallel, then writes their results.
  provider.script('asks', (call) => {
    const messages = call.body.messages ?? [];
    if (messages.at(-1)?.role === 'tool') {
      const results = messages.flatMap(({ role, content }) => (role === 'tool' ? [String(content)] : []));
      return { steps: [...say(`got ${results.join(' | ')}`), ...finish(call, 3)] };
    }
    const calls = ['wipe', 'echo'].map((name, index) => ({
      index,
      id: `call-${name}`,
      function: { name: `mcp__Fake__${name}`, arguments: `{"text":"${name}"}` },
    }));
    return { steps: [chunk({ tool_calls: calls }), ...finish(call, 2, 'tool_calls')] };
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
  fake: FakeMcp;
  chatId: string;
  approvalId: string;
  streaming: ReturnType<typeof readStream>;
  count(name: string): number;
};

/** A response that waits for the decision about `wipe`, while `echo` has run. */
async function waiting(work: (scene: Scene) => Promise<void>, at: TestApp = app): Promise<void> {
  const fake = await startFakeMcp([echoTool, { ...echoTool, name: 'wipe' }]);
  try {
    const user = await at.signIn();
    await addModels(user, provider, ['asks']);
    const { body } = await user.call('POST /api/mcp', { name: 'Fake', url: fake.url, toolPolicies: { wipe: 'ask' } });
    await user.call('POST /api/mcp/trust', { id: body.server.id });
    const chatId = await createChat(user);
    const messageId = await submit(user, chatId, 'go');
    const asked = Promise.withResolvers<string>();
    const onFrame = ({ frame }: StreamedFrame): boolean => {
      if (frame.type === 'tool-approval-request') asked.resolve(frame.approvalId);
      return false;
    };
    const streaming = readStream(await postChat(user, { chatId, messageId }), onFrame);
    const approvalId = await asked.promise;
    const count = (name: string) => fake.calls.filter((call) => call.name === name).length;
    await until(async () => count('echo') === 1);
    await work({ user, fake, chatId, approvalId, streaming, count });
  } finally {
    await fake.close();
  }
}

const word = (user: SignedIn, chatId: string, body: object) => user.call(`POST /api/chat/${chatId}/approvals`, body);
const elsewhere = (user: SignedIn): SignedIn => ({
  ...createCaller(second.url, user.cookie),
  id: user.id,
  email: user.email,
});

/** As after a crash, once the whole result of `echo` was stored. */
async function loseLease(chatId: string): Promise<void> {
  await untilStored(app, chatId, 'tool-output-available');
  await passLease(app, chatId);
}

async function ended(user: SignedIn, chatId: string) {
  return until(async () => {
    const detail = await chatDetail(user, chatId);
    return detail.response === null && detail.messages.at(-1).status !== 'interrupted' ? detail : undefined;
  });
}

test('approved: runs the tool once, however many clients approve at the same time', () =>
  waiting(async ({ user, chatId, approvalId, streaming, count }) => {
    assert.equal(count('wipe'), 0);
    const reloaded = await chatDetail(user, chatId);
    const [listed] = (await user.call('GET /api/chats')).body.chats;
    assert.deepEqual([listed.running, listed.waiting, listed.lastStatus], [true, true, 'streaming']);
    const part = reloaded.messages[1].parts.find((item: { state?: string }) => item.state === 'approval-requested');
    assert.equal(part.approval.id, approvalId, 'a page that is loaded now can answer');
    const clients = Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? user : elsewhere(user)));
    const answers = await Promise.all(clients.map((client) => word(client, chatId, { approvalId, approved: true })));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(9).fill(409)]);
    assert.ok(answers.every(({ status, body }) => status === 200 || body.error.code === 'input_applied'));
    const streamed = await streaming;
    assert.equal(streamed.done, true);
    assert.match(streamed.text, /"wipe".*\|.*"echo"/);
    assert.deepEqual([count('wipe'), count('echo')], [1, 1]);
    const detail = await ended(user, chatId);
    assert.deepEqual(detail.messages[1].parts, partsOf(streamed.frames));
    const stored = detail.messages[1].parts.find((item: { toolCallId?: string }) => item.toolCallId === 'call-wipe');
    assert.deepEqual(stored.approval, { id: approvalId, approved: true });
    assert.equal(stored.state, 'output-available');
    const [after] = (await user.call('GET /api/chats')).body.chats;
    assert.deepEqual([after.running, after.waiting, after.lastStatus], [false, false, 'complete']);
  }));

test('allowed for the conversation: runs the tool there without asking again, and asks in every other', () =>
  waiting(async ({ user, chatId, approvalId, streaming, count }) => {
    assert.equal((await word(user, chatId, { approvalId, approved: true, remember: 'conversation' })).status, 200);
    assert.equal((await streaming).done, true);
    const messageId = await submit(user, chatId, 'again');
    assert.equal((await readStream(await postChat(user, { chatId, messageId }))).done, true);
    assert.equal(count('wipe'), 2);
    const other = await createChat(user);
    const first = await submit(user, other, 'go');
    const asked = (each: StreamedFrame): boolean => each.frame.type === 'tool-approval-request';
    await readStream(await postChat(user, { chatId: other, messageId: first }), asked);
    assert.equal(count('wipe'), 2, 'another conversation asks');
  }));

test('stores nothing about a refusal, and a denied tool stays denied', () =>
  waiting(async ({ user, chatId, approvalId, streaming, count }) => {
    await word(user, chatId, { approvalId, approved: false, remember: 'conversation' });
    await streaming;
    const messageId = await submit(user, chatId, 'again');
    const asked = (each: StreamedFrame): boolean => each.frame.type === 'tool-approval-request';
    const frames: StreamedFrame[] = (await readStream(await postChat(user, { chatId, messageId }), asked)).frames;
    const request = frames.find(({ frame }) => frame.type === 'tool-approval-request');
    assert.ok(request?.frame.type === 'tool-approval-request');
    const again = { approvalId: request.frame.approvalId, approved: true, remember: 'conversation' };
    assert.equal((await word(user, chatId, again)).status, 200);
    await until(async () => count('wipe') === 1);
    await ended(user, chatId);
    const { id } = (await user.call('GET /api/mcp')).body.servers[0];
    await user.call('PATCH /api/mcp', { id, toolPolicies: { wipe: 'deny' } });
    const last = await submit(user, chatId, 'once more');
    assert.equal((await readStream(await postChat(user, { chatId, messageId: last }))).done, true);
    assert.equal(count('wipe'), 1, 'never is never');
  }));

test('denied: does not run the tool and sends the model the reason', () =>
  waiting(async ({ user, chatId, approvalId, streaming, count }) => {
    assert.equal((await word(user, chatId, { approvalId, approved: false, reason: 'Not today' })).status, 200);
    const streamed = await streaming;
    assert.match(streamed.text, /did not allow this call. They said: Not today/);
    assert.equal(count('wipe'), 0);
    const [, message] = (await ended(user, chatId)).messages;
    const stored = message.parts.find((item: { toolCallId?: string }) => item.toolCallId === 'call-wipe');
    assert.equal(stored.state, 'output-denied');
    assert.deepEqual(stored.approval, { id: approvalId, approved: false, reason: 'Not today' });
  }));

test("answers 404 for another user's question or none, and 400 for invalid decisions", () =>
  waiting(async ({ user, chatId, approvalId, count }) => {
    const stranger = await app.signIn();
    const own = await createChat(stranger);
    for (const answer of [
      await word(stranger, chatId, { approvalId, approved: true }),
      await word(stranger, own, { approvalId, approved: true }),
      await word(user, await createChat(user), { approvalId, approved: true }),
      await word(user, chatId, { approvalId: 'none', approved: true }),
    ]) {
      assert.deepEqual([answer.status, answer.body.error.code], [404, 'not_found']);
    }
    assert.equal((await word(user, chatId, { approvalId })).status, 400);
    assert.equal(count('wipe'), 0);
    await user.call(`POST /api/chat/${chatId}/stop`, {});
    await ended(user, chatId);
  }));

test('Stop works during a wait for approval, and closes the question', () =>
  waiting(async ({ user, chatId, approvalId, streaming, count }) => {
    assert.equal((await elsewhere(user).call(`POST /api/chat/${chatId}/stop`, {})).body.stopped, true);
    await streaming;
    const [, message] = (await ended(user, chatId)).messages;
    assert.equal(message.status, 'stopped');
    const late = await word(user, chatId, { approvalId, approved: true });
    assert.deepEqual([late.status, late.body.error.code], [409, 'input_applied']);
    assert.equal(count('wipe'), 0);
  }));

test('no replica interrupts a response that waits longer than a lease', () =>
  waiting(async ({ user, chatId, approvalId, streaming, count }) => {
    const { pool } = app.database.database;
    const lease = async (): Promise<Date> =>
      (await pool.query('select lease_until from responses where chat_id = $1', [chatId])).rows[0].lease_until;
    for (let beat = 0; beat < 3; beat += 1) {
      const before = await lease();
      await until('the lease is renewed', async () => (await lease()) > before);
      await interruptExpired(second.service.deps);
    }
    assert.equal((await chatDetail(user, chatId)).messages[1].status, 'streaming');
    assert.equal((await word(elsewhere(user), chatId, { approvalId, approved: true })).status, 200);
    assert.equal((await streaming).done, true);
    assert.equal(count('wipe'), 1);
  }));

for (const approved of [true, false]) {
  test(`a question can be decided after its service is gone, and the turn continues (approved: ${approved})`, async () => {
    const gone = await startTestApp({ timings, database: app.database });
    await waiting(async ({ user, chatId, approvalId, count }) => {
      await gone.service.deps.responses.drain(60_000);
      const here: SignedIn = { ...createCaller(app.url, user.cookie), id: user.id, email: user.email };
      const parked = await until(async () => {
        const detail = await chatDetail(here, chatId);
        return detail.messages[1].status === 'interrupted' ? detail : undefined;
      });
      const waitingPart = parked.messages[1].parts.find(
        (item: { state?: string }) => item.state === 'approval-requested',
      );
      assert.equal(waitingPart.approval.id, approvalId);
      assert.equal((await word(here, chatId, { approvalId, approved })).status, 200);
      const [, message] = (await ended(here, chatId)).messages;
      assert.equal(message.status, 'complete');
      assert.match(message.parts.at(-1).text, approved ? /"wipe".*"echo"/ : /did not allow.*"echo"/);
      assert.deepEqual([count('wipe'), count('echo')], [approved ? 1 : 0, 1], 'the other tool is not run again');
      assert.equal((await word(here, chatId, { approvalId, approved })).status, 409);
    }, gone);
    await gone.stop();
  });
}

test('after a crash the lease expires, the question stays, and an earlier decision counts', async () => {
  const crashed = await startTestApp({
    timings: { ...timings, heartbeatMs: 600_000, sweepMs: 600_000, leaseLookMs: 600_000 },
    database: app.database,
  });
  await waiting(async ({ user, chatId, approvalId, count }) => {
    const here: SignedIn = { ...createCaller(app.url, user.cookie), id: user.id, email: user.email };
    await loseLease(chatId);
    const detail = await until(async () => {
      const found = await chatDetail(here, chatId);
      return found.messages[1].status === 'interrupted' ? found : undefined;
    });
    assert.ok(detail.messages[1].parts.some((item: { state?: string }) => item.state === 'approval-requested'));
    assert.equal((await word(here, chatId, { approvalId, approved: true })).status, 200);
    const [, message] = (await ended(here, chatId)).messages;
    assert.equal(message.status, 'complete');
    assert.deepEqual([count('wipe'), count('echo')], [1, 1]);
  }, crashed);
  await crashed.stop();
});

test('a replica that lost a response unnoticed continues it without running a tool twice', async () => {
  const crashed = await startTestApp({
    timings: { ...timings, heartbeatMs: 600_000, sweepMs: 600_000, leaseLookMs: 600_000 },
    database: app.database,
  });
  const { responses } = crashed.service.deps;
  await waiting(async ({ user, chatId, approvalId, count }) => {
    const here: SignedIn = { ...createCaller(app.url, user.cookie), id: user.id, email: user.email };
    const { id } = (await chatDetail(here, chatId)).messages[1];
    const lost = responses.find(id);
    assert.ok(lost !== undefined);
    await loseLease(chatId);
    await until(async () => (await chatDetail(here, chatId)).messages[1].status === 'interrupted');
    await app.database.database.pool.query(
      'update tool_approvals set approved = true, answered_at = now() where id = $1',
      [approvalId],
    );
    await responses.continueAnswered(chatId);
    const [, message] = (await ended(here, chatId)).messages;
    assert.equal(message.status, 'complete');
    assert.deepEqual([count('wipe'), count('echo')], [1, 1]);
    // Either way, the first run ends at the latest with its replica.
    const stopped = crashed.stop();
    await lost.done;
    await stopped;
  }, crashed);
});

test('continued by hand before the decision, the response waits again for the same one', async () => {
  const gone = await startTestApp({ timings, database: app.database });
  await waiting(async ({ user, chatId, approvalId, count }) => {
    await gone.service.deps.responses.drain(60_000);
    const here: SignedIn = { ...createCaller(app.url, user.cookie), id: user.id, email: user.email };
    await until(async () => (await chatDetail(here, chatId)).messages[1].status === 'interrupted');
    const resumed = readStream(await postChat(here, { chatId, resume: true }));
    await until(async () => (await chatDetail(here, chatId)).response !== null);
    assert.equal((await word(elsewhere(user), chatId, { approvalId, approved: true })).status, 200);
    const streamed = await resumed;
    assert.match(streamed.text, /got .*wipe/);
    assert.deepEqual([count('wipe'), count('echo')], [1, 1]);
    assert.deepEqual((await ended(here, chatId)).messages[1].parts, partsOf(streamed.frames));
  }, gone);
  await gone.stop();
});

test('a tool that was denied in the meantime waits for no decision, and nothing continues with it', async () => {
  const gone = await startTestApp({ timings, database: app.database });
  await waiting(async ({ user, chatId, approvalId, count }) => {
    await gone.service.deps.responses.drain(60_000);
    const here: SignedIn = { ...createCaller(app.url, user.cookie), id: user.id, email: user.email };
    await until(async () => (await chatDetail(here, chatId)).messages[1].status === 'interrupted');
    const [server] = (await here.call('GET /api/mcp')).body.servers;
    await here.call('PATCH /api/mcp', { id: server.id, toolPolicies: { wipe: 'deny' } });
    const { pool } = app.database.database;
    const question = 'select settled_at is not null as closed from tool_approvals where id = $1';
    const resumed = await readStream(
      await postChat(here, { chatId, resume: true }),
      ({ frame }) => frame.type === 'tool-output-error',
    );
    assert.match(JSON.stringify(resumed.frames.at(-1)), /does not allow/);
    assert.deepEqual((await pool.query(question, [approvalId])).rows, [{ closed: true }]);
    assert.equal((await word(here, chatId, { approvalId, approved: true })).status, 409);
    await ended(here, chatId);
    assert.equal(count('wipe'), 0);
  }, gone);
  await gone.stop();
});

test('a conversation that continued without the response accepts no decision', async () => {
  const gone = await startTestApp({ timings, database: app.database });
  await waiting(async ({ user, chatId, approvalId, count }) => {
    await gone.service.deps.responses.drain(60_000);
    const here: SignedIn = { ...createCaller(app.url, user.cookie), id: user.id, email: user.email };
    await until(async () => (await chatDetail(here, chatId)).messages[1].status === 'interrupted');
    await addModels(here, provider, ['echo']);
    const { body } = await here.call('GET /api/providers');
    const models = body.providers.flatMap((item: { models: { id: string; providerModelId: string }[] }) => item.models);
    const modelId = models.find((model: { providerModelId: string }) => model.providerModelId === 'echo').id;
    const next = await submit(here, chatId, 'never mind', { modelId });
    await readStream(await postChat(here, { chatId, messageId: next }));
    const late = await word(here, chatId, { approvalId, approved: true });
    assert.deepEqual([late.status, late.body.error.code], [409, 'input_applied']);
    assert.equal(count('wipe'), 0);
  }, gone);
  await gone.stop();
});
