import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { seededRandom } from '../../contracts/test/seeded-random.ts';
import { type Caller, freePort, type Json, pause, scratchFolder, seedOf, setUp, startProduct } from '../product.ts';

/**
 * kill -9 while a manifest is applied: afterwards either all of it is there or nothing, and applying it again leads to
 * the same state.
 */

const kills = Number(process.env.PROVISION_KILLS ?? 6);
const size = { users: 20, models: 5, conversations: 500 };
const dist = process.env.HOMEPORT_DIST ?? join(import.meta.dirname, '../../dist');

/**
 * Users, catalogues and conversations of one round; with few passwords, because hashing happens before the transaction.
 */
function manifest(round: number): Json {
  const model = { contextWindow: 8_000, maxOutputTokens: 1_000, tier: 3 };
  const models = Array.from({ length: size.models }, (_, i) => ({
    ...model,
    providerModelId: `m${i}`,
    displayName: `M${i}`,
  }));
  const email = (index: number): string => `r${round}-u${index}@example.org`;
  return {
    version: 1,
    users: Array.from({ length: size.users }, (_, i) => ({
      email: email(i),
      name: `User ${i}`,
      ...(i < 4 ? { password: `password-${i}-of-round` } : {}),
      providers: [{ name: 'P', baseUrl: 'https://a.example/v1', apiKey: `sk-${round}-${i}`, models }],
    })),
    conversations: Array.from({ length: size.conversations }, (_, i) => ({
      id: `r${round}-c${i}`,
      ownerEmail: email(i % size.users),
      title: `Conversation ${i}`,
      createdAt: '2026-01-02T03:04:05Z',
      messages: Array.from({ length: 4 }, (_, m) => ({
        id: `r${round}-c${i}-m${m}`,
        role: m % 2 === 0 ? 'user' : 'assistant',
        parts: [{ type: 'text', text: `Words ${m} of conversation ${i}. `.repeat(10) }],
      })),
    })),
  };
}

const nothing = {
  users: { created: 0, updated: 0, unchanged: size.users },
  providers: { created: 0, updated: 0, unchanged: size.users },
  models: { created: 0, updated: 0, unchanged: size.users * size.models },
  conversations: { created: 0, skipped: size.conversations },
};
const everything = {
  users: { created: size.users, updated: 0, unchanged: 0 },
  providers: { created: size.users, updated: 0, unchanged: 0 },
  models: { created: size.users * size.models, updated: 0, unchanged: 0 },
  conversations: { created: size.conversations, skipped: 0 },
};

const apply = async (caller: Caller, given: Json): Promise<Json> =>
  (await caller.must('POST', '/api/admin/provision', given)).applied;

async function exported(dataDir: string): Promise<string> {
  const { PATH, HOME } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, [join(dist, 'server/admin.mjs'), 'export'], {
    env: { PATH, HOME, DATA_DIR: dataDir },
    maxBuffer: 256 * 1024 * 1024,
  });
  return stdout;
}

test(`applies a manifest completely or not at all over ${kills} times kill -9, with the same final state`, {
  timeout: 900_000,
}, async () => {
  const random = seededRandom(seedOf('provision'));
  const [dataDir, port] = [scratchFolder(), await freePort()];
  let product = await startProduct(dataDir, {}, port);
  const caller = await setUp(product.url);
  const startedAt = performance.now();
  assert.deepEqual(await apply(caller, manifest(0)), everything);
  const duration = performance.now() - startedAt;

  const found = { nothing: 0, everything: 0 };
  for (let kill = 1; kill <= kills; kill += 1) {
    const given = manifest(kill);
    const cut = apply(caller, given).catch(() => undefined);
    await pause(random() * duration * 1.1);
    product.kill('SIGKILL');
    await Promise.all([product.exited, cut]);
    product = await startProduct(dataDir, {}, port);
    const again = await apply(caller, given);
    const isWhole = again.users.created === 0;
    assert.deepEqual(again, isWhole ? nothing : everything, `after kill ${kill}`);
    found[isWhole ? 'everything' : 'nothing'] += 1;
    assert.deepEqual(await apply(caller, given), nothing);
  }
  console.log(`provision: nothing of it was there ${found.nothing} times, all of it ${found.everything} times`);

  const undisturbed = scratchFolder();
  const other = await startProduct(undisturbed);
  const otherCaller = await setUp(other.url);
  const rounds = Array.from({ length: kills + 1 }, (_, round) => manifest(round));
  await apply(otherCaller, {
    version: 1,
    users: rounds.flatMap(({ users }) => users),
    conversations: rounds.flatMap(({ conversations }) => conversations),
  });
  assert.equal(await exported(dataDir), await exported(undisturbed));
  for (const running of [product, other]) running.kill('SIGTERM');
  await Promise.all([product.exited, other.exited]);
});
