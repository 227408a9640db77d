import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readFile, readlink, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { sweepBlobs } from '../../src/artifacts/blobs.ts';
import { openBlobStore } from '../../src/artifacts/open-store.ts';
import { makeBackup } from '../../src/backups/backup.ts';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { backUp, contentOf, fill, kinds, Places, restoreInto, talk } from './backup-harness.ts';

/** Backups of a running installation, restored into places of every kind. */

const places = new Places();
let app: TestApp;
let user: SignedIn;
let chatId: string;

before(async () => {
  app = await startTestApp();
  user = await app.signIn({ role: 'admin' });
  chatId = await fill(user);
  await talk(app.database.database, chatId, 3_000);
});
after(async () => {
  await app.stop();
  await places.close();
});

test('restores in all eight directions have the same content, and counters continue behind it', async () => {
  const { database } = app.database;
  const folder = await places.folder();
  const { config } = app.service.deps;
  const expected = await contentOf(config, database);
  const first = join(folder, 'first.tar');
  const made = await backUp(config, database, first);
  assert.equal(made.files.count, 3);
  assert.equal(made.tables.messages, 3_000);
  const second = join(folder, 'second.tar');
  for (const kind of kinds) {
    const place = await places.empty(kind);
    await restoreInto(place.config, first);
    await place.use(async (db) => {
      assert.deepEqual(await contentOf(place.config, db), expected, `external/folder to ${kind}`);
      const { rows } = await db.pool.query('select max(seq) as seq from messages');
      const { rows: next } = await db.pool.query(
        `insert into messages (id, chat_id, role, parts, status) values ('next', $1, 'user', '[]', 'complete') returning seq`,
        [chatId],
      );
      assert.ok(next[0].seq > rows[0].seq);
      await db.pool.query(`delete from messages where id = 'next'`);
      if (kind === 'embedded/bucket') await backUp(place.config, db, second);
    });
  }
  for (const kind of kinds) {
    const place = await places.empty(kind);
    await restoreInto(place.config, second);
    await place.use(async (db) => assert.deepEqual(await contentOf(place.config, db), expected, `back to ${kind}`));
  }
});

test('a file that is deleted during a backup is in the backup, and is removed afterwards', async () => {
  const { config, db, artifactStore, log } = app.service.deps;
  const file = join(await places.folder(), 'held.tar');
  const store = openBlobStore(config, { assertRoom: async () => undefined });
  const gone = { chatId, path: 'large.bin' };
  let deleted = false;
  const needs = {
    config,
    db,
    artifactStore: {
      async read(...given: Parameters<typeof store.read>) {
        if (!deleted) await user.call('DELETE /api/artifacts', undefined, { query: gone });
        deleted = true;
        return store.read(...given);
      },
    },
  };
  const signal = AbortSignal.timeout(300_000);
  const made = await makeBackup(needs, { to: file, cause: 'command', withWorkspaces: false, signal });
  assert.equal(made.files.count, 3);
  const place = await places.empty('external/folder');
  await restoreInto(place.config, file);
  await place.use(async (restored) => {
    await contentOf(place.config, restored);
    const { rows } = await restored.pool.query(`select path from artifacts order by path`);
    assert.deepEqual(
      rows.map(({ path }) => path),
      ['empty.txt', 'large.bin', 'small.txt'],
    );
  });
  const left = async () => (await db.pool.query('select 1 from blobs where size = 700000')).rowCount;
  assert.equal(await left(), 1, 'held while the backup was made');
  await sweepBlobs({ db, artifactStore, log }, 3_600_000);
  assert.equal(await left(), 0, 'and no longer');
});

test('includes homes of workspaces on request with links as links, and keys only in an encrypted backup', async () => {
  const { database } = app.database;
  const former = 'a former key that is longer than 32 bytes';
  const source = { ...app.service.deps.config, dataDir: await places.folder(), previousEncryptionKeys: [former] };
  const home = join(source.dataDir, 'workspaces/w1/home');
  const long = join(home, 'd'.repeat(120), 'é'.repeat(60));
  await mkdir(long, { recursive: true });
  await writeFile(join(long, 'run.sh'), '#!/bin/sh\n', { mode: 0o755 });
  await symlink('/etc/passwd', join(home, 'link'));
  const folder = await places.folder();
  const [plain, sealed] = [join(folder, 'plain.tar'), join(folder, 'sealed.tar.enc')];
  await backUp(source, database, plain, { withWorkspaces: true });
  await backUp(source, database, sealed, { withWorkspaces: true, passphrase: 'correct horse' });
  for (const [file, passphrase] of [
    [plain, undefined],
    [sealed, 'correct horse'],
  ] as const) {
    const bytes = await readFile(file);
    assert.ok(!bytes.includes(source.encryptionKey) && !bytes.includes(source.authSecret));
    assert.equal(bytes.includes('homeport-backup.json'), passphrase === undefined);
    const place = await places.empty('external/folder');
    const { notes } = await restoreInto({ ...place.config, encryptionKey: '' }, file, passphrase);
    const restored = join(place.config.dataDir, 'workspaces/w1/home');
    const script = join(restored, 'd'.repeat(120), 'é'.repeat(60), 'run.sh');
    assert.equal(await readFile(script, 'utf8'), '#!/bin/sh\n');
    assert.equal(await readlink(join(restored, 'link')), '/etc/passwd');
    const secrets = join(place.config.dataDir, 'secrets.json');
    assert.equal(existsSync(secrets), passphrase !== undefined);
    const namedFiles = notes.flatMap((note) => /PREVIOUS_FILE to (\S+),/.exec(note)?.[1] ?? []);
    assert.equal(namedFiles.length, passphrase === undefined ? 0 : 1, notes.join());
    for (const file of namedFiles) assert.equal(await readFile(file, 'utf8'), `${former}\n`);
    if (passphrase !== undefined) assert.ok((await readFile(secrets, 'utf8')).includes(source.encryptionKey));
  }
});
