import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, test } from 'node:test';
import { listMigrations, migrate } from '../../src/db/migrate.ts';
import { openDatabase } from '../../src/db/pool.ts';
import { createEmptyDatabase, silentLog, type TestDatabase } from '../database.ts';

const made: TestDatabase[] = [];
after(() => Promise.all(made.map((one) => one.drop())));

async function emptyDatabase(): Promise<TestDatabase> {
  const one = await createEmptyDatabase();
  made.push(one);
  return one;
}

test('many replicas that start at the same time migrate an empty database once', async () => {
  const { url } = await emptyDatabase();
  const replicas = Array.from({ length: 5 }, () => openDatabase({ connection: url, max: 2, log: silentLog }));
  const applied = await Promise.all(replicas.map((replica) => migrate(replica)));
  await Promise.all(replicas.map((replica) => replica.close()));
  assert.deepEqual(applied.flat(), await listMigrations());
});

test('leaves a migrated database unchanged', async () => {
  const { database } = await emptyDatabase();
  assert.deepEqual(await migrate(database), await listMigrations());
  assert.deepEqual(await migrate(database), []);
});

test('refuses a database of a newer release without changing it', async () => {
  const { database } = await emptyDatabase();
  await migrate(database);
  await database.pool.query(`insert into kysely_migration values ('9999-from-the-future', '2099-01-01T00:00:00Z')`);
  await assert.rejects(migrate(database), /newer release of Homeport \(it has 9999-from-the-future\)/);
});

test('migrations use only features of PostgreSQL 14', async () => {
  const newer =
    /\bnulls\s+not\s+distinct\b|\bmerge\s+into\b|\bset\s+(?:null|default)\s*\(|\bany_value\b|\bsecurity_invoker\b/i;
  for (const name of await listMigrations()) {
    const text = await readFile(new URL(`../../src/db/migrations/${name}.sql`, import.meta.url), 'utf8');
    assert.doesNotMatch(text.replaceAll(/--.*/g, ''), newer, name);
  }
});
