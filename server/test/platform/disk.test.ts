import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { createChat, upload } from '../artifacts/artifact-makers.ts';
import { submission } from '../chat/chat-harness.ts';

/** A disk of 50 GB: 1000 MB are kept back. */
const megabyte = 1_000_000;
const totalBytes = 50_000 * megabyte;
const folder = mkdtempSync(join(tmpdir(), 'homeport-disk-'));
const ballast = join(folder, 'ballast');
const log: string[] = [];
let freeMb = 40_000;
let app: TestApp;
let ada: SignedIn;
let chatId: string;

before(async () => {
  app = await startTestApp({
    config: { dataDir: folder, metricsToken: 'a-token-for-metrics' },
    readSpace: async () => ({ freeBytes: freeMb * megabyte, totalBytes }),
    alone: true,
    log: (line) => void log.push(line),
  });
  ada = await app.signIn();
  chatId = await createChat(ada);
});
after(async () => {
  await app?.stop();
  rmSync(folder, { recursive: true });
});

async function tries(free: number): Promise<{ file: number; message: number; read: number; rename: number }> {
  freeMb = free;
  // The first can join a check that was under way, with the free space from before.
  for (const _ of [1, 2]) await app.service.deps.disk.look();
  const file = await upload(ada, { chatId }, { name: `${free}-${log.length}.txt`, bytes: 'text' });
  const message = await ada.call('POST /api/chat/start', submission(chatId, `with ${free} MB`));
  const read = await ada.call('GET /api/chats');
  const rename = await ada.call('PATCH /api/chats', { id: chatId, title: `${free} MB` });
  for (const { status, body } of [file, message]) if (status === 507) assert.equal(body.error.code, 'storage_full');
  return { file: file.status, message: message.status, read: read.status, rename: rename.status };
}

test('refuses uploads before messages and messages before the database is affected, and recovers without a restart', async () => {
  const rest = { read: 200, rename: 200 };
  assert.deepEqual(await tries(40_000), { file: 201, message: 201, ...rest });
  assert.ok(statSync(ballast).size >= 48 * 1024 ** 2);
  assert.deepEqual(await tries(990), { file: 507, message: 201, ...rest });
  assert.deepEqual(await tries(490), { file: 507, message: 507, ...rest });
  assert.ok(existsSync(ballast));
  assert.deepEqual(await tries(240), { file: 507, message: 507, ...rest });
  assert.ok(!existsSync(ballast), 'what was kept back is given to the database');
  // A little more space is not enough to start again.
  assert.deepEqual(await tries(550), { file: 507, message: 507, ...rest });
  assert.deepEqual(await tries(700), { file: 507, message: 201, ...rest });
  assert.deepEqual(await tries(1_050), { file: 507, message: 201, ...rest });
  assert.deepEqual(await tries(1_300), { file: 201, message: 201, ...rest });
  assert.ok(existsSync(ballast));
});

test("logs each change of the disk's state once, and reports the free space", async () => {
  const logged = log.map((line) => JSON.parse(line)).filter(({ msg }) => /^the disk of DATA_DIR/.test(msg));
  assert.deepEqual(
    logged.map(({ msg, freeMb: free }) => [/nearly full|is full|has enough space/.exec(msg)?.[0], free]),
    [
      ['nearly full', Math.round((990 * megabyte) / 1024 ** 2)],
      ['is full', Math.round((490 * megabyte) / 1024 ** 2)],
      ['nearly full', Math.round((700 * megabyte) / 1024 ** 2)],
      ['has enough space', Math.round((1_300 * megabyte) / 1024 ** 2)],
    ],
  );
  const headers = { authorization: 'Bearer a-token-for-metrics' };
  const text = await (await fetch(`${app.url}/metrics`, { headers })).text();
  assert.match(text, /^homeport_disk_free_bytes 1300000000$/m);
});
