import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { basename, join } from 'node:path';
import { after, before, test } from 'node:test';
import { BackupError } from '../../src/backups/backup-error.ts';
import { readBackup } from '../../src/backups/verify.ts';
import { startTestApp, type TestApp } from '../app.ts';
import { admin, resultOf } from '../command-admin.ts';
import { databaseSettings } from '../database.ts';
import { backUp, contentOf, fill, type Place, Places, restoreInto, talk } from './backup-harness.ts';

/** Backups that are refused with the reason, and without any change. */

const passphrase = 'correct horse battery';
const places = new Places();
let app: TestApp;
let folder: string;
let plain: Buffer;
let sealed: Buffer;
let empty: Place;

before(async () => {
  app = await startTestApp();
  const user = await app.signIn();
  await talk(app.database.database, await fill(user), 50);
  folder = await places.folder();
  const { config, db } = app.service.deps;
  await backUp(config, db, join(folder, 'plain.tar'));
  await backUp(config, db, join(folder, 'sealed.tar.enc'), { passphrase });
  [plain, sealed] = [await readFile(join(folder, 'plain.tar')), await readFile(join(folder, 'sealed.tar.enc'))];
  empty = await places.empty('embedded/folder');
});
after(async () => {
  await app.stop();
  await places.close();
});

async function* of(bytes: Buffer) {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
}

/** The result of verifying: 'whole', or the reason. Any error other than BackupError fails. */
async function verdict(bytes: Buffer, given?: string): Promise<string> {
  return readBackup(of(bytes), given, {}).then(
    () => 'whole',
    (error: unknown) => {
      assert.ok(error instanceof BackupError, String(error instanceof Error ? error.stack : error));
      return error.message;
    },
  );
}

/** Leads to a database, and drops the connection when a text is sent to it. */
async function breakingAt(text: string, url: string): Promise<{ url: string; close(): void }> {
  const target = new URL(url);
  const real = join(target.searchParams.get('host') ?? '', '.s.PGSQL.5432');
  const host = await places.folder();
  const server = createServer((client) => {
    const upstream = connect(real);
    upstream.pipe(client);
    for (const socket of [client, upstream]) {
      socket.on('error', () => undefined);
      socket.on('close', () => [client, upstream].map((either) => either.destroy()));
    }
    client.on('data', (bytes) => (bytes.includes(text) ? client.destroy() : upstream.write(bytes)));
  });
  await once(server.listen(join(host, basename(real))), 'listening');
  target.searchParams.set('host', host);
  return { url: target.href, close: () => server.close() };
}

function flipped(bytes: Buffer, bit: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return copy;
}

test('detects any flipped bit, truncation or addition', async () => {
  assert.equal(await verdict(plain), 'whole');
  assert.equal(await verdict(sealed, passphrase), 'whole');
  const ends = [0, 1, 300, 513, plain.length - 1, plain.length - 600, plain.length - 1_600];
  const places = [...ends, ...Array.from({ length: 40 }, () => randomInt(plain.length))];
  for (const at of places)
    assert.notEqual(await verdict(flipped(plain, at * 8 + (at % 8))), 'whole', `plain, byte ${at}`);
  for (const at of [
    0,
    30,
    45,
    60,
    100,
    sealed.length - 1,
    ...Array.from({ length: 5 }, () => randomInt(sealed.length)),
  ]) {
    assert.notEqual(await verdict(flipped(sealed, at * 8), passphrase), 'whole', `sealed, byte ${at}`);
  }
  for (const length of [0, 100, 512, 10_240, plain.length - 512, plain.length - 1]) {
    assert.notEqual(await verdict(plain.subarray(0, length)), 'whole', `cut to ${length}`);
  }
  const chunk = 65_536 + 16;
  for (const length of [50, 1_000, 62 + chunk, sealed.length - 1]) {
    assert.notEqual(await verdict(sealed.subarray(0, length), passphrase), 'whole', `sealed, cut to ${length}`);
  }
  assert.notEqual(await verdict(Buffer.concat([plain, Buffer.alloc(512)])), 'whole');
});

