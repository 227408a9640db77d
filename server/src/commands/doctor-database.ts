import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { locatePrograms, majorVersion } from '../db/embedded/programs.ts';
import { packagedLibraries } from '../db/embedded/system-programs.ts';
import { executedMigrations, listMigrations } from '../db/migrate.ts';
import { type Database, lacksLimits, openDatabase, pingDatabase } from '../db/pool.ts';
import { databaseProblem } from '../db/problems.ts';
import { type Cause, type Finding, finding } from './finding.ts';

/** Whether the database can be used, and fits this release. */

const pingMs = 6_000;
const oldest = 140_000;
const reserved = 5;

/** Undefined if the database answers; `db` can be the error from opening it. */
export async function findUnreachable(config: Config, db: Database | Error): Promise<Finding | undefined> {
  const reason = db instanceof Error ? db : await pingDatabase(db, pingMs).then(() => undefined, asError);
  return reason === undefined
    ? undefined
    : unusable(config, reason, ' Key, files, backups and clock were not checked.');
}

function unusable({ databaseUrl }: Config, reason: Error, more = ''): Finding {
  const problem = databaseProblem(reason) ?? {
    message: reason.message,
    advice: 'See docs/troubleshooting.md, "It does not start".',
  };
  const advice =
    databaseUrl === undefined ? 'Look for the reason in the log of the service, and check DATA_DIR.' : problem.advice;
  return finding(
    'database',
    'failed',
    ['database_unusable', { reason: problem.message }],
    `${problem.message}${more}`,
    advice,
  );
}

export async function checkDatabase(config: Config, db: Database): Promise<Finding[]> {
  const { rows } = await db.pool.query(
    `select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
       current_setting('max_connections')::int as most, getdatabaseencoding() as encoding`,
  );
  const [{ version, number, most, encoding }] = rows;
  const executed = await executedMigrations(db);
  const missing = (await listMigrations()).filter((name) => !executed.includes(name));
  const findings: Finding[] = [];
  const add = (state: 'warning' | 'failed', cause: Cause, message: string, advice: string) =>
    void findings.push(finding('database', state, cause, message, advice));
  if (number < oldest) {
    const message = `PostgreSQL ${version} is too old.`;
    add('failed', ['database_old', { version }], message, 'Use PostgreSQL 14 or later.');
  }
  if (encoding !== 'UTF8') {
    const message = `The database has the encoding ${encoding}.`;
    add('failed', ['database_encoding', { encoding }], message, 'Create it with encoding UTF8.');
  }
  if (missing.length > 0) {
    const message = 'The database belongs to an earlier release.';
    add('failed', 'database_earlier', message, 'Start this release on it once.');
  }
  if (config.databaseUrl !== undefined && config.databasePoolMax + reserved > most) {
    const message = `DATABASE_POOL_MAX is ${config.databasePoolMax}, and the server accepts ${most} connections.`;
    const cause: Cause = ['database_pool', { pool: config.databasePoolMax, most }];
    add('warning', cause, message, 'Lower it, or raise max_connections.');
  }
  findings.push(...(await checkPooler(config)));
  const packaged = config.databaseUrl === undefined ? await checkPackage(config, version) : [];
  if (findings.length > 0) return [...findings, ...packaged];
  const kind = config.databaseUrl === undefined ? 'embedded' : 'external';
  const message = `PostgreSQL ${version} (${kind}) has this release's schema.`;
  return [finding('database', 'ok', ['database_works', { version, kind }], message), ...packaged];
}

/** The embedded PostgreSQL of the package brings libraries that no system updates. */
async function checkPackage({ dataDir }: Config, version: string): Promise<Finding[]> {
  if (!existsSync(join(dataDir, 'postgres', 'PG_VERSION'))) return [];
  const { packageRoot, postgres } = await locatePrograms();
  if (!postgres.startsWith(packageRoot)) {
    const message = `The PostgreSQL of this system is used from the next start on: ${postgres}.`;
    return [finding('postgresql', 'ok', ['postgresql_system', { path: postgres }], message)];
  }
  const libraries = await packagedLibraries(packageRoot);
  if (libraries.length === 0) return [];
  const message = `The embedded PostgreSQL ${version} comes with ${libraries.join(' and ')}, which get no security updates. No network reaches it.`;
  const advice = `Install PostgreSQL ${majorVersion} from your system's packages (postgresql-${majorVersion}) and restart Homeport, which then runs that with the same data. See docs/operations.md, "The embedded PostgreSQL".`;
  const values = { version, libraries: libraries.join(', '), major: majorVersion };
  return [finding('postgresql', 'warning', ['postgresql_libraries', values], message, advice)];
}

/** The way that the service goes, which commands do not go if there is a direct address. */
async function checkPooler(config: Config): Promise<Finding[]> {
  const { databaseUrl, databaseDirectUrl } = config;
  if (databaseUrl === undefined) return [];
  const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
  const db = openDatabase({ connection: databaseUrl, direct: databaseDirectUrl, max: 1, log });
  try {
    await pingDatabase(db, pingMs);
    if (!(await lacksLimits(db))) return [];
    const [cause, message, advice] = databaseDirectUrl === undefined ? poolerUnnamed : limitsMissing;
    return [finding('database', 'warning', cause, message, advice)];
  } catch (error) {
    return [unusable(config, asError(error))];
  } finally {
    await db.close();
  }
}

const ignore = (): void => undefined;

const poolerUnnamed = [
  'pooler_unnamed',
  'The time limits that Homeport sets on its connections have no effect, as behind a pooler such as PgBouncer.',
  'If DATABASE_URL is a pooler, set DATABASE_DIRECT_URL as well: see docs/operations.md, "PgBouncer".',
] as const;
const limitsMissing = [
  'pooler_limits',
  'The role behind the pooler has no statement_timeout or idle_in_transaction_session_timeout, or jit is on.',
  'Set them for the role: see docs/operations.md, "PgBouncer".',
] as const;

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error('unknown reason');
}
