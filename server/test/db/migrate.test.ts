import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, test } from 'node:test';
import { executedMigrations, listMigrations, migrate, migrateWithin } from '../../src/db/migrate.ts';
import { openDatabase } from '../../src/db/pool.ts';
import { createEmptyDatabase, silentLog, type TestDatabase } from '../database.ts';

/** As recorded by revision e9301ab6, which had these migrations as files. */
const recordedBefore = `
  0001-init 0002-settings 0003-people 0004-mcp 0005-projects-artifacts 0006-workspaces 0007-sign-in
  0008-mcp-drift-notices 0013-tool-rules 0014-own-installation 0015-pruning 0017-cheap-heartbeats 0019-search-walks
  0020-instructions 0021-provider-kinds 0022-assistants 0023-summaries 0024-model-facts 0026-documents
  0027-shared-providers 0028-usage 0029-steering 0030-tool-rules 0031-workspace-notes 0032-mcp-sign-in
  0033-operations 0034-imports 0039-plan-and-questions 0040-turn-budget 0042-mcp-programs 0044-deleted-accounts
  0045-usage-retention 0046-mcp-offers 0047-handed-over 0048-artifact-source 0049-live-questions 0050-budget-indexes
  0051-skills 0052-artifact-versions 0056-program-models 0057-import-own 0058-search-cleaning
`
  .trim()
  .split(/\s+/);
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

/** A database with the schema of `recordedBefore`, which recorded only the first `count` of them. */
async function databaseBefore(count: number): Promise<TestDatabase> {
  const one = await emptyDatabase();
  const client = await one.database.openClient();
  await migrateWithin(client, ['0058-baseline']);
  await client.end();
  await one.database.pool.query('delete from kysely_migration');
  await one.database.pool.query(
    `insert into kysely_migration select name, '2026-11-28T00:00:00Z' from unnest($1::text[]) as name`,
    [recordedBefore.slice(0, count)],
  );
  await one.database.pool.query(`insert into users (id, name, email) values ('u', 'Ada', 'ada@example.org')`);
  return one;
}

test('counts a database with all replaced migrations as having the baseline, and keeps its rows', async () => {
  assert.equal(recordedBefore.length, 42);
  const { database, url } = await databaseBefore(42);
  const later = (await listMigrations()).slice(1);
  assert.deepEqual(await executedMigrations(database), ['0058-baseline']);
  const replicas = Array.from({ length: 4 }, () => openDatabase({ connection: url, max: 2, log: silentLog }));
  const applied = await Promise.all(replicas.map((replica) => migrate(replica)));
  await Promise.all(replicas.map((replica) => replica.close()));
  assert.deepEqual(applied.flat(), later);
  const { rows } = await database.pool.query('select name from kysely_migration order by timestamp, name');
  assert.deepEqual(
    rows.map((row) => row.name),
    ['0058-baseline', ...later],
  );
  assert.equal((await database.pool.query('select from users')).rowCount, 1);
});

test('refuses a database with a part of the replaced migrations and names the revision to start first', async () => {
  const { database } = await databaseBefore(40);
  await assert.rejects(
    migrate(database),
    /before release 0\.1\.0 \(it lacks 0057-import-own, 0058-search-cleaning\)\. Start revision \w+ of Homeport on it once/,
  );
  const { rows } = await database.pool.query('select name from kysely_migration order by name');
  assert.deepEqual(
    rows.map((row) => row.name),
    recordedBefore.slice(0, 40),
  );
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
