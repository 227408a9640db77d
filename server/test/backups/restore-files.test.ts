import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Client } from 'pg';
import type { BlobStore } from '../../src/artifacts/blob-store.ts';
import type { Member } from '../../src/backups/archive-reader.ts';
import { FileLoad } from '../../src/backups/restore-files.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';

/** A restore stores several files at the same time, within bounds, and none is lost or written after a failure. */

let database: TestDatabase;
let client: Client;
before(async () => {
  database = await createTestDatabase();
  client = await database.database.openClient('copying');
});
after(async () => {
  await client.end();
  await database.drop();
});

type Files = { sha256: string; member: Member }[];

/** Small files with rows of their own, and their entries in a backup. */
async function makeFiles(count: number): Promise<Files> {
  return Promise.all(
    Array.from({ length: count }, async (_, number) => {
      const bytes = Buffer.from(`file ${number} ${randomUUID()}`);
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      await database.database.pool.query('insert into blobs (sha256, key, size) values ($1, $2, $3)', [
        sha256,
        `old ${sha256}`,
        bytes.length,
      ]);
      return { sha256, member: memberOf(bytes) };
    }),
  );
}

function memberOf(bytes: Buffer): Member {
  async function* content() {
    yield bytes;
  }
  return {
    name: 'files/x',
    size: bytes.length,
    kind: 'file',
    mode: 0o600,
    content: content(),
    bytes: async () => bytes,
  };
}

/** Takes a turn of the event loop for each file; `put` fails at the file of that number. */
function slowStore(failAt = 0) {
  const seen = { started: 0, running: 0, most: 0 };
  const put: BlobStore['put'] = async (content) => {
    seen.started += 1;
    const number = seen.started;
    seen.running += 1;
    seen.most = Math.max(seen.most, seen.running);
    const hash = createHash('sha256');
    for await (const chunk of content) hash.update(chunk);
    await new Promise(setImmediate);
    seen.running -= 1;
    if (number === failAt) throw new Error('the disk is gone');
    const sha256 = hash.digest('hex');
    return { key: `new ${sha256}`, sha256, size: 1 };
  };
  return { seen, put };
}

async function newKeys(files: Files): Promise<number> {
  const { rowCount } = await database.database.pool.query(
    `select from blobs where sha256 = any ($1) and key = 'new ' || sha256`,
    [files.map(({ sha256 }) => sha256)],
  );
  return rowCount ?? 0;
}

test('every file gets its key, and at most eight are stored at the same time', async () => {
  const files = await makeFiles(1_203);
  const { put, seen } = slowStore();
  const loading = new FileLoad({ put }, client);
  for (const { sha256, member } of files) await loading.add(sha256, member);
  assert.equal(await loading.finish(), files.length);
  assert.equal(await newKeys(files), files.length);
  assert.equal(seen.most, 8);
});

test('a file that cannot be stored ends the restore, and nothing is written after it', async () => {
  const files = await makeFiles(40);
  const { put, seen } = slowStore(5);
  const loading = new FileLoad({ put }, client);
  const all = async () => {
    for (const { sha256, member } of files) await loading.add(sha256, member);
    return loading.finish();
  };
  await assert.rejects(all(), /the disk is gone/);
  await loading.settled();
  assert.equal(seen.running, 0);
  assert.ok(seen.started < 20, `${seen.started} were begun`);
});

test('detects that the last file cannot be stored', async () => {
  const files = await makeFiles(3);
  const loading = new FileLoad({ put: slowStore(3).put }, client);
  for (const { sha256, member } of files) await loading.add(sha256, member);
  await assert.rejects(loading.finish(), /the disk is gone/);
});

test('refuses a file with another content', async () => {
  const [first, second] = await makeFiles(2);
  const loading = new FileLoad({ put: slowStore().put }, client);
  await loading.add(first?.sha256 ?? '', second?.member ?? memberOf(Buffer.alloc(0)));
  await assert.rejects(loading.finish(), /has been changed/);
});