test('detects a missing or moved member even if the others are intact', async () => {
  const members: { at: number; end: number; name: string }[] = [];
  for (let at = 0; plain[at] !== 0; ) {
    const size = Number.parseInt(plain.toString('latin1', at + 124, at + 135), 8);
    const end = at + 512 + Math.ceil(size / 512) * 512;
    members.push({ at, end, name: plain.toString('latin1', at, at + 100).replace(/\0.*$/s, '') });
    at = end;
  }
  assert.ok(members.some(({ name }) => name.startsWith('files/')));
  for (const { at, end, name } of members) {
    const result = await verdict(Buffer.concat([plain.subarray(0, at), plain.subarray(end)]));
    assert.notEqual(result, 'whole', name);
  }
  assert.match(await verdict(Buffer.from('something else'.repeat(100))), /damaged|not a backup/);
});

test('refuses a missing or wrong passphrase and accepts the right one', async () => {
  assert.match(await verdict(sealed), /encrypted.*--passphrase-file/);
  assert.match(await verdict(sealed, 'another'), /not the one of this backup/);
});

test('a refused restore leaves nothing behind', async () => {
  const bad = join(folder, 'bad.tar');
  await writeFile(bad, flipped(plain, (plain.length - 3_000) * 8));
  await assert.rejects(restoreInto(empty.config, bad), /The backup is damaged/);
  await assert.rejects(restoreInto(empty.config, join(folder, 'sealed.tar.enc'), 'another'), /passphrase/);
  const { db, config } = app.service.deps;
  await db.pool.query(`insert into kysely_migration (name, timestamp) values ('9999-future', 'now')`);
  const newer = join(folder, 'newer.tar');
  await backUp(config, db, newer);
  await db.pool.query(`delete from kysely_migration where name = '9999-future'`);
  await assert.rejects(restoreInto(empty.config, newer), /newer release of Homeport.*9999-future/);
  assert.equal(existsSync(empty.config.dataDir), false);

  const taken = { ...empty.config, artifactStore: config.artifactStore };
  await assert.rejects(restoreInto(taken, join(folder, 'plain.tar')), /ARTIFACT_STORE is not empty/);
  const used = { ...empty.config, databaseUrl: app.database.url };
  await assert.rejects(restoreInto(used, join(folder, 'plain.tar')), /The database is not empty/);
  assert.equal(existsSync(empty.config.dataDir), false);
});

test('never replaces a backup in a bucket', async () => {
  const { config, db } = app.service.deps;
  const { artifactStore, ...bucket } = await places.bucket();
  const to = `${artifactStore}/one.tar`;
  await backUp({ ...config, ...bucket }, db, to);
  await assert.rejects(backUp({ ...config, ...bucket }, db, to), /exists.*another name/);
});

test('a connection that breaks after the commit loses no files', async () => {
  const place = await places.empty('external/folder');
  const proxy = await breakingAt('analyze\0', place.config.databaseUrl ?? '');
  try {
    const config = { ...place.config, databaseUrl: proxy.url };
    await assert.rejects(restoreInto(config, join(folder, 'plain.tar')), /Everything is restored/);
  } finally {
    proxy.close();
  }
  await place.use((restored) => contentOf(place.config, restored));
});

test('the commands report complete and broken backups and invalid usage', async () => {
  const file = join(folder, 'plain.tar');
  const env = { DATA_DIR: join(folder, 'nowhere') };
  const whole = await admin(['verify', file, '--json'], env);
  assert.equal(whole.code, 0, whole.output);
  const { ok, backup } = resultOf(whole);
  assert.deepEqual([ok, backup.files.count, backup.tables.messages, backup.withSecrets], [true, 3, 50, false]);
  const bad = await admin(['verify', join(folder, 'bad.tar'), '--json'], env);
  assert.equal(bad.code, 1);
  assert.match(resultOf(bad).error.message, /damaged/);
  assert.equal((await admin(['verify'], env)).code, 2);
  assert.equal((await admin(['verify', file, '--passphrase-file', join(folder, 'no')], env)).code, 2);
  const { config } = app.service.deps;
  const settings = {
    ...databaseSettings(app.database),
    ARTIFACT_STORE: config.artifactStore ?? '',
    DATA_DIR: folder,
    SETTINGS_ENCRYPTION_KEY: config.encryptionKey,
  };
  const made = await admin(['backup', '--json'], settings);
  assert.equal(made.code, 0, made.output);
  const { to, bytes } = resultOf(made).backup;
  assert.match(to, /\/backups\/homeport-\d{8}T\d{6}\.\d{3}Z\.tar$/);
  assert.equal((await readFile(to)).length, bytes);
  const again = await admin(['backup', '--to', to], settings);
  assert.deepEqual([again.code, /exists/.test(again.output)], [1, true]);
});
