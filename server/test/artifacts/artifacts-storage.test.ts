import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { Readable } from 'node:stream';
import { after, before, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { markName } from '../../src/artifacts/blob-store.ts';
import { sweepBlobs } from '../../src/artifacts/blobs.ts';
import { createDirectoryStore } from '../../src/artifacts/stores/directory.ts';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { createChat, formBody, paths, put, upload } from './artifact-makers.ts';

/** The folder of the file store: nothing of an interrupted upload, everything of an acknowledged one. */

let app: TestApp;
let user: SignedIn;
let root: string;
const lines: string[] = [];
before(async () => {
  app = await startTestApp({ log: (line) => lines.push(line) });
  user = await app.signIn();
  root = app.service.deps.config.artifactStore ?? '';
  // Written once at the start, by way of a draft.
  await until(async () => existsSync(join(root, markName)));
});
after(() => app.stop());

function filesIn(folder: string): string[] {
  // The entries as the folder was read: one of them can be deleted a moment later.
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== markName)
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}

const hourMs = 3_600_000;
const age = (file: string) => utimesSync(file, new Date(Date.now() - 2 * hourMs), new Date(Date.now() - 2 * hourMs));
const oneOf = async (text: string) => Readable.from([Buffer.from(text)]);

test('an upload interrupted at any byte leaves nothing on the disk or in the list', async () => {
  const chatId = await createChat(user);
  const present = filesIn(root);
  const { body, contentType } = formBody([
    { name: 'chatId', value: chatId },
    { name: 'file', value: randomBytes(3000), filename: 'cut.bin' },
    { name: 'path', value: 'cut.bin' },
  ]);
  const head = [
    'POST /api/artifacts HTTP/1.1',
    'host: localhost',
    `cookie: ${user.cookie}`,
    `content-type: ${contentType}`,
    `content-length: ${body.length}`,
    '\r\n',
  ].join('\r\n');
  const { port } = new URL(app.url);
  const cutAfter = (bytes: number) =>
    new Promise<void>((resolve) => {
      const socket = connect(Number(port), '127.0.0.1', () => {
        socket.write(Buffer.concat([Buffer.from(head), body.subarray(0, bytes)]), () => socket.destroy());
      });
      socket.on('error', () => resolve()).on('close', () => resolve());
    });
  const step = Math.floor(body.length / 97);
  const answered = () => lines.filter((line) => line.includes('"path":"/api/artifacts"')).length;
  const before = answered();
  let cuts = 0;
  for (let at = 0; at < body.length; at += step, cuts += 1) await cutAfter(at);
  for (let at = body.length - 12; at < body.length; at += 1, cuts += 1) await cutAfter(at);
  await until('the server is done with them', async () => answered() === before + cuts);
  assert.deepEqual(filesIn(root), present);
  assert.deepEqual(await paths(user, { chatId }), []);
  const whole = await user.fetch('/api/artifacts', { method: 'POST', body, headers: { 'content-type': contentType } });
  assert.equal(whole.status, 201, 'the whole of it is no fault');
});

test('a refused upload leaves nothing on the disk', async () => {
  const chatId = await createChat(user);
  await put(user, { chatId }, 'taken.txt');
  const present = filesIn(root);
  const refused: [fields: Record<string, string>, bytes: number][] = [
    [{ chatId, path: 'taken.txt', onConflict: 'fail' }, 2000],
    [{ chatId, path: '../x' }, 2000],
    [{ chatId: 'missing' }, 2000],
    [{ chatId }, app.service.deps.config.artifactMaxUploadBytes + 1],
    [{}, 2000],
  ];
  for (const [fields, bytes] of refused) {
    assert.ok((await upload(user, fields, { bytes: randomBytes(bytes) })).status >= 400);
  }
  assert.deepEqual(filesIn(root), present);
});

test('stores equal contents once, until the last artifact with them is deleted', async () => {
  const chatId = await createChat(user);
  const present = filesIn(root).length;
  const text = randomUUID();
  for (const path of ['a', 'b', 'c']) await put(user, { chatId }, path, text);
  assert.equal(filesIn(root).length, present + 1);
  const remove = (path: string) => user.call('DELETE /api/artifacts', undefined, { query: { chatId, path } });
  await remove('a');
  await upload(user, { chatId, path: 'b', onConflict: 'replace' }, { bytes: randomUUID() });
  assert.equal(filesIn(root).length, present + 2);
  assert.equal(await (await user.fetch(`/api/artifacts/download?chatId=${chatId}&path=c`)).text(), text);
  await remove('c');
  assert.equal(filesIn(root).length, present + 2, 'it is an earlier version of b');
  await remove('b');
  assert.equal(filesIn(root).length, present);
});

