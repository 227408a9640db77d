import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../contracts/test/seeded-random.ts';
import { until } from '../../contracts/test/until.ts';
import {
  type Caller,
  freePort,
  type Json,
  pause,
  readEvents,
  scratchFolder,
  seedOf,
  setUp,
  startProduct,
  startProvider,
} from '../product.ts';
import { addEveryKind, allMessages, textOf } from './conversation.ts';

/**
 * kill -9 at random points while conversations stream, start, queue and stop (guarantee: acknowledged messages are
 * neither lost nor duplicated, no response runs forever, and text seen by followers is stored), with every provider
 * protocol.
 */

const kills = Number(process.env.CRASH_KILLS ?? 8);
const conversations = 20;
/** Text that a follower saw this long before the kill must be in the stored message. */
const keptAfterMs = 1_000;
/** So many probes, ten a second at most, must have been answered since: none is while the service stands still. */
const keptAfterProbes = 6;
let answeredProbes = 0;

type Moment = { at: number; probes: number };
type Sight = Moment & { length: number; text: string };

const thisMoment = (): Moment => ({ at: performance.now(), probes: answeredProbes });
const isKept = (sight: Moment, { at, probes }: Moment): boolean =>
  sight.at < at - keptAfterMs && sight.probes <= probes - keptAfterProbes;

type Conversation = {
  id: string;
  modelId: string;
  /** Some of its answers are continued after a crash or a stop, and the model then repeats its whole text. */
  isContinued: boolean;
  /** A follower is currently reading text of it. */
  isRead: boolean;
  acknowledged: Set<string>;
  /** By assistant message: the text that followers saw, with the moment when it was seen. */
  seen: Map<string, Sight[]>;
};

test(`loses and duplicates no message over ${kills} times kill -9 under load, and ends every response`, {
  timeout: 900_000,
}, async () => {
  const random = seededRandom(seedOf('crash'));
  const dataDir = scratchFolder();
  const port = await freePort();
  const provider = await startProvider();
  let product = await startProduct(dataDir, {}, port);
  const caller = await setUp(product.url);
  const model = await addEveryKind(caller, provider.url, ['words-60@40']);
  const chats: Conversation[] = [];
  for (let index = 0; index < conversations; index += 1) {
    const { chat } = await caller.must('POST', '/api/chats', {});
    const modelId = model('words-60@40', index).id;
    chats.push({ id: chat.id, modelId, isContinued: false, isRead: false, acknowledged: new Set(), seen: new Map() });
  }

  let interrupted = 0;
  for (let kill = 0; kill < kills; kill += 1) {
    const stopping = { now: false };
    const work = chats.map((conversation, index) =>
      exercise(caller, conversation, seededRandom(kill * 1_000 + index), stopping),
    );
    work.push(probe(caller, stopping));
    await pause(200 + random() * 1_500);
    // On a busy machine little has been answered by then; every other kill meets an answer, and text to be kept.
    if (kill % 2 === 0) {
      await until('an answer is read', () => chats.some(({ isRead }) => isRead) && chats.some(hasTextToKeep));
    }
    const killedAt = thisMoment();
    product.kill('SIGKILL');
    stopping.now = true;
    await product.exited;
    await Promise.all(work);
    product = await startProduct(dataDir, {}, port);
    interrupted += await assertKept(caller, chats, killedAt);
  }
  assert.ok(interrupted > 0, 'the kills met running responses');
  // Queued messages are answered by models that do not take their time.
  for (const id of new Set(chats.map(({ modelId }) => modelId)))
    await caller.must('PATCH', '/api/models', { id, providerModelId: 'words-3' });
  await settle(caller, chats);
  await assertNothingLost(caller, chats);
  product.kill('SIGTERM');
  assert.equal(await product.exited, 0);
  provider.kill('SIGKILL');
});

function hasTextToKeep({ seen }: Conversation): boolean {
  const now = thisMoment();
  return [...seen.values()].some(([first]) => first !== undefined && isKept(first, now));
}

async function probe(caller: Caller, stopping: { now: boolean }): Promise<void> {
  while (!stopping.now) {
    const health = caller.call('GET', '/api/health').catch(() => undefined);
    const [answer] = await Promise.all([health, pause(100)]);
    if (answer?.status === 200) answeredProbes += 1;
  }
}

/** Submits, follows, queues and stops at random until the service is gone. */
async function exercise(
  caller: Caller,
  conversation: Conversation,
  random: () => number,
  stopping: { now: boolean },
): Promise<void> {
  while (!stopping.now) {
    try {
      await step(caller, conversation, random);
    } catch (error) {
      if (!stopping.now && !(error instanceof TypeError)) throw error;
      if (!stopping.now) await pause(5);
    }
  }
}

