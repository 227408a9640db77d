import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { readBackup } from '../../src/backups/verify.ts';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { createChat, put } from '../artifacts/artifact-makers.ts';
import { databaseSettings } from '../database.ts';
import { Places, restoreInto } from './backup-harness.ts';

/**
 * Backups while users write, killed at a step of writing the file: a file under the final name is complete, shows one
 * instant, and contains all writes acknowledged before. BACKUP_KILLS=30 for more rounds.
 */

const rounds = Number(process.env.BACKUP_KILLS ?? 2);
const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));
const places = new Places();
let app: TestApp;
let people: { user: SignedIn; chats: [string, string] }[];
before(async () => {
  app = await startTestApp();
  people = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const user = await app.signIn();
      return { user, chats: [await createChat(user), await createChat(user)] as [string, string] };
    }),
  );
});
after(async () => {
  await app.stop();
  await places.close();
});

function random(state: number): () => number {
  let value = state;
  return () => {
    value = (Math.imul(value, 1_103_515_245) + 12_345) & 0x7fffffff;
    return value / 0x7fffffff;
  };
}

/** Writes until the signal: a message in two conversations at the same time, and a file that is deleted again. */
async function write(done: AbortSignal, acknowledged: { count: number }): Promise<void> {
  const { pool } = app.database.database;
  await Promise.all(
    people.map(async ({ user, chats }, person) => {
      for (let turn = 0; !done.aborted; turn += 1) {
        const id = `${person}-${randomUUID()}`;
        await pool.query(
          `insert into messages (id, chat_id, role, parts, status)
           select $1 || c, c, 'user', '[]', 'complete' from unnest($2::text[]) c`,
          [id, chats],
        );
        acknowledged.count += 2;
        const [chatId] = chats;
        await put(user, { chatId }, `${id}.txt`);
        if (turn % 2 === 1)
          await user.call('DELETE /api/artifacts', undefined, { query: { chatId, path: `${id}.txt` } });
      }
    }),
  );
}

/** The point of a round's kill: any write, or around the moment at which the file gets its name. */
function killPoint(round: number, writes: number, next: () => number): string {
  if (round % 2 === 0) return `write:${1 + Math.floor(next() * writes)}`;
  return ['sync:1', 'link:1', 'rm:1'][Math.floor(next() * 3)] ?? 'link:1';
}

test(`leaves only complete backups after random kills under load (seed ${seed})`, {
  timeout: 300_000 + rounds * 60_000,
}, async (t) => {
  const next = random(seed);
  const { config } = app.service.deps;
  const env = {
    PATH: process.env.PATH,
    ...databaseSettings(app.database),
    ARTIFACT_STORE: config.artifactStore,
    AUTH_SECRET: config.authSecret,
    SETTINGS_ENCRYPTION_KEY: config.encryptionKey,
  };
  const program = join(import.meta.dirname, '../../src/admin.ts');
  const preload = `--import=${new URL('./backup-kill-point.ts', import.meta.url)}`;
  const run = async (folder: string, killAt = '') => {
    const child = spawn(process.execPath, [preload, program, 'backup', '--to', `${folder}/`], {
      env: { ...env, KILL_AT: killAt },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let printed = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
    const [code, signal] = await once(child, 'close');
    return { code, signal, writes: Number(/^writes: (\d+)$/m.exec(printed)?.[1] ?? 0), printed };
  };
  // With load there is more to write, so each of these writes is reached later as well.
  const { writes, printed } = await run(await places.folder());
  assert.ok(writes > 10, printed);
  let finished = 0;
  for (let round = 0; round < rounds; round += 1) {
    const folder = await places.folder();
    const stop = new AbortController();
    const acknowledged = { count: 0 };
    const writing = write(stop.signal, acknowledged);
    const { rows: before } = await app.database.database.pool.query('select count(*)::int as count from messages');
    const killAt = killPoint(round, writes, next);
    assert.equal((await run(folder, killAt)).signal, 'SIGKILL', killAt);
    const whole = await run(folder);
    assert.equal(whole.code, 0, whole.printed);
    stop.abort();
    await writing;
    for (const name of await readdir(folder)) {
      if (name.includes('.partial-')) continue;
      finished += 1;
      const file = join(folder, name);
      await readBackup(createReadStream(file), undefined, {});
      const place = await places.empty('external/folder');
      await restoreInto(place.config, file);
      await place.use(async (db) => {
        const { rows } = await db.pool.query('select chat_id, count(*)::int as count from messages group by 1');
        const counts = new Map<string, number>(rows.map((row) => [row.chat_id, row.count]));
        for (const { chats } of people) assert.equal(counts.get(chats[0]), counts.get(chats[1]), 'not one instant');
        const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
        assert.ok(all >= before[0].count, 'acknowledged before, and missing');
      });
    }
  }
  assert.ok(finished >= rounds);
  t.diagnostic(`${finished} backups of ${rounds * 2} were finished`);
});
