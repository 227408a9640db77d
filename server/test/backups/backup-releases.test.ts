import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openBlobStore } from '../../src/artifacts/open-store.ts';
import { listMigrations } from '../../src/db/migrate.ts';
import { passwords } from '../cheap-passwords.ts';
import { contentOf, Places, restoreInto } from './backup-harness.ts';

/**
 * A backup of every release, made by that release, is restored by this one: an upgrade. The files in `backups/` are
 * never made again; a new release adds its own.
 */

const folder = join(import.meta.dirname, 'releases');
const passphrase = 'the fixtures of Homeport';
// The keys of those backups were derived at full cost.
passwords.areCheap = false;
const places = new Places();
after(async () => {
  passwords.areCheap = true;
  await places.close();
});

for (const name of readdirSync(folder)) {
  test(`restores the backup of ${name.replace(/\.tar\.enc$/, '')} as an installation of this release`, {
    timeout: 180_000,
  }, async () => {
    const place = await places.empty('external/folder');
    const { backup } = await restoreInto({ ...place.config, encryptionKey: '' }, join(folder, name), passphrase);
    assert.equal(backup.secrets?.SETTINGS_ENCRYPTION_KEY, 'test-encryption-key-of-more-than-32-bytes');
    await place.use(async (db) => {
      const { rows: applied } = await db.pool.query('select name from kysely_migration order by name');
      assert.deepEqual(
        applied.map((row) => row.name),
        await listMigrations(),
      );
      await contentOf(place.config, db);
      const { rows: people } = await db.pool.query('select email, role from users order by email');
      assert.deepEqual(people, [
        { email: 'ada@example.org', role: 'admin' },
        { email: 'bob@example.org', role: 'user' },
      ]);
      const { rows: stored } = await db.pool.query(
        `select c.title, m.role, m.parts from messages m join chats c on c.id = m.chat_id order by m.seq`,
      );
      assert.deepEqual(
        stored.map(({ title, role, parts }) => [title, role, JSON.parse(parts)[0].text]),
        [
          ['Über Brücken 🌉', 'user', 'Which bridge is the longest?\tTell me\\now.'],
          ['Über Brücken 🌉', 'assistant', 'The Danyang–Kunshan Grand Bridge.'],
        ],
      );
      const { rows: files } = await db.pool.query(
        'select path, key, blobs.size from artifacts join blobs using (sha256)',
      );
      assert.equal(files[0].path, 'notes/length.txt');
      const store = openBlobStore(place.config, { assertRoom: async () => undefined });
      const text: Buffer[] = [];
      const take = async (bytes: Uint8Array) => void text.push(Buffer.from(bytes));
      await store.read(files[0].key, { start: 0, end: Number(files[0].size) - 1 }, take);
      assert.equal(Buffer.concat(text).toString(), '164.8 km');
      for (const table of ['projects', 'prompts', 'assistants', 'providers']) {
        assert.equal((await db.pool.query(`select from ${table}`)).rowCount, 1, table);
      }
    });
  });
}
