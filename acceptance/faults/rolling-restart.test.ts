import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import {
  type Answer,
  addModels,
  type Caller,
  freePort,
  type Json,
  pause,
  type Running,
  readEvents,
  scratchFolder,
  setUp,
  startProduct,
  startProgram,
  startProvider,
} from '../product.ts';
import { type Balancer, type BalancerName, findBalancer, startBalancer } from './balancer.ts';
import { createChat, postChat, submission, textOf } from './conversation.ts';
import { addPerson } from './people.ts';

/**
 * Three replicas behind a balancer are restarted one after the other under load: no request fails, no answer is lost,
 * and a stream that ends early continues at another replica. ROLLING_ROUNDS=10 ROLLING_STREAMS=50 for more,
 * ROLLING_BALANCER=haproxy for the other balancer.
 */

/** All three replicas once; by default only one of them. */
const rounds = Number(process.env.ROLLING_ROUNDS ?? 0);
const streams = Number(process.env.ROLLING_STREAMS ?? 12);
// With 300 an answer takes longer than a replica waits for it.
const words = Number(process.env.ROLLING_WORDS ?? (rounds === 0 ? 60 : 300));
const wordsPerSecond = 30;
const restarts = rounds === 0 ? 1 : rounds * 3;
const people = 4;
/** A stream that ends early this often goes round in circles. */
const legsMax = 100;

type Count = { requests: number; failed: string[]; answers: number; lost: string[]; resumed: number; cut: number };

for (const name of ['caddy', 'haproxy'] as const) {
  const isWanted = name === 'caddy' && process.env.REQUIRE_PROXIES === '1';
  const skip = findBalancer(name) === undefined && !isWanted && `${name} is not installed`;
  const isChosen = (process.env.ROLLING_BALANCER ?? 'caddy') === name;
  const why = skip || (!isChosen && 'not chosen by ROLLING_BALANCER');
  describe(`replicas behind ${name}`, { skip: why, timeout: 300_000 + rounds * 180_000 }, () => cases(name));
}

function cases(name: BalancerName): void {
  const env: Record<string, string> = {
    AUTH_SECRET: randomUUID(),
    SETTINGS_ENCRYPTION_KEY: randomUUID(),
    ARTIFACT_STORE: scratchFolder(),
    DRAIN_SECONDS: '3',
  };
  const places: { dataDir: string; port: number }[] = [];
  const replicas: Running[] = [];
  let database: Running | undefined;
  let provider: Running;
  let balancer: Balancer | undefined;
  let callers: Caller[];

  before(async () => {
    database = await startProgram('scripts/test/throw-away-postgres.mjs');
    env.DATABASE_URL = database.url;
    provider = await startProvider();
    for (let index = 0; index < 3; index += 1) places.push({ dataDir: scratchFolder(), port: await freePort() });
    replicas.push(...(await Promise.all(places.map(({ dataDir, port }) => startProduct(dataDir, env, port)))));
    balancer = await startBalancer(
      name,
      scratchFolder(),
      places.map(({ port }) => `127.0.0.1:${port}`),
    );
    const administrator = await setUp(replicas[0]?.url ?? '');
    callers = await Promise.all(Array.from({ length: people }, (_, index) => addPerson(administrator, index)));
    for (const caller of callers) {
      caller.url = balancer.url;
      await addModels(caller, provider.url, [`words-${words}@${wordsPerSecond}`]);
    }
  });
  after(async () => {
    balancer?.child.kill('SIGKILL');
    for (const replica of replicas) replica.kill('SIGKILL');
    database?.kill('SIGTERM');
    await database?.exited;
  });

  test(`fails no request and loses no answer over ${restarts} rolling restarts under ${streams} streams`, async () => {
    const count: Count = { requests: 0, failed: [], answers: 0, lost: [], resumed: 0, cut: 0 };
    const stopping = new AbortController();
    const talking = Array.from({ length: streams }, (_, index) =>
      talk(callers[index % people] as Caller, count, stopping.signal),
    );
    const asking = callers.slice(0, 5).map((caller) => ask(caller, count, stopping.signal));
    await pause(1_000);
    try {
      for (let restart = 0; restart < restarts; restart += 1) {
        const index = restart % places.length;
        const { dataDir, port } = places[index] as (typeof places)[number];
        replicas[index]?.kill('SIGTERM');
        assert.equal(await replicas[index]?.exited, 0, replicas[index]?.output());
        replicas[index] = await startProduct(dataDir, env, port);
        // The next one when the balancer has this one back.
        await pause(1_500);
      }
    } finally {
      stopping.abort();
    }
    await Promise.all([...talking, ...asking]);
    const { requests, answers, resumed, cut } = count;
    console.log(
      `rolling restart behind ${name}: ${requests} requests, ${count.failed.length} failed; ${answers} answers, ${count.lost.length} lost; ` +
        `${resumed} streams went on elsewhere, ${cut} were cut`,
    );
    const why = [...new Set([...count.failed, ...count.lost])].slice(0, 20).join('\n');
    assert.deepEqual(
      [count.failed.length, count.lost.length, cut],
      [0, 0, 0],
      `${why}\n${balancer?.output().slice(-2_000)}`,
    );
    assert.ok(answers >= streams && requests > streams && (rounds === 0 || resumed > 0));
  });
}

