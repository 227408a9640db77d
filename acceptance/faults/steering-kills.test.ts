import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { Pool } from 'pg';
import { seededRandom } from '../../contracts/test/seeded-random.ts';
import { until } from '../../contracts/test/until.ts';
import { startMcp, type TestMcp } from '../browser/mcp-server.ts';
import {
  type Answer,
  addModels,
  Caller,
  freePort,
  type Json,
  pause,
  type Running,
  scratchFolder,
  seedOf,
  setUp,
  startProduct,
  startProgram,
} from '../product.ts';
import { allMessages, chatDetail, createChat, submission } from './conversation.ts';
import { type ModelServer, plainText, startModelServer } from './model-server.ts';

/**
 * Two replicas as processes, killed in turn with kill -9 while people send, queue, steer, cancel, stop, answer and
 * allow: every message is delivered once, in order, nothing that was allowed runs twice, and nothing waits for ever.
 */

const kills = Number(process.env.STEERING_KILLS ?? 2);
const conversations = Number(process.env.STEERING_CHATS ?? 10);
/** A lease expires after fifteen seconds without renewal. */
const settledWithinMs = 120_000;
const schema = { type: 'object', properties: { of: { type: 'string' } } };
const tools = ['work', 'sign'].map((name) => ({ name, description: name, inputSchema: schema }));

type Place = { dataDir: string; port: number };
type Sent = { id: string; isTold: boolean | undefined; isSteered: boolean };

let database: Running;
let model: ModelServer;
let mcp: TestMcp;
let rows: Pool;
let cookie: string;
const places: Place[] = [];
const replicas: Running[] = [];
const env: Record<string, string> = { AUTH_SECRET: randomUUID(), SETTINGS_ENCRYPTION_KEY: randomUUID() };
const random = seededRandom(seedOf('steering kills'));

before(async () => {
  database = await startProgram('scripts/test/throw-away-postgres.mjs');
  env.DATABASE_URL = database.url;
  // Follows the message: uses a tool first, asks first, or just answers.
  model = await startModelServer((messages, toolNames) => {
    const last = messages.at(-1);
    const [word = '', of = ''] = last?.role === 'user' ? plainText(last.content).split(' ') : [];
    if (word === 'ask') return { id: `call-${of}`, name: 'ask', input: { questions: [{ question: 'Well?' }] } };
    const name = toolNames.find((tool) => word !== '' && tool.endsWith(word));
    return name === undefined ? { say: 'done' } : { id: `call-${of}`, name, input: { of } };
  });
  mcp = await startMcp(tools);
  mcp.beforeAnswer = () => pause(random() * 600);
  for (let count = 0; count < 2; count += 1) places.push({ dataDir: scratchFolder(), port: await freePort() });
  replicas.push(...(await Promise.all(places.map(({ dataDir, port }) => startProduct(dataDir, env, port)))));
  const caller = await setUp(replicas[0]?.url ?? '');
  cookie = caller.cookie;
  await addModels(caller, model.url, ['walks']);
  const added = { name: 'Tools', url: mcp.url, toolPolicies: { work: 'allow', sign: 'ask' } };
  const { server } = await caller.must('POST', '/api/mcp', added);
  await caller.must('POST', '/api/mcp/trust', { id: server.id, fingerprint: server.fingerprint });
  rows = new Pool({ connectionString: database.url });
  rows.on('error', () => undefined);
});
after(async () => {
  model?.close();
  mcp?.close();
  await rows?.end();
  for (const replica of replicas) replica.kill('SIGKILL');
  database?.kill('SIGTERM');
  await database?.exited;
});

/** One of the replicas; without a response, it retries as clients do. */
async function insist(method: string, path: string, body?: object): Promise<Answer & { isRepeated: boolean }> {
  for (let attempt = 0; ; attempt += 1) {
    const { port } = places[Math.floor(random() * places.length)] ?? { port: 0 };
    const caller = new Caller(`http://127.0.0.1:${port}`, cookie);
    const answer = await caller.call(method, path, body).catch(() => undefined);
    if (answer !== undefined && answer.status < 500) return { ...answer, isRepeated: attempt > 0 };
    await pause(50);
  }
}

