import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { listMigrations, migrate } from '../src/db/migrate.ts';
import { type Database, type DatabaseLog, openDatabase } from '../src/db/pool.ts';
import { startTestServer, throwAwayFolder } from './postgres.ts';

/** A migrated database of one test file. Call `drop` in `after`. */
export type TestDatabase = { url: string; address: DatabaseAddress; database: Database; drop(): Promise<void> };

/** How a service reaches it: through the pooler of TEST_POOLER_URL if there is one, which is in transaction mode. */
type DatabaseAddress = { connection: string; direct?: string };

const silent = () => undefined;

/** A logger that writes nothing. */
export const silentLog: DatabaseLog = { debug: silent, info: silent, warn: silent, error: silent };

const leftoverAgeMs = 3_600_000;
// Copying a template file by file takes a quarter of what writing it to the log takes. PostgreSQL 14 always does.
const copiesFiles = `select current_setting('server_version_num')::int >= 150000 as copies`;
// Any fixed number: serializes the creation of the template over all test processes.
const templateLock = 7_310_266;

let prepared: Promise<{ server: string; template: string }> | undefined;

/**
 * A fresh copy of the migrated template, on the server that TEST_DATABASE_URL names (any PostgreSQL 14 or later whose
 * user may create databases), else on an embedded one that this user's test runs share.
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  prepared ??= prepare();
  const { server, template } = await prepared;
  return createDatabase(server, `template ${template}`);
}

/** An empty database, not migrated: for tests of the migrations themselves. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  return createDatabase(await serverUrl(), `template template0 encoding 'UTF8'`);
}

/** Many rows at once, on a connection without the time limit that statements of requests have. */
export async function seed(
  database: Pick<Database, 'openClient'>,
  text: string,
  values: unknown[] = [],
): Promise<void> {
  const client = await database.openClient();
  try {
    await client.query(text, values);
  } finally {
    await client.end();
  }
}

/** The settings of a process that uses it. */
export function databaseSettings({ address: { connection, direct } }: Pick<TestDatabase, 'address'>) {
  return { DATABASE_URL: connection, ...(direct === undefined ? {} : { DATABASE_DIRECT_URL: direct }) };
}

/** TEST_POOLER_URL is in front of the server of TEST_DATABASE_URL. */
function throughPooler(url: string): DatabaseAddress {
  const pooler = process.env.TEST_POOLER_URL;
  if (pooler === undefined || pooler === '') return { connection: url };
  return { connection: withDatabase(pooler, new URL(url).pathname.slice(1)), direct: url };
}

/** However long it takes: on a machine that was paused for a while, none of many concurrent requests is refused. */
export function waitForConnections({ pool }: Pick<Database, 'pool'>): void {
  // The pool reads it at each wait.
  pool.options.connectionTimeoutMillis = 0;
}

async function createDatabase(server: string, source: string): Promise<TestDatabase> {
  const name = `homeport_test_${Date.now()}_${randomBytes(6).toString('hex')}`;
  await withAdmin(server, async (admin) => {
    const { rows } = await admin.query<{ copies: boolean }>(copiesFiles);
    await admin.query(`create database ${name} ${source} ${rows[0]?.copies === true ? 'strategy file_copy' : ''}`);
  });
  const url = withDatabase(server, name);
  const address = throughPooler(url);
  const database = openDatabase({ ...address, max: 10, log: silentLog });
  waitForConnections(database);
  return {
    url,
    address,
    database,
    async drop() {
      await database.close();
      await withAdmin(server, (admin) => admin.query(`drop database if exists ${name} with (force)`));
    },
  };
}

/**
 * Makes the migrated template, if this is the first run with these migrations. Returns the server's address and its
 * name.
 */
async function prepare(): Promise<{ server: string; template: string }> {
  const server = await serverUrl();
  const template = `homeport_template_${await migrationsHash()}`;
  await withAdmin(server, async (admin) => {
    await admin.query('select pg_advisory_lock($1)', [templateLock]);
    await dropLeftovers(admin, template);
    const { rowCount } = await admin.query('select 1 from pg_database where datname = $1', [template]);
    if (rowCount === 0) await makeTemplate(admin, server, template);
  });
  return { server, template };
}

async function makeTemplate(admin: Client, server: string, template: string): Promise<void> {
  // Under another name until it is complete, so that a crash leaves no half template.
  const draft = `homeport_test_${Date.now()}_draft`;
  await admin.query(`create database ${draft} template template0 encoding 'UTF8'`);
  const database = openDatabase({ connection: withDatabase(server, draft), log: silentLog });
  await migrate(database).finally(() => database.close());
  await admin.query(`alter database ${draft} rename to ${template}`);
}

async function dropLeftovers(admin: Client, template: string): Promise<void> {
  const { rows } = await admin.query<{ name: string }>(
    `select datname as name from pg_database d where datname ~ '^homeport_(test|template)_'
     and not exists (select 1 from pg_stat_activity a where a.datname = d.datname)`,
  );
  for (const { name } of rows) {
    const createdAt = Number(/^homeport_test_(\d+)_/.exec(name)?.[1] ?? Number.NaN);
    const old = createdAt < Date.now() - leftoverAgeMs;
    const outdated = name.startsWith('homeport_template_') && name !== template;
    if (old || outdated) await admin.query(`drop database if exists ${name}`).catch(silent);
  }
}

async function migrationsHash(): Promise<string> {
  const hash = createHash('sha256');
  for (const name of await listMigrations()) {
    const text = await readFile(new URL(`../src/db/migrations/${name}.sql`, import.meta.url));
    hash.update(`${name}\n${text.length}\n`).update(text);
  }
  return hash.digest('hex').slice(0, 16);
}

let shared: Promise<string> | undefined;

function serverUrl(): Promise<string> {
  const given = process.env.TEST_DATABASE_URL;
  if (given !== undefined && given !== '') return Promise.resolve(given);
  const folder = join(throwAwayFolder(), `homeport-test-${userInfo().username}`);
  shared ??= startTestServer({ folder, stopWhenIdleForMinutes: 15, log: silentLog }).then((server) => server.url);
  return shared;
}

function withDatabase(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

async function withAdmin<T>(server: string, work: (admin: Client) => Promise<T>): Promise<T> {
  const admin = new Client({ connectionString: server });
  await admin.connect();
  try {
    // The role may have limits, as behind a pooler.
    await admin.query('set statement_timeout = 0');
    return await work(admin);
  } finally {
    await admin.end();
  }
}
