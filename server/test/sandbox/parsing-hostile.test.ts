import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { upload } from '../artifacts/artifact-makers.ts';
import { createChat } from '../chat/chat-harness.ts';
import { createTestDatabase } from '../database.ts';
import { watchTurns } from '../loop-turns.ts';
import { type Attack, makeAttacks } from './hostile/attacks.ts';

/**
 * Files made to crash, fill or block the service: each is uploaded twice, the second time just before a restart.
 * HOSTILE_FILES=600 tries more of them, HOSTILE_SEED others.
 */

const count = Number(process.env.HOSTILE_FILES ?? 65);
const seed = Number(process.env.HOSTILE_SEED ?? 20_261_128);
const people = 8;
/** CPU time of one turn of the event loop, which the test's own uploads share. */
const longestTurnMs = 150;

const folder = await mkdtemp(join(tmpdir(), 'parsing-hostile-'));
const database = await createTestDatabase();
after(async () => {
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});
const start = (): Promise<TestApp> =>
  startTestApp({
    database,
    config: { dataDir: folder, artifactStore: join(folder, 'files'), artifactMaxUploadBytes: 2 ** 30 },
  });

test(`the service survives ${count} hostile files, twice and across a restart, and answers other requests meanwhile (seed ${seed})`, {
  timeout: 3_000_000,
}, async (t) => {
  const attacks = await makeAttacks(join(folder, 'attacks'), count, seed);
  const first = await start();
  const admin = await first.signIn({ role: 'admin' });
  const attackers = await Promise.all(Array.from({ length: people }, () => first.signIn()));
  const turns = watchTurns();
  const results = await uploadAll(admin, attackers, attacks, true);
  const longest = turns.stop();
  t.diagnostic(`longest turn of the event loop: ${longest.toFixed(0)} ms of CPU`);
  assert.ok(longest < longestTurnMs, `${longest} ms`);
  assert.deepEqual(
    results.filter((word) => / 5\d\d$/.test(word)),
    [],
  );
  // The second time, no client waits for its end.
  await uploadAll(admin, attackers, attacks, false);
  await first.stop();
  const second = await start();
  t.after(() => second.stop());
  const someone = await second.signIn();
  const { pool } = second.database.database;
  await until(
    'the imports to end',
    async () => {
      assert.equal((await someone.call('GET /api/me')).status, 200);
      const { rows } = await pool.query(
        "select count(*)::int as open from imports where state in ('reading', 'importing')",
      );
      return rows[0].open === 0;
    },
    2_000_000,
  );
  const { rows } = await pool.query("select problems->>0 as problem from imports where state = 'failed'");
  for (const { problem } of rows) assert.match(problem, /^[A-Z].{10,}\.$/s);
});

/** Each user uploads one file after the other. Resolves with their results. */
async function uploadAll(
  admin: SignedIn,
  attackers: SignedIn[],
  attacks: Attack[],
  isWaiting: boolean,
): Promise<string[]> {
  const queue = attacks.values();
  const results: string[] = [];
  const attack = async (who: SignedIn): Promise<void> => {
    const chatId = await createChat(who);
    for (const each of queue) results.push(`${each.name} ${await uploadOne(admin, who, chatId, each, isWaiting)}`);
  };
  await Promise.all(attackers.map(attack));
  return results;
}

async function uploadOne(
  admin: SignedIn,
  who: SignedIn,
  chatId: string,
  { name, path, to }: Attack,
  isWaiting: boolean,
): Promise<string> {
  const bytes = await readFile(path);
  if (to === 'files') {
    const stored = await upload(who, { chatId }, { name, bytes, type: 'application/octet-stream' });
    if (stored.status !== 201) return `upload ${stored.status}`;
    const query = { chatId, id: stored.body.artifact.id };
    return until(
      name,
      async () => {
        const { status, body }: Json = await who.call('GET /api/artifacts/text', undefined, { query });
        return (!isWaiting || body.state !== 'working') && `${body.problem?.code ?? body.state} ${status}`;
      },
      300_000,
    );
  }
  if (to === 'imports') {
    const begun = await who.fetch('/api/imports?start=1', { method: 'POST', body: Buffer.from(bytes) });
    if (begun.status !== 202) return `${begun.status}`;
    const { import: made }: Json = await begun.json();
    return until(
      name,
      async () => {
        const { status, body } = await who.call('GET /api/imports', undefined, { query: { id: made.id } });
        return (
          (!isWaiting || !['reading', 'importing'].includes(body.import.state)) && `${body.import.state} ${status}`
        );
      },
      300_000,
    );
  }
  if (to === 'skills') {
    const form = new FormData();
    form.set('file', new Blob([Uint8Array.from(bytes)]), 'skill.zip');
    return `${(await who.fetch('/api/skills', { method: 'POST', body: form })).status}`;
  }
  const [method, route] = to === 'manifest' ? ['POST', '/api/admin/provision'] : ['PUT', '/api/admin/model-registry'];
  const headers = { 'content-type': 'application/json' };
  return `${(await admin.fetch(route, { method, headers, body: Uint8Array.from(bytes) })).status}`;
}
