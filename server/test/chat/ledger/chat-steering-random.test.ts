import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../../../../contracts/test/until.ts';
import { askTool } from '../../../src/chat/tools/ask-tool.ts';
import type { ToolUser } from '../../../src/chat/tools/find-tools.ts';
import type { Tool } from '../../../src/chat/tools/tool-run.ts';
import { createCaller, type Json, type SignedIn, startTestApp, type TestApp } from '../../app.ts';
import { type FakeProvider, startFakeProvider } from '../../fakes/provider/provider.ts';
import { chunk, finish, say } from '../../fakes/provider/provider-scripts.ts';
import { addModels, chatDetail, createChat, submission } from '../chat-harness.ts';
import { random } from '../turn/compaction-harness.ts';

/**
 * Random concurrent actions of users and failures on a conversation, at two replicas: every message is delivered
 * exactly once, in order, and nothing waits forever. More of them: STEERING_RUNS=5000.
 */

const runs = Number(process.env.STEERING_RUNS ?? '8');
const firstSeed = Number(process.env.STEERING_SEED ?? '1');
const atOnce = 8;
const acts = 12;
const timings = {
  heartbeatMs: 100,
  sweepMs: 100,
  dispatchMs: 50,
  watchMs: 50,
  tickMs: 20,
  graceMs: 100,
};
type Gate = ReturnType<typeof Promise.withResolvers<void>>;
/** Gates by conversation, for its tools. Opened now and then during a walk, and permanently at its end. */
const gates = new Map<string, Gate>();
const pausing = (chatId: string): Tool => ({
  name: 'pause',
  description: 'Takes a moment',
  inputSchema: { type: 'object' },
  execute: async (_input, { signal }) => {
    const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    await Promise.race([gates.get(chatId)?.promise, aborted]);
    return 'paused';
  },
});

/** How often each call ran, of the tool that asks first. */
const signed = new Map<string, number>();
const signing: Tool = {
  name: 'sign',
  description: 'Signs',
  inputSchema: { type: 'object' },
  readPolicy: async () => 'ask',
  execute: async (_input, { toolCallId }) => {
    signed.set(toolCallId, (signed.get(toolCallId) ?? 0) + 1);
    return 'signed';
  },
};

const replicas: TestApp[] = [];
let provider: FakeProvider;
before(async () => {
  provider = await startFakeProvider();
  // Follows the last message: uses a tool first, asks first, or just answers.
  provider.script('walks', (call) => {
    const last = (call.body.messages ?? []).at(-1);
    const word = last?.role === 'user' ? String(last.content).split(' ')[0] : '';
    const uses = {
      tool: ['pause', '{}'],
      sign: ['sign', '{}'],
      ask: ['ask', '{"questions":[{"question":"Well?"}]}'],
    }[word ?? ''];
    if (uses === undefined) return { steps: [...say('done'), ...finish(call, 1)] };
    const [name, text] = uses;
    const tool = { index: 0, id: `call-${call.count}`, function: { name, arguments: text } };
    return { steps: [chunk({ tool_calls: [tool] }), ...finish(call, 1, 'tool_calls')] };
  });
  const options = {
    timings,
    findTools: async ({ response }: ToolUser) => [pausing(response.chat_id), signing, askTool],
  };
  const first = await startTestApp(options);
  replicas.push(first, await startTestApp({ ...options, database: first.database }));
});
after(async () => {
  for (const replica of replicas.toReversed()) await replica.stop();
  await provider.close();
});

type Sent = { id: string; isCancelled: boolean; isCertain: boolean; steered: number | undefined };