/** One conversation: question after question, each followed to its end. */
async function talk(caller: Caller, count: Count, stopping: AbortSignal): Promise<void> {
  const chatId = await createChat(caller);
  for (let turn = 0; !stopping.aborted; turn += 1) {
    const messageId = `q-${turn}-${randomUUID()}`;
    await counted(count, 'start', () => caller.call('POST', '/api/chat/start', submission(chatId, messageId)));
    // A second device follows every other answer, often through a replica that does not make it.
    const [told, toldElsewhere] = await Promise.all([
      follow(caller, chatId, messageId, count),
      ...(turn % 2 === 0 ? [follow(caller, chatId, messageId, count)] : []),
    ]);
    count.answers += 1;
    const answer = await answerTo(caller, chatId, messageId, count);
    const whole = Array.from({ length: words }, (_, word) => `word${word}`).join(' ');
    // The beginning of a handed-over answer precedes the handover.
    const isTold = told.trim().endsWith(whole) && (toldElsewhere ?? told) === told;
    if (answer?.status !== 'complete' || textOf(answer) !== told || !isTold) {
      count.lost.push(`${answer?.status}: ${answer && textOf(answer).length} stored, ${told.length} told`);
    }
  }
}

/** Follows the answer to its end, at another replica after each stream that ended before. */
async function follow(caller: Caller, chatId: string, messageId: string, count: Count): Promise<string> {
  let seen = 0;
  let text = '';
  for (let leg = 0; leg < legsMax; leg += 1) {
    count.requests += 1;
    const headers = { 'last-event-id': String(seen) };
    const response = await (leg === 0
      ? postChat(caller, { chatId, messageId })
      : caller.fetch(`/api/chat/${chatId}/stream`, { headers })
    ).catch(String);
    if (typeof response === 'string' || response.status >= 300) {
      count.failed.push(
        `stream: ${typeof response === 'string' ? response : `${response.status} ${await response.text()}`}`,
      );
      await pause(100);
      continue;
    }
    if (response.status !== 200) {
      // Admitted at a replica that is stopping, or over between two streams: the message tells.
      const answer = await answerTo(caller, chatId, messageId, count);
      if (answer !== undefined && !['streaming', 'interrupted'].includes(answer.status)) return textOf(answer);
      await pause(250);
      continue;
    }
    const end = await readEvents(response, undefined, () => {
      count.cut += 1;
    });
    for (const { id, frame } of end.events) {
      assert.ok(id > seen, `event ${id} came after ${seen}`);
      seen = id;
      if (frame.type === 'start') text = '';
      if (frame.type === 'text-delta') text += frame.delta;
    }
    if (end.done) return text;
    count.resumed += 1;
  }
  throw new Error(`An answer did not end in ${legsMax} streams`);
}

/** Requests of people during the restarts. */
async function ask(caller: Caller, count: Count, stopping: AbortSignal): Promise<void> {
  for (let turn = 0; !stopping.aborted; turn += 1) {
    await counted(count, 'list', () => caller.call('GET', '/api/chats'));
    await counted(count, 'create', () => caller.call('POST', '/api/chats', { title: `Chat ${turn}` }));
    await counted(count, 'me', () => caller.call('GET', '/api/me'));
    await pause(20);
  }
}

async function answerTo(caller: Caller, chatId: string, messageId: string, count: Count): Promise<Json> {
  const exported = await counted(count, 'messages', () =>
    caller.call('GET', `/api/chats/export?id=${chatId}&format=json`),
  );
  return exported?.messages.find(({ parentId }: Json) => parentId === messageId);
}

/** Counts the outcome of a request; returns its response if it succeeded. */
async function counted(count: Count, name: string, work: () => Promise<Answer>): Promise<Json> {
  count.requests += 1;
  const answer = await work().catch(String);
  if (typeof answer === 'string') count.failed.push(`${name}: ${answer}`);
  else if (answer.status >= 300) count.failed.push(`${name}: ${answer.status} ${answer.text.slice(0, 100)}`);
  else return answer.body;
}
