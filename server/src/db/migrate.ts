import { readdir, readFile } from 'node:fs/promises';
import { Kysely, PostgresDialect, type PostgresPool, sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import type { Client } from 'pg';
import { recordBaseline, replaceByBaseline, replacedMigrations, withBaseline } from './baseline.ts';
import type { Database } from './pool.ts';

// Beside this file in the sources, and copied beside the bundle: the same relative path.
const migrationsFolder = new URL('./migrations/', import.meta.url);
const fileName = /^\d{4}-[a-z0-9-]+\.sql$/;

/** Names of the migrations that this release knows, in order, without `.sql`. */
export async function listMigrations(): Promise<string[]> {
  const files = await readdir(migrationsFolder);
  return files
    .filter((file) => fileName.test(file))
    .map((file) => file.slice(0, -'.sql'.length))
    .sort();
}

/**
 * Migrates the database to this release's schema: all pending migrations in one transaction under an advisory lock, so
 * that any number of replicas can start at once. Returns the names applied. Throws if the database belongs to a newer
 * release, or to one from before the baseline.
 */
export async function migrate(db: Database): Promise<string[]> {
  const known = await listMigrations();
  const recorded = await recordedMigrations(db);
  const executed = withBaseline(recorded);
  refuseNewer(known, executed);
  const isOwn = executed.length === known.length;
  const hasReplaced = recorded.some((name) => replacedMigrations.includes(name));
  if (isOwn && !hasReplaced) return [];
  // A connection without statement timeout: waiting for another replica's migration may take long.
  const client = await db.openClient();
  try {
    if (hasReplaced) await recordBaseline(client);
    if (isOwn) return [];
    const kysely = new Kysely<unknown>({ dialect: new PostgresDialect({ pool: singleConnection(client) }) });
    const migrator = new Migrator({ db: kysely, provider: { getMigrations: () => readMigrations(known) } });
    const { error, results } = await migrator.migrateToLatest();
    if (error !== undefined) {
      const failed = results?.find((result) => result.status === 'Error');
      throw new Error(`Database migration ${failed?.migrationName ?? ''} failed`, { cause: error });
    }
    return (results ?? []).map((result) => result.migrationName);
  } finally {
    await client.end();
  }
}

/**
 * Applies the `wanted` migrations, or all missing ones, in the open transaction of `client`. A restore uses it, so that
 * a failed restore leaves nothing behind.
 */
export async function migrateWithin(client: Client, wanted?: readonly string[]): Promise<void> {
  const names = replaceByBaseline(wanted ?? (await listMigrations()));
  const kysely = new Kysely<unknown>({ dialect: new PostgresDialect({ pool: singleConnection(client) }) });
  const migrator = new Migrator({
    db: kysely,
    disableTransactions: true,
    allowUnorderedMigrations: true,
    provider: { getMigrations: () => readMigrations(names) },
  });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
}

/** Throws unless the database has exactly this release's schema; for commands that must not change it. */
export async function assertOwnSchema(db: Database): Promise<void> {
  const known = await listMigrations();
  const executed = await executedMigrations(db);
  refuseNewer(known, executed);
  if (executed.length === 0) throw new Error('This database was never used by Homeport. Start the service on it once.');
  if (executed.length < known.length) {
    throw new Error('The database belongs to an earlier release of Homeport. Start this release on it once.');
  }
}

/**
 * Names of the migrations that the database has, in order; none if it was never used. Throws if the database is older
 * than the baseline.
 */
export async function executedMigrations(db: Database): Promise<string[]> {
  return withBaseline(await recordedMigrations(db));
}

async function recordedMigrations(db: Database): Promise<string[]> {
  const table = await db.pool.query<{ found: boolean }>(`select to_regclass('kysely_migration') is not null as found`);
  if (table.rows[0]?.found !== true) return [];
  const { rows } = await db.pool.query<{ name: string }>('select name from kysely_migration order by name');
  return rows.map((row) => row.name);
}

/** Throws if the database has migrations that this release does not know. */
export function refuseNewer(known: readonly string[], executed: readonly string[]): void {
  const unknown = executed.filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  throw new Error(
    `The database was migrated by a newer release of Homeport (it has ${unknown.join(', ')}). ` +
      'Start that release or a later one, or restore a backup made by this release.',
  );
}

async function readMigrations(names: string[]): Promise<Record<string, Migration>> {
  const entries = names.map(async (name): Promise<[string, Migration]> => {
    const text = await readFile(new URL(`${name}.sql`, migrationsFolder), 'utf8');
    return [name, { up: async (transaction) => void (await sql.raw(text).execute(transaction)) }];
  });
  return Object.fromEntries(await Promise.all(entries));
}

function singleConnection(client: Client): PostgresPool {
  const connection = Object.assign(client, { release: () => undefined });
  return { options: {}, connect: async () => connection, end: async () => undefined };
}