/** One walk; its failures begin with its seed. */
async function walk(seed: number, user: SignedIn): Promise<void> {
  const next = random(seed);
  const chatId = await createChat(user);
  const openGate = (nextGate?: Gate): void => {
    gates.get(chatId)?.resolve();
    if (nextGate !== undefined) gates.set(chatId, nextGate);
  };
  openGate(Promise.withResolvers());
  const sent: Sent[] = [];
  const trace: string[] = [];
  let orders = 0;
  const { pool } = (replicas[0] as TestApp).database.database;
  const anywhere = (): SignedIn => {
    const { url } = replicas[next(replicas.length)] as TestApp;
    return { ...createCaller(url, user.cookie), id: user.id, email: user.email };
  };
  const send = async (word: string): Promise<void> => {
    const body = submission(chatId, `${word} ${seed}`);
    const route = next(2) === 0 ? 'POST /api/chat/start' : 'POST /api/chat/turn-inputs';
    const { status } = await anywhere().call(route, body);
    if (status === 429) return;
    assert.equal(status, 201);
    sent.push({ id: body.message.id, isCancelled: false, isCertain: true, steered: undefined });
  };
  const steer = async (): Promise<void> => {
    const one = sent[next(sent.length)];
    if (one === undefined) return;
    const { status } = await anywhere().call('PATCH /api/chat/turn-inputs', { chatId, id: one.id, steer: true });
    assert.ok(status === 200 || status === 409, `steering answered ${status}`);
    if (status === 200) one.steered ??= ++orders;
  };
  const cancel = async (): Promise<void> => {
    const one = sent[next(sent.length)];
    if (one === undefined) return;
    const { status } = await anywhere().call('DELETE /api/chat/turn-inputs', undefined, {
      query: { chatId, id: one.id },
    });
    assert.ok(status === 200 || status === 409, `cancelling answered ${status}`);
    if (status === 200) one.isCancelled = true;
  };
  const stop = () => anywhere().call(`POST /api/chat/${chatId}/stop`, {});
  const reply = async (): Promise<void> => {
    const { rows } = await pool.query(
      `select id, questions is null as "isApproval" from tool_approvals
        where chat_id = $1 and answered_at is null and settled_at is null`,
      [chatId],
    );
    const answers = await Promise.all(
      rows.flatMap(({ id, isApproval }) =>
        [anywhere(), anywhere()].map((who) =>
          isApproval
            ? who.call(`POST /api/chat/${chatId}/approvals`, { approvalId: id, approved: next(3) > 0 })
            : who.call(`POST /api/chat/${chatId}/answers`, { questionId: id, answers: ['Yes'] }),
        ),
      ),
    );
    const counted = answers.filter(({ status }) => status === 200).length;
    assert.ok(counted <= rows.length, 'a question is answered once');
    assert.ok(answers.every(({ status }) => status === 200 || status === 409));
  };
  // As after a crash of the response's replica: its lease is not renewed, and its writes find no row.
  const crash = () =>
    pool.query(
      `update responses set replica = 'gone', generation = generation + 1, lease_until = now() - interval '1 second'
        where chat_id = $1 and state = 'running'`,
      [chatId],
    );
  const resume = () => anywhere().call('POST /api/chat', { chatId, resume: true, detach: true });
  const able: [string, () => Promise<unknown>][] = [
    ['send', () => send('say')],
    ['work', () => send('tool')],
    ['work', () => send('tool')],
    ['question', () => send('ask')],
    ['approval', () => send('sign')],
    ['steer', steer],
    ['steer', steer],
    ['steer', steer],
    ['cancel', cancel],
    ['stop', stop],
    ['reply', reply],
    ['crash', crash],
    ['resume', resume],
  ];
  const label = () => `seed ${seed}: ${trace.join(', ')}`;
  try {
    await send('tool');
    for (let act = 0; act < acts; act++) {
      const [name, work] = able[next(able.length)] as (typeof able)[number];
      trace.push(name);
      await work();
      if (next(2) === 0) openGate(Promise.withResolvers());
      if (next(3) === 0) await chatDetail(user, chatId);
    }
    openGate();
    await send('say');
    const detail: Json = await until(`everything is over (${label()})`, async () => {
      await reply();
      const found = await chatDetail(user, chatId);
      return found.response === null && found.inputs.length === 0 ? found : undefined;
    });
    check(detail, sent);
  } catch (error) {
    throw new Error(label(), { cause: error });
  } finally {
    openGate();
  }
}

function check(detail: Json, sent: readonly Sent[]): void {
  const delivered: string[] = detail.messages.flatMap((message: Json) => (message.role === 'user' ? [message.id] : []));
  const kept = sent.filter(({ isCancelled }) => !isCancelled);
  assert.deepEqual(
    [...delivered].sort(),
    kept.map(({ id }) => id).sort(),
    'each message once, and none that was taken back',
  );
  const place = ({ id }: Sent) => delivered.indexOf(id);
  for (const [index, one] of kept.entries()) {
    for (const later of kept.slice(index + 1)) {
      if (later.steered === undefined)
        assert.ok(place(one) < place(later), 'a message that was not sent now passes none');
    }
  }
  const last = detail.messages.at(-1);
  assert.equal(last.role, 'assistant', 'the last word is an answer');
  for (const { role, status } of detail.messages) assert.ok(role === 'user' || status !== 'streaming');
  const ran = [...signed.values()];
  assert.ok(
    ran.every((count) => count === 1),
    'what was allowed runs once',
  );
}

test(`${runs} random walks deliver every message once (seeds from ${firstSeed})`, {
  timeout: 180_000 + runs * 2_000,
}, async () => {
  const user = await (replicas[0] as TestApp).signIn();
  await addModels(user, provider, ['walks']);
  const seeds = Array.from({ length: runs }, (_, index) => firstSeed + index);
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) await walk(seed, user);
    }),
  );
});