/** Does one thing after the other in a conversation until `isOver`. */
async function walk(chatId: string, sent: Sent[], isOver: () => boolean): Promise<void> {
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
  const send = async (word: string): Promise<void> => {
    const id = randomUUID();
    const route = pick(['/api/chat/start', '/api/chat/turn-inputs']) ?? '';
    const { status, text } = await insist('POST', route, submission(chatId, id, `${word} ${id}`));
    if (status === 429) return;
    assert.ok(status === 201 || status === 200, `${route}: ${status} ${text}`);
    sent.push({ id, isTold: true, isSteered: false });
  };
  const steer = async (): Promise<void> => {
    const one = pick(sent);
    if (one === undefined) return;
    const { status, isRepeated } = await insist('PATCH', '/api/chat/turn-inputs', { chatId, id: one.id, steer: true });
    assert.ok(status === 200 || status === 409, `steering answered ${status}`);
    one.isSteered ||= status === 200 || isRepeated;
  };
  const cancel = async (): Promise<void> => {
    const one = pick(sent);
    if (one === undefined) return;
    const { status } = await insist('DELETE', `/api/chat/turn-inputs?chatId=${chatId}&id=${one.id}`);
    assert.ok(status === 200 || status === 409, `cancelling answered ${status}`);
    if (status === 200) one.isTold = false;
  };
  const able = [
    () => send('say'),
    () => send('work'),
    () => send('work'),
    () => send('ask'),
    () => send('sign'),
    steer,
    steer,
    cancel,
    () => insist('POST', `/api/chat/${chatId}/stop`, {}),
    () => reply(chatId),
    () => insist('POST', '/api/chat', { chatId, resume: true, detach: true }),
  ];
  while (!isOver()) {
    await pick(able)?.();
    await pause(random() * 300);
  }
}

/** Answers pending questions and approvals, twice concurrently. */
async function reply(chatId: string): Promise<void> {
  const { rows: waiting } = await rows.query(
    `select id, questions is null as "isApproval" from tool_approvals
      where chat_id = $1 and answered_at is null and settled_at is null`,
    [chatId],
  );
  for (const { id, isApproval } of waiting) {
    const [path, body] = isApproval
      ? ['approvals', { approvalId: id, approved: random() < 0.7 }]
      : ['answers', { questionId: id, answers: ['Yes'] }];
    const both = [1, 2].map(() => insist('POST', `/api/chat/${chatId}/${path}`, body as object));
    const answers = await Promise.all(both);
    assert.ok(answers.every(({ status }) => status === 200 || status === 409));
    assert.ok(answers.filter(({ status }) => status === 200).length <= 1, 'a question is answered once');
  }
}

/** All messages, after all responses have ended and no input waits. */
async function settle(chatId: string): Promise<Json[]> {
  const { port } = places[0] ?? { port: 0 };
  const caller = new Caller(`http://127.0.0.1:${port}`, cookie);
  const ended = async () => {
    await reply(chatId);
    const detail = await chatDetail(caller, chatId);
    return detail.response === null && detail.inputs.length === 0;
  };
  await until(`everything is over in ${chatId}`, ended, settledWithinMs);
  return allMessages(caller, chatId);
}

function check(messages: readonly Json[], sent: readonly Sent[]): void {
  const told: string[] = messages.flatMap(({ role, id }) => (role === 'user' ? [id] : []));
  const kept = sent.filter(({ isTold }) => isTold).map(({ id }) => id);
  assert.deepEqual([...told].sort(), [...kept].sort(), 'each message once, and none that was taken back');
  const place = new Map(told.map((id, index) => [id, index]));
  const inOrder = sent.filter(({ isTold, isSteered }) => isTold && !isSteered).map(({ id }) => place.get(id) ?? -1);
  assert.deepEqual(
    inOrder,
    inOrder.toSorted((a, b) => a - b),
    'messages that were not sent now keep their order',
  );
  assert.equal(messages.at(-1)?.role, 'assistant', 'the last word is an answer');
  assert.ok(messages.every(({ status }) => status !== 'streaming'));
}

test(`answers each message of ${conversations} conversations once at two replicas over ${kills} times kill -9`, {
  timeout: 180_000 + kills * 60_000,
}, async () => {
  const caller = new Caller(replicas[0]?.url ?? '', cookie);
  const talks = await Promise.all(
    Array.from({ length: conversations }, async () => ({ chatId: await createChat(caller), sent: [] as Sent[] })),
  );
  let isOver = false;
  const work = Promise.all(talks.map(({ chatId, sent }) => walk(chatId, sent, () => isOver)));
  for (let kill = 0; kill < kills; kill += 1) {
    await pause(800 + random() * 1_500);
    const place = places[kill % 2];
    if (place === undefined) break;
    replicas[kill % 2]?.kill('SIGKILL');
    await replicas[kill % 2]?.exited;
    replicas[kill % 2] = await startProduct(place.dataDir, env, place.port);
  }
  isOver = true;
  await work;
  for (const { chatId, sent } of talks) {
    const id = randomUUID();
    await until('there is room', async () => {
      await reply(chatId);
      return (await insist('POST', '/api/chat/start', submission(chatId, id, `say ${id}`))).status < 300;
    });
    sent.push({ id, isTold: true, isSteered: false });
    check(await settle(chatId), sent);
  }
  const used = mcp.calls.map((call) => JSON.stringify(call));
  assert.equal(new Set(used).size, used.length, 'no call reached its tool twice');
  const messages = talks.flatMap(({ sent }) => sent).length;
  console.log(JSON.stringify({ kills, messages, calls: used.length }));
  assert.ok(used.length > 0 && messages > conversations);
});
