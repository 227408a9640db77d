import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seededRandom } from '../../contracts/test/seeded-random.ts';
import {
  type Answer,
  Caller,
  freePort,
  type Json,
  pause,
  type Running,
  scratchFolder,
  seedOf,
  setUp,
  startProduct,
  startProvider,
} from '../product.ts';
import {
  addEveryKind,
  allMessages,
  chatDetail,
  createChat,
  inParallel,
  type ModelOfKind,
  providerRequests,
  settled,
  startDetached,
  submission,
} from './conversation.ts';
import { type CuttingProxy, startCuttingProxy } from './cutting-proxy.ts';

/**
 * A retry is never a second message, whatever happens to acknowledgements (control-plane-api.md "Saved-message
 * acknowledgement" 1 to 4), and never a second call, whatever protocol the model speaks.
 */

const ids = Number(process.env.RETRY_IDS ?? 60);
const sendsPerId = 20;
const chatsInAll = 20;

type Message = {
  id: string;
  chatId: string;
  endpoint: '/api/chat/start' | '/api/chat/turn-inputs';
  model: ModelOfKind;
};

let dataDir: string;
let port: number;
let product: Running;
let provider: Running;
let proxy: CuttingProxy;
/** Straight to the product. */
let caller: Caller;
/** Through the proxy. */
let unlucky: Caller;
let model: (name: string, turn: number) => ModelOfKind;
let isOver = false;

before(async () => {
  const random = seededRandom(seedOf('retries'));
  dataDir = scratchFolder();
  port = await freePort();
  provider = await startProvider();
  product = await startProduct(dataDir, {}, port);
  caller = await setUp(product.url);
  model = await addEveryKind(caller, provider.url, ['echo', 'hang-3']);
  proxy = await startCuttingProxy(port, () => {
    const choice = random();
    return choice < 0.3 ? 'drop' : choice < 0.4 ? 'tear' : 'pass';
  });
  unlucky = new Caller(proxy.url, caller.cookie);
});
after(() => {
  isOver = true;
  proxy?.close();
});

test(`admits each of ${ids} messages once despite ${sendsPerId} parallel unacknowledged sends`, async () => {
  const messages = await makeMessages('a', ids);
  await inParallel(messages, 10, async (message) => {
    await Promise.all(Array.from({ length: sendsPerId }, () => submitUntilAcknowledged(message)));
    if (message.endpoint === '/api/chat/start') await beginUntilAcknowledged(message);
  });
  assert.ok(proxy.cuts() > ids, `${proxy.cuts()} answers were cut`);
  console.log(`retries: ${proxy.cuts()} answers cut`);
  await assertOncePerId(messages, 1);

  // Retries have no time limit, and a restart does not set one.
  await restart();
  await inParallel(messages, 20, submitUntilAcknowledged);
  await assertOncePerId(messages, 1);
});

test('admits each message once with kill -9 and a restart between sends and retries', async () => {
  const messages = await makeMessages('b', Math.ceil(ids / 2));
  let acknowledged = 0;
  const sending = inParallel(messages, 10, async (message) => {
    await Promise.all(
      Array.from({ length: sendsPerId }, async () => {
        await submitUntilAcknowledged(message);
        acknowledged += 1;
      }),
    );
    if (message.endpoint === '/api/chat/start') await beginUntilAcknowledged(message);
  });
  const half = (messages.length * sendsPerId) / 2;
  while (acknowledged < half && !isOver) await pause(1);
  await restart();
  await sending;
  await assertOncePerId(messages, 0);
});

test('refuses a known id with other content, branch, model or conversation, without changes', async () => {
  const [chatId, other] = [await createChat(caller), await createChat(caller)];
  for (const endpoint of ['/api/chat/start', '/api/chat/turn-inputs']) {
    const body = submission(chatId, `conflict-${endpoint.length}`);
    assert.equal((await caller.call('POST', endpoint, body)).status, 201);
    const changes = [
      submission(chatId, body.message.id, 'other words'),
      { ...body, chatId: other },
      { ...body, modelId: model('echo', 1).id },
      { ...body, modelPinned: false },
      { ...body, parentId: null },
      { ...body, message: { ...body.message, parts: [...body.message.parts, ...body.message.parts] } },
    ];
    for (const changed of changes) {
      const answer = await caller.call('POST', endpoint, changed);
      assert.deepEqual([answer.status, answer.body.error.code], [409, 'input_conflict'], JSON.stringify(changed));
    }
  }
  await settled(caller, chatId);
  assert.equal((await allMessages(caller, other)).length, 0);
  const questions = (await allMessages(caller, chatId)).filter((message) => message.role === 'user');
  assert.deepEqual(
    questions.map((message) => message.parts[0].text),
    questions.map((message) => message.id),
  );
});

