import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cpSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { until } from '../../contracts/test/until.ts';
import { findHelm } from '../../scripts/test/get-helm.mjs';
import {
  addModels,
  type Caller,
  dist,
  freePort,
  healthy,
  type Json,
  launchProduct,
  pause,
  type Running,
  readEvents,
  scratchFolder,
  setUp,
  startProgram,
  startProvider,
} from '../product.ts';
import { allMessages, createChat, postChat, submission, textOf } from './conversation.ts';
import { addPerson } from './people.ts';

/**
 * A release takes the place of the one before under load, as the chart says: no answer fails, and the two never serve at
 * the same time. The next release is this build with one more migration. PREVIOUS_DIST=/path/to/dist makes this build
 * the next one and that one the previous; UPGRADE_WORDS=1000 has answers that take longer than a replica waits for them.
 */

const previous = process.env.PREVIOUS_DIST;
const words = Number(process.env.UPGRADE_WORDS ?? 120);
const conversations = Number(process.env.UPGRADE_CONVERSATIONS ?? 8);
const wordsPerSecond = 30;
const replicas = 2;
const root = join(import.meta.dirname, '../..');

type Place = { dataDir: string; port: number };
type Seen = { answers: number; refused: number; wrong: string[] };

const env: Record<string, string> = {
  AUTH_SECRET: randomUUID(),
  SETTINGS_ENCRYPTION_KEY: randomUUID(),
  ARTIFACT_STORE: scratchFolder(),
};
let database: Running;
let provider: Running;
let oldDist: string;
let newDist: string;
const running: Running[] = [];

before(async () => {
  [oldDist, newDist] = previous === undefined ? [dist, nextRelease()] : [previous, dist];
  database = await startProgram('scripts/test/throw-away-postgres.mjs');
  env.DATABASE_URL = database.url;
  provider = await startProvider();
});
after(async () => {
  for (const one of running) one.kill('SIGKILL');
  database.kill('SIGTERM');
  await database.exited;
});

/** This build with one more migration. */
function nextRelease(): string {
  const folder = scratchFolder();
  cpSync(dist, join(folder, 'dist'), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'dist/server/migrations/9999-next.sql'), 'create table next_release (id text);\n');
  return join(folder, 'dist');
}

/** How the chart replaces pods in an upgrade. */
function renderedStrategy(): string {
  const helm = findHelm();
  if (helm === undefined) return 'Recreate';
  const values = { baseUrl: 'http://chat', existingSecret: 'keys', 'artifacts.existingClaim': 'files' };
  const set = Object.entries(values).map(([name, value]) => `${name}=${value}`);
  const chart = join(root, 'deploy/helm/homeport');
  const text = execFileSync(helm, ['template', 'house', chart, '--is-upgrade', '--set', set.join(',')], {
    encoding: 'utf8',
  });
  return /strategy:\s+type: (\w+)/.exec(text)?.[1] ?? '';
}

async function launch(folder: string): Promise<Running & Place> {
  const place = { dataDir: scratchFolder(), port: await freePort() };
  const started = await launchProduct(folder, place.dataDir, env, place.port);
  running.push(started);
  return { ...started, ...place };
}

test('an upgrade under load: the next release waits, and no answer fails', { timeout: 600_000 }, async () => {
  assert.equal(renderedStrategy(), 'Recreate');
  const old = await Promise.all(Array.from({ length: replicas }, () => launch(oldDist)));
  await Promise.all(old.map(healthy));
  const addresses = old.map(({ url }) => url);
  const administrator = await setUp(addresses[0] ?? '');
  const people = await Promise.all(Array.from({ length: 4 }, (_, index) => addPerson(administrator, index)));
  for (const person of people) await addModels(person, provider.url, [`words-${words}@${wordsPerSecond}`]);

  const stopping = new AbortController();
  const failed = new AbortController();
  const seen: Seen = { answers: 0, refused: 0, wrong: [] };
  const talking = Array.from({ length: conversations }, async (_, index) => {
    const person = people[index % people.length];
    if (person !== undefined) await talk({ person, addresses, seen, stopping: stopping.signal, failed: failed.signal });
  });
  try {
    await upgrade(old, addresses, seen);
  } catch (error) {
    failed.abort();
    throw error;
  } finally {
    stopping.abort();
    await Promise.allSettled(talking);
  }
  await Promise.all(talking);
  console.log(
    `upgrade: ${seen.answers} answers, ${seen.wrong.length} failed; ${seen.refused} requests were refused meanwhile and made again`,
  );
  assert.deepEqual(seen.wrong, []);
});

