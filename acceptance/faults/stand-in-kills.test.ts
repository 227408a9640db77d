import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { seededRandom } from '../../contracts/test/seeded-random.ts';
import {
  addModels,
  type Caller,
  freePort,
  type Json,
  pause,
  scratchFolder,
  seedOf,
  setUp,
  startProduct,
} from '../product.ts';
import { allMessages, createChat, settled, submission, textOf } from './conversation.ts';

/**
 * kill -9 at random moments while a provider fails 30 % of its calls and a stand-in answers instead: no acknowledged
 * message is lost, none is answered twice, and no answer has the words of two models.
 */

const kills = Number(process.env.STAND_IN_KILLS ?? 5);
const conversations = 12;
const failingShare = 0.3;
const wordCount = 25;
/** Each kill can leave a queued message in each conversation, and they are answered one after the other. */
const settledWithinMs = 300_000;
const random = seededRandom(seedOf('stand-in kills'));
const servers: Server[] = [];
after(() => {
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
});

/** A provider whose answers are its word, `wordCount` times; `fails` decides about each call. */
async function startWords(word: string, fails: () => boolean): Promise<{ url: string; count: () => number }> {
  let calls = 0;
  const server = createServer(async (request, response) => {
    request.resume();
    await once(request, 'end').catch(() => undefined);
    calls += 1;
    if (!fails()) return sendWords(response, word).catch(() => response.destroy());
    const way = Math.floor(random() * 3);
    if (way === 0) return response.destroy();
    response.writeHead(way === 1 ? 503 : 500, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message: 'Overloaded' } }));
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, count: () => calls };
}

async function sendWords(response: ServerResponse, word: string): Promise<void> {
  const send = (choice: object) =>
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let count = 0; count < wordCount && !response.destroyed; count += 1) {
    send({ delta: { content: `${word} ` } });
    await pause(random() * 40);
  }
  send({ delta: {}, finish_reason: 'stop' });
  response.end('data: [DONE]\n\n');
}

/** Sends one message after the other, each when the one before it is answered, until the service is gone. */
async function converse(caller: Caller, chatId: string, acknowledged: Set<string>, stopping: { now: boolean }) {
  while (!stopping.now) {
    try {
      const id = `q-${Math.floor(random() * 2 ** 48).toString(36)}-${acknowledged.size}`;
      const { status } = await caller.call('POST', '/api/chat/start', submission(chatId, id));
      if (status === 201) acknowledged.add(id);
      await caller.call('POST', '/api/chat', { chatId, messageId: id, detach: true });
      await pause(random() * 200);
      await settled(caller, chatId);
    } catch (error) {
      if (!stopping.now) throw error;
    }
  }
}

test(`loses and doubles nothing over ${kills} times kill -9 while stand-ins answer`, { timeout: 900_000 }, async () => {
  const first = await startWords('first', () => random() < failingShare);
  const second = await startWords('second', () => false);
  const dataDir = scratchFolder();
  const port = await freePort();
  let product = await startProduct(dataDir, {}, port);
  const caller = await setUp(product.url);
  const [chosen] = await addModels(caller, first.url, ['flaky']);
  const [standIn] = await addModels(caller, second.url, ['steady']);
  await caller.must('PATCH', '/api/models', { id: chosen, standIns: [standIn] });
  const chats = new Map<string, Set<string>>();
  for (let count = 0; count < conversations; count += 1) chats.set(await createChat(caller), new Set());
  for (let kill = 0; kill < kills; kill += 1) {
    const stopping = { now: false };
    const work = [...chats].map(([id, acknowledged]) => converse(caller, id, acknowledged, stopping));
    await pause(200 + random() * 1_800);
    stopping.now = true;
    product.kill('SIGKILL');
    await product.exited;
    await Promise.all(work);
    product = await startProduct(dataDir, {}, port);
  }
  const totals = { messages: 0, complete: 0, interrupted: 0, byStandIn: 0 };
  for (const [id, acknowledged] of chats) {
    await settled(caller, id, settledWithinMs);
    checkConversation(await allMessages(caller, id), acknowledged, standIn ?? '', totals);
  }
  console.log(`stand-in kills: ${JSON.stringify({ ...totals, first: first.count(), second: second.count() })}`);
  assert.ok(totals.byStandIn > 0, 'the stand-in answered');
  product.kill('SIGTERM');
  assert.equal(await product.exited, 0);
});

type Totals = { messages: number; complete: number; interrupted: number; byStandIn: number };

function checkConversation(messages: Json[], acknowledged: Set<string>, standIn: string, totals: Totals): void {
  const questions = messages.filter(({ role }) => role === 'user').map(({ id }) => id);
  assert.equal(new Set(questions).size, questions.length, 'a question was applied twice');
  for (const id of acknowledged) assert.ok(questions.includes(id), `the acknowledged question ${id} is lost`);
  for (const id of questions) {
    const answers = messages.filter(({ role, parentId }) => role === 'assistant' && parentId === id);
    assert.equal(answers.length, 1, `${id} has ${answers.length} answers`);
    const [answer] = answers;
    const isByStandIn = answer.servedBy?.modelId === standIn;
    const whole = (isByStandIn ? 'second ' : 'first ').repeat(wordCount);
    const text = textOf(answer);
    assert.ok(['complete', 'interrupted'].includes(answer.status), `${answer.status}: ${JSON.stringify(answer.error)}`);
    if (answer.status === 'complete') assert.equal(text.trim(), whole.trim());
    else assert.ok(whole.startsWith(text), `${isByStandIn ? 'second' : 'first'}: ${text}`);
    totals.messages += 1;
    totals[answer.status === 'complete' ? 'complete' : 'interrupted'] += 1;
    if (isByStandIn) totals.byStandIn += 1;
  }
}