async function step(caller: Caller, conversation: Conversation, random: () => number): Promise<void> {
  const choice = random();
  const chatId = conversation.id;
  if (choice < 0.4) {
    const body = newMessage(conversation, random);
    const answer = await caller.call('POST', '/api/chat/start', body);
    if (answer.status === 429) return follow(caller, conversation, random);
    assert.equal(answer.status, 201, answer.text);
    conversation.acknowledged.add(body.message.id);
    await caller.call('POST', '/api/chat', { chatId, messageId: body.message.id, detach: true });
    await follow(caller, conversation, random);
  } else if (choice < 0.6) {
    const body = newMessage(conversation, random);
    const answer = await caller.call('POST', '/api/chat/turn-inputs', body);
    if (answer.status === 429) return;
    assert.equal(answer.status, 201, answer.text);
    conversation.acknowledged.add(body.message.id);
  } else if (choice < 0.7) await caller.call('POST', `/api/chat/${chatId}/stop`, {});
  else if (choice < 0.75) {
    const { status } = await caller.call('POST', '/api/chat', { chatId, resume: true, detach: true });
    if (status === 202) conversation.isContinued = true;
    await follow(caller, conversation, random);
  } else await follow(caller, conversation, random);
}

function newMessage({ id: chatId, modelId }: Conversation, random: () => number) {
  const id = `m-${Math.floor(random() * 2 ** 48).toString(36)}-${performance.now().toString(36).replace('.', '')}`;
  return { chatId, modelId, message: { id, parts: [{ type: 'text', text: `Question ${id}` }] } };
}

async function follow(caller: Caller, conversation: Conversation, random: () => number): Promise<void> {
  const response = await caller.fetch(`/api/chat/${conversation.id}/stream`);
  const leaveAfter = 20 + random() * 200;
  let assistantId = '';
  let text = '';
  let count = 0;
  await readEvents(response, ({ frame }) => {
    if (frame.type === 'start') assistantId = frame.messageId;
    if (frame.type === 'text-delta') {
      conversation.isRead = true;
      text += frame.delta;
      const list = conversation.seen.get(assistantId) ?? [];
      list.push({ ...thisMoment(), length: text.length, text });
      conversation.seen.set(assistantId, list);
    }
    count += 1;
    return count > leaveAfter;
  }).finally(() => {
    conversation.isRead = false;
  });
}

/** After a restart: no response is left running, and each stored text holds what was seen a second before the kill. */
async function assertKept(caller: Caller, chats: readonly Conversation[], killedAt: Moment): Promise<number> {
  const deadline = performance.now() + 30_000;
  let interrupted = 0;
  for (const conversation of chats) {
    let messages: Json[] = [];
    for (const [assistantId, sights] of conversation.seen) {
      const kept = sights.findLast((sight) => isKept(sight, killedAt));
      const message = await storedMessage(caller, conversation.id, assistantId, deadline);
      messages = [...messages, message];
      const stored = textOf(message);
      if (message.status === 'interrupted') interrupted += 1;
      if (kept !== undefined) {
        assert.ok(
          stored.startsWith(kept.text),
          `${assistantId}: followers saw ${kept.length} characters, ${stored.length} are stored`,
        );
      }
    }
    conversation.seen.clear();
  }
  return interrupted;
}

/** The message once it is no longer streaming, or is being continued by the restarted service. */
async function storedMessage(caller: Caller, chatId: string, id: string, deadline: number): Promise<Json> {
  for (;;) {
    const all = await allMessages(caller, chatId);
    const message = all.find((candidate) => candidate.id === id);
    if (message !== undefined && message.status !== 'streaming') return message;
    assert.ok(performance.now() < deadline, `${id} is still ${message?.status} 30 s after the restart`);
    await pause(100);
  }
}

/** Texts of the models. */
const whole = [3, 60].map((count) => Array.from({ length: count }, (_, index) => ` word${index}`).join(''));

/** Waits until everything that was admitted has been answered. */
async function settle(caller: Caller, chats: readonly Conversation[]): Promise<void> {
  for (const { id } of chats) {
    for (;;) {
      const detail = await caller.must('GET', `/api/chats?id=${id}&limit=1`);
      if (detail.response === null && detail.inputs.length === 0) break;
      await pause(100);
    }
  }
}

async function assertNothingLost(caller: Caller, chats: readonly Conversation[]): Promise<void> {
  let inputs = 0;
  for (const conversation of chats) {
    const messages = await allMessages(caller, conversation.id);
    const questions = messages.filter((message) => message.role === 'user').map((message) => message.id);
    assert.equal(new Set(questions).size, questions.length, 'an input was applied twice');
    for (const id of conversation.acknowledged)
      assert.ok(questions.includes(id), `the acknowledged input ${id} is lost`);
    for (const message of messages) {
      assert.notEqual(message.status, 'streaming');
      if (message.status !== 'complete' || message.role !== 'assistant' || conversation.isContinued) continue;
      assert.ok(whole.includes(textOf(message)), `${message.id} is not what the model said: ${textOf(message)}`);
    }
    for (const id of questions) {
      const answers = messages.filter((message) => message.role === 'assistant' && message.parentId === id);
      assert.equal(answers.length, 1, `${id} has ${answers.length} answers`);
    }
    inputs += questions.length;
  }
  console.log(`crash: ${inputs} inputs, ${chats.length} conversations`);
}
