import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { until } from '../../../contracts/test/until.ts';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { createTestDatabase } from '../database.ts';
import { watchTurns } from '../loop-turns.ts';
import type { Attack } from './hostile/attacks.ts';
import type { UploadRound } from './hostile/upload-worker.ts';

/**
 * Files made to crash, fill or block the service: each is uploaded twice, the second time just before a restart.
 * HOSTILE_FILES=600 tries more of them, HOSTILE_SEED others.
 */

const count = Number(process.env.HOSTILE_FILES ?? 65);
const seed = Number(process.env.HOSTILE_SEED ?? 20_261_128);
const people = 8;
/**
 * CPU time of one turn of the service's event loop: 62 ms on a quiet machine, and cores under load count up to twice that.
 * The clients run in a thread of their own.
 */
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
  const attacks = await attacksOf(join(folder, 'attacks'));
  const first = await start();
  t.after(() => first.stop());
  const admin = await first.signIn({ role: 'admin' });
  const attackers = await Promise.all(Array.from({ length: people }, () => first.signIn()));
  const turns = watchTurns();
  const results = await uploadFrom(first.url, admin, attackers, attacks, true);
  const longest = turns.stop();
  t.diagnostic(`longest turn of the event loop: ${longest.toFixed(0)} ms of CPU`);
  assert.ok(longest < longestTurnMs, `${longest} ms`);
  assert.deepEqual(
    results.filter((word) => / 5\d\d$/.test(word)),
    [],
  );
  // The second time, no client waits for its end.
  await uploadFrom(first.url, admin, attackers, attacks, false);
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

async function attacksOf(place: string): Promise<Attack[]> {
  const workerData = { folder: place, count, seed };
  const worker = new Worker(new URL('./hostile/attack-worker.ts', import.meta.url), { workerData });
  const [attacks] = await once(worker, 'message');
  await worker.terminate();
  return attacks;
}

/** The result of each upload: the file's name with a status, a state or a problem's code. */
async function uploadFrom(
  url: string,
  admin: SignedIn,
  attackers: SignedIn[],
  attacks: Attack[],
  isWaiting: boolean,
): Promise<string[]> {
  const round: UploadRound = {
    url,
    adminCookie: admin.cookie,
    attackerCookies: attackers.map(({ cookie }) => cookie),
    attacks,
    isWaiting,
  };
  const worker = new Worker(new URL('./hostile/upload-worker.ts', import.meta.url), { workerData: round });
  const [results] = await once(worker, 'message');
  await worker.terminate();
  return results;
}