test('the sweep removes only the remains of crashes', async () => {
  const { deps } = app.service;
  const chatId = await createChat(user);
  const gone = await createChat(user);
  await put(user, { chatId }, 'kept.txt', randomUUID());
  await put(user, { chatId: gone }, 'orphan.txt', randomUUID());
  await user.call('DELETE /api/chats', undefined, { query: { id: gone } });
  await sweepBlobs(deps, hourMs);
  const kept = filesIn(root);
  for (const file of kept) age(join(root, file));
  const stray = await deps.artifactStore.put(await oneOf(randomUUID()));
  age(join(root, stray.key));
  const fresh = await deps.artifactStore.put(await oneOf(randomUUID()));
  writeFileSync(join(root, 'incoming', 'crashed'), 'half');
  age(join(root, 'incoming', 'crashed'));
  writeFileSync(join(root, 'incoming', 'running'), 'half');
  assert.equal(await sweepBlobs(deps, hourMs), 1);
  assert.deepEqual(filesIn(root), [...kept, fresh.key, 'incoming/running'].sort());
  await deps.artifactStore.remove([fresh.key, fresh.key]);
  await rm(join(root, 'incoming', 'running'));
});

test('concurrent uploads, deletions and sweeps of one content never lose the bytes of a file', async () => {
  const chatId = await createChat(user);
  const contents = [randomUUID(), randomUUID()];
  let sweeping = true;
  const sweeps = (async () => {
    while (sweeping) await sweepBlobs(app.service.deps, hourMs);
  })();
  await Promise.all(
    Array.from({ length: 6 }, async (_, worker) => {
      for (let round = 0; round < 15; round += 1) {
        const path = `${worker}.txt`;
        const { status, text } = await upload(user, { chatId, path }, { bytes: contents[round % 2] ?? '' });
        assert.equal(status, 201, text);
        const download = await user.fetch(`/api/artifacts/download?${new URLSearchParams({ chatId, path })}`);
        assert.deepEqual([download.status, await download.text()], [200, contents[round % 2]]);
        await user.call('DELETE /api/artifacts', undefined, { query: { chatId, path } });
      }
    }),
  );
  sweeping = false;
  await sweeps;
});

test('a full disk answers 507 and stores nothing', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'homeport-full-'));
  const asRoot = process.getuid?.() === 0 ? ['-m'] : ['-U', '-r', '-m'];
  const script = 'mount -t tmpfs -o size=256k none "$1" && exec "$2" "$3" "$1"';
  const program = join(import.meta.dirname, 'artifacts-full-disk.ts');
  const run = spawnSync('unshare', [...asRoot, 'sh', '-c', script, 'sh', folder, process.execPath, program], {
    encoding: 'utf8',
    timeout: 180_000,
  });
  await rm(folder, { recursive: true, force: true });
  if (/Operation not permitted|permission denied/i.test(run.stderr)) return context.skip('no mounts can be made here');
  assert.equal(run.status, 0, run.stderr);
  const printed: Json = JSON.parse(run.stdout);
  assert.deepEqual(printed, { code: 'storage_full', status: 507, left: 0, thenFits: 1000 });
});

test("reports a sender's failure unchanged, and stores nothing", async () => {
  const folder = await mkdtemp(join(tmpdir(), 'homeport-store-'));
  const store = createDirectoryStore(folder);
  async function* broken() {
    yield Buffer.alloc(100_000);
    throw new Error('cut');
  }
  await assert.rejects(store.put(broken()), /cut/);
  assert.deepEqual(filesIn(folder), []);
  const nowhere = store.read('../../etc/passwd', { start: 0, end: 1 }, async () => undefined);
  await assert.rejects(nowhere, /not a key/);
  const large = randomBytes(9_000_000);
  const stored = await store.put(
    Readable.from([large.subarray(0, 5), large.subarray(5, 6_000_000), large.subarray(6_000_000)]),
  );
  const chunks: Buffer[] = [];
  await store.read(stored.key, { start: 3, end: 8_999_990 }, async (chunk) => void chunks.push(Buffer.from(chunk)));
  assert.ok(Buffer.concat(chunks).equals(large.subarray(3, 8_999_991)));
  await rm(folder, { recursive: true });
});