test('keeps a canceled input canceled under retries, also after kill -9', async () => {
  const chatId = await createChat(caller);
  const blocking = { modelId: model('hang-3', 0).id };
  const first = await startDetached(caller, chatId, 'blocking', blocking);
  const cancelled: Message[] = [
    { id: 'cancelled-start', chatId, endpoint: '/api/chat/start', model: model('echo', 1) },
    { id: 'cancelled-input', chatId, endpoint: '/api/chat/turn-inputs', model: model('echo', 2) },
  ];
  for (const message of cancelled) {
    await submitUntilAcknowledged(message);
    await caller.must('DELETE', `/api/chat/turn-inputs?chatId=${chatId}&id=${message.id}`);
  }
  const retryAll = () =>
    Promise.all(
      cancelled.flatMap((message) => Array.from({ length: sendsPerId }, () => submitUntilAcknowledged(message))),
    );
  for (const answer of (await retryAll()).slice(sendsPerId)) assert.equal(answer.body.input.state, 'cancelled');
  assert.deepEqual((await chatDetail(caller, chatId)).inputs, []);
  await caller.must('POST', `/api/chat/${chatId}/stop`, { assistantId: first });
  await settled(caller, chatId);
  await restart();
  await retryAll();
  await submitUntilAcknowledged({
    id: 'after-them',
    chatId,
    endpoint: '/api/chat/turn-inputs',
    model: model('echo', 3),
  });
  await settled(caller, chatId);
  const said = (await allMessages(caller, chatId)).map((message) => message.id);
  for (const { id } of cancelled) assert.ok(!said.includes(id), `${id} became a message`);
  assert.ok(said.includes('after-them'));
  const asked = (await providerRequests(provider)).map((request) => request.lastText);
  for (const { id } of cancelled) assert.ok(!asked.includes(id), `${id} reached the provider`);
});

async function makeMessages(prefix: string, count: number): Promise<Message[]> {
  const chats = await Promise.all(Array.from({ length: chatsInAll }, () => createChat(caller)));
  return Array.from({ length: count }, (_, index) => ({
    id: `${prefix}-${index}`,
    chatId: chats[index % chats.length] ?? '',
    endpoint: index % 40 < 20 ? '/api/chat/start' : '/api/chat/turn-inputs',
    // Another one within each conversation, too.
    model: model('echo', index + Math.floor(index / chatsInAll)),
  }));
}

/** Sends the same bytes to the same endpoint until a whole response comes back. */
async function submitUntilAcknowledged(message: Message): Promise<Answer> {
  const body = { ...submission(message.chatId, message.id), modelId: message.model.id };
  const answer = await insist('POST', message.endpoint, body);
  if (message.endpoint === '/api/chat/start') {
    assert.deepEqual([answer.status, answer.body], [201, { messageId: message.id }], answer.text);
  } else {
    assert.ok(answer.status === 201 || answer.status === 200, answer.text);
    assert.equal(answer.body.input.id, message.id);
  }
  return answer;
}

async function beginUntilAcknowledged({ chatId, id }: Message): Promise<void> {
  const answer = await insist('POST', '/api/chat', { chatId, messageId: id, detach: true });
  assert.equal(answer.status, 202, answer.text);
}

async function insist(method: string, path: string, body: object): Promise<Answer> {
  const giveUpAt = performance.now() + 60_000;
  while (performance.now() < giveUpAt && !isOver) {
    const answer = await unlucky.call(method, path, body).catch(() => undefined);
    if (answer !== undefined && answer.status !== 503) return answer;
    await pause(5);
  }
  throw new Error(`${method} ${path} was never acknowledged`);
}

async function restart(): Promise<void> {
  product.kill('SIGKILL');
  await product.exited;
  product = await startProduct(dataDir, {}, port);
}

/**
 * One message, one answer, and one request to the provider; `leastCalls` 0 where a kill may have come before the
 * request.
 */
async function assertOncePerId(messages: readonly Message[], leastCalls: 0 | 1): Promise<void> {
  const calls = new Map<string, number>();
  const kinds = new Map<string, string>();
  for (const chatId of new Set(messages.map((message) => message.chatId))) await settled(caller, chatId);
  for (const { lastText, kind } of await providerRequests(provider)) {
    const id = lastParagraph(lastText);
    calls.set(id, (calls.get(id) ?? 0) + 1);
    kinds.set(id, kind);
  }
  const stored: Json[] = [];
  for (const chatId of new Set(messages.map((message) => message.chatId)))
    stored.push(...(await allMessages(caller, chatId)));
  const users = stored.filter((message) => message.role === 'user').map((message) => message.id);
  assert.deepEqual(users.sort(), messages.map((message) => message.id).sort());
  assert.equal(stored.length, 2 * messages.length, 'one answer to each');
  let complete = 0;
  for (const { id, model: asked } of messages) {
    const answers = stored.filter((message) => message.parentId === id);
    assert.equal(answers.length, 1, `answers to ${id}`);
    const [answer] = answers;
    const count = calls.get(id) ?? 0;
    if (answer.status === 'complete') {
      complete += 1;
      assert.equal(lastParagraph(answer.parts.at(-1).text), id);
      assert.equal(count, 1, `provider calls for ${id}`);
      assert.equal(kinds.get(id), asked.kind);
    } else assert.equal(answer.status, 'interrupted');
    assert.ok(count >= leastCalls && count <= 1, `${count} provider calls for ${id}`);
  }
  if (leastCalls === 1) assert.equal(complete, messages.length);
  console.log(`retries: ${messages.length} ids, ${complete} answered completely`);
}

/** A message after one that a kill left without an answer is sent together with it. */
function lastParagraph(text: string): string {
  return text.slice(text.lastIndexOf('\n\n') + 1).trim();
}
