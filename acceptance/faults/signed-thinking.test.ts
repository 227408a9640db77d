import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seededRandom } from '../../contracts/test/seeded-random.ts';
import { until } from '../../contracts/test/until.ts';
import { startMcp, type TestMcp } from '../browser/mcp-server.ts';
import {
  addModels,
  type Caller,
  freePort,
  type Json,
  pause,
  type Running,
  readEvents,
  scratchFolder,
  seedOf,
  setUp,
  startProduct,
  startProvider,
} from '../product.ts';
import { allMessages, createChat, postChat, submission, textOf } from './conversation.ts';

/**
 * Turns with tools of models that sign their thinking, continued after kill -9 at random points: the provider compares
 * what comes back with what it said, byte for byte; no answer is lost, and no tool runs twice.
 */

const kinds = ['anthropic', 'openai-responses', 'gemini'] as const;
const turns = Number(process.env.SIGNED_TURNS ?? 8);
const kills = Number(process.env.SIGNED_KILLS ?? Math.ceil(turns / 3));
const conversationsEach = 4;
const steps = 3;
const tool = {
  name: 'look',
  description: 'Looks a number up',
  inputSchema: { type: 'object', properties: { number: { type: 'integer' } } },
};

let product: Running;
let provider: Running;
let mcp: TestMcp;
let caller: Caller;
let restart: () => Promise<void>;
const random = seededRandom(seedOf('signed thinking'));

before(async () => {
  const dataDir = scratchFolder();
  const port = await freePort();
  provider = await startProvider();
  mcp = await startMcp([tool]);
  product = await startProduct(dataDir, {}, port);
  caller = await setUp(product.url);
  const { server } = await caller.must('POST', '/api/mcp', { name: 'Numbers', url: mcp.url });
  await caller.must('POST', '/api/mcp/trust', { id: server.id, fingerprint: server.fingerprint });
  restart = async () => {
    product.kill('SIGKILL');
    await product.exited;
    product = await startProduct(dataDir, {}, port);
  };
});
after(() => mcp?.close());

test(`sends thinking back unchanged in ${turns} turns of each of ${kinds.length} protocols over ${kills} kills`, {
  timeout: 3_600_000,
}, async () => {
  const talks = await Promise.all(kinds.map(startTalks)).then((list) => list.flat());
  // The first call is answered only after the first kill, so that the kill interrupts an answer.
  const firstKill = Promise.withResolvers<void>();
  mcp.beforeAnswer = () => (mcp.calls.length === 1 ? firstKill.promise : pause(random() * 60));
  const work = Promise.all(talks.map(talk));
  let isOver = false;
  const over = (): void => {
    isOver = true;
  };
  work.then(over, over);
  let killed = 0;
  for (; killed < kills && !isOver; killed++) {
    await pause(300 + random() * 1_500);
    if (killed === 0) await until('a tool is called', () => isOver || mcp.calls.length > 0);
    if (!isOver) await restart();
    firstKill.resolve();
  }
  await work;

  const seals: { kept: number; faults: string[] } = JSON.parse(
    await (await fetch(new URL('/seals', provider.url))).text(),
  );
  const continued = talks.reduce((sum, { resumptions }) => sum + resumptions, 0);
  console.log(
    `signed thinking: ${turns * kinds.length} turns, ${killed} kills, ${continued} continued, ` +
      `${mcp.calls.length} calls, ${seals.kept} seals came back as they were, ${seals.faults.length} did not`,
  );
  assert.deepEqual(seals.faults, []);
  assert.ok(seals.kept >= turns * kinds.length * (steps - 1), `${seals.kept} seals`);
  assert.ok(killed > 0 && continued > 0, `${killed} kills, ${continued} answers continued`);
  const called = mcp.calls.map((call) => Object(call.arguments).call);
  assert.equal(new Set(called).size, called.length, 'a tool ran twice');
  assert.ok(called.length >= turns * kinds.length, `${called.length} calls`);
  for (const { chatId, asked } of talks) await assertAnswered(chatId, asked);
});

type Talk = { chatId: string; modelId: string; asked: string[]; left: number; resumptions: number };

async function startTalks(kind: (typeof kinds)[number]): Promise<Talk[]> {
  const [modelId = ''] = await addModels(caller, provider.url, [`signed-${steps}-${kind}`], kind);
  const chats = await Promise.all(Array.from({ length: conversationsEach }, () => createChat(caller)));
  return chats.map((chatId, index) => {
    const left = Math.floor(turns / conversationsEach) + (index < turns % conversationsEach ? 1 : 0);
    return { chatId, modelId, asked: [], left, resumptions: 0 };
  });
}

/** Runs turns in sequence; continues an interrupted one until it is complete. */
async function talk(talk: Talk): Promise<void> {
  const { chatId, modelId } = talk;
  for (; talk.left > 0; talk.left--) {
    const messageId = `${chatId}-${talk.left}`;
    talk.asked.push(messageId);
    const body = { ...submission(chatId, messageId), modelId };
    await insist(async () => assert.equal((await caller.call('POST', '/api/chat/start', body)).status, 201));
    let request: object = { chatId, messageId };
    for (;;) {
      const isDone = await insist(async () => {
        const { done } = await readEvents(await postChat(caller, request));
        const { response, messages } = await caller.must('GET', `/api/chats?id=${chatId}`);
        assert.ok(response === null || !done);
        if (response !== null) throw new TypeError('not yet over');
        return messages.at(-1).status === 'complete';
      });
      if (isDone) break;
      talk.resumptions++;
      request = { chatId, resume: true };
    }
  }
}

/** Tries again while the product is away. */
async function insist<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof TypeError || error instanceof SyntaxError)) throw error;
      await pause(50);
    }
  }
}

async function assertAnswered(chatId: string, asked: readonly string[]): Promise<void> {
  const messages = await allMessages(caller, chatId);
  const questions = messages.filter(({ role }) => role === 'user').map(({ id }) => id);
  assert.deepEqual(questions, asked);
  for (const id of asked) {
    const answers = messages.filter((message: Json) => message.role === 'assistant' && message.parentId === id);
    assert.deepEqual(
      answers.map(({ status }) => status),
      ['complete'],
      id,
    );
    assert.ok(textOf(answers[0]).endsWith('All done.'), textOf(answers[0]));
  }
}