/** Starts the next release beside the old one, stops that one, and resolves when the next one has answered. */
async function upgrade(old: readonly Running[], addresses: string[], seen: Seen): Promise<void> {
  await until('answers are being written', () => seen.answers >= conversations, 300_000);

  // Started beside the old release, as by hand or by a rolling update.
  const early = await launch(newDist);
  await until('the next release waits', () => /waiting until every replica of another release/.test(early.output()));
  const before = seen.answers;
  await until('the old release goes on answering', () => seen.answers > before, 300_000);
  await assert.rejects(fetch(`${early.url}/api/health`), 'the next release serves beside the old one');

  for (const one of old) one.kill('SIGTERM');
  for (const one of old) assert.equal(await one.exited, 0, one.output());
  const late = await Promise.all(Array.from({ length: replicas - 1 }, () => launch(newDist)));
  addresses.splice(0, addresses.length, early.url, ...late.map(({ url }) => url));
  await Promise.all([early, ...late].map(healthy));
  const during = seen.answers;
  await until('the next release answers', () => seen.answers > during + conversations, 300_000);
}

type Talk = { person: Caller; addresses: readonly string[]; seen: Seen; stopping: AbortSignal; failed: AbortSignal };

/** Question after question, each to its end, whichever replica is there. */
async function talk(given: Talk): Promise<void> {
  const { seen, stopping } = given;
  // The provider counts to a thousand.
  const whole = Array.from({ length: words }, (_, word) => `word${word % 1_000}`).join(' ');
  const chatId = await again(given, (caller) => createChat(caller));
  for (let turn = 0; !stopping.aborted; turn += 1) {
    const messageId = `q-${turn}-${randomUUID()}`;
    await again(given, (caller) => caller.must('POST', '/api/chat/start', submission(chatId, messageId)));
    const answer = await again(given, (caller) => answered(caller, chatId, messageId));
    seen.answers += 1;
    // One that was handed over in the middle has its beginning before that.
    if (answer.status === 'complete' && textOf(answer).trim().endsWith(whole)) continue;
    seen.wrong.push(`${answer.status} ${JSON.stringify(answer.error)}, ${textOf(answer).length} characters`);
  }
}

/** Follows the answer to its end, and resolves with the message that is then stored. */
async function answered(caller: Caller, chatId: string, messageId: string): Promise<Json> {
  const stream = await postChat(caller, { chatId, messageId });
  if (stream.status >= 300) throw new Error(`${stream.status} ${await stream.text()}`);
  await readEvents(stream);
  const found = (await allMessages(caller, chatId)).find(({ parentId }) => parentId === messageId);
  if (found === undefined || ['streaming', 'interrupted'].includes(found.status)) throw new Error('not over yet');
  return found;
}

/** Requests are refused while no replica is there: the next one is asked, as a balancer would. */
async function again<T>({ person, addresses, seen, failed }: Talk, work: (caller: Caller) => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    const url = addresses[attempt % addresses.length] ?? '';
    try {
      return await work(Object.assign(Object.create(Object.getPrototypeOf(person)), person, { url }));
    } catch (error) {
      if (attempt > 2_000 || failed.aborted) throw error;
      seen.refused += 1;
      await pause(100);
    }
  }
}
