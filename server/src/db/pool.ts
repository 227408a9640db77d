import { Socket } from 'node:net';
import { ApiError } from '@homeport/contracts/errors';
import { type Compilable, Kysely, type RawBuilder, type Transaction } from 'kysely';
import { Client, type ClientConfig, type Pool, types } from 'pg';
import { version } from '../config/config.ts';
import { systemClock } from '../platform/clock.ts';
import { within } from '../platform/waits.ts';
import { databaseUnavailable } from './failures.ts';
import { ObservedPool } from './observed-pool.ts';
import { Outage } from './outage.ts';
import type { Tables } from './tables/tables.ts';
import { type StatementTrace, settled, wireDialect, wireOf } from './wire.ts';

/** The address of the database: a postgres URL or node-postgres client options. */
export type DatabaseConnection = string | ClientConfig;

/** The part of a logger that the database code needs; a pino logger fits. */
export type DatabaseLog = {
  debug(details: object, message: string): void;
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
};

/** A Kysely that can be the pool or an open transaction. */
export type Queryable = Kysely<Tables>;

/** The open database. `pool` is for hot named statements, `kysely` for everything else. */
export type Database = {
  kysely: Kysely<Tables>;
  pool: Pool;
  /** True if no other replica can use this database, so no notifications are needed. */
  alone: boolean;
  /**
   * A separate connection, outside the pool and without statement timeout (LISTEN, locks). The caller handles `error`
   * and ends it. `copying`: for COPY, which statements sent ahead would disturb.
   */
  openClient(use?: 'copying'): Promise<Client>;
  close(): Promise<void>;
};

/** Releases without the table `replicas` call themselves `homeport`, which tells their connections apart. */
const applicationName = `homeport ${version}`;
const connectTimeoutMs = 4_000;
const acquireTimeoutMs = 5_000;
const statementTimeoutMs = 10_000;
const idleInTransactionTimeoutMs = 20_000;
// Longer than every server-side limit above, so silence for this long on a busy connection means a dead peer.
const silentSocketTimeoutMs = 30_000;
/** The pool's error where all connections stay busy, which does not indicate a problem of the database. */
const acquireTimeout = 'timeout exceeded when trying to connect';
const int8Oid = 20;

const typeParsers: ClientConfig['types'] = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === int8Oid ? Number : types.getTypeParser(oid, format),
};

/**
 * Opens the pool lazily: there is no connection before the first query, so an unavailable database does not throw here.
 */
export function openDatabase(options: {
  connection: DatabaseConnection;
  /** The database itself, where `connection` is a pooler in transaction mode: DATABASE_DIRECT_URL. */
  direct?: DatabaseConnection;
  max?: number;
  alone?: boolean;
  log: DatabaseLog;
  /** Tells when the database is away; it has one of its own by default. */
  outage?: Outage;
  /** Runs every statement of the pool and of Kysely, but none of `openClient`. */
  trace?: StatementTrace;
}): Database {
  const { log, direct, outage = new Outage() } = options;
  const isPooled = direct !== undefined;
  const base: ClientConfig = {
    ...addressOf(options.connection),
    application_name: applicationName,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    types: typeParsers,
    pipeline: true,
  };
  // A pooler refuses these; there they belong to the role (`lacksLimits`).
  const limits = {
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: idleInTransactionTimeoutMs,
  };
  const limited: ClientConfig = isPooled ? base : { ...base, ...limits };
  // The pool's time-out limits the wait for a free connection; connecting to the server has this shorter one.
  class PooledClient extends Client {
    constructor() {
      super(limited);
      if (isPooled) withoutNames(this);
    }
  }
  const pool = new ObservedPool({
    ...limited,
    Client: PooledClient,
    connectionTimeoutMillis: acquireTimeoutMs,
    max: options.max ?? 10,
    idleTimeoutMillis: 30_000,
  });
  pool.onFailure = (error) => {
    outage.mark(error);
    if (error.message !== acquireTimeout) outage.suspect(error);
  };
  watchConnections(pool, log, outage);
  // A database that was never there has no outage.
  pool.once('connect', () => outage.watch({ log, probe: () => probe({ ...base, pipeline: false }) }));
  pool.on('connect', (client) => {
    if (isPooled) return;
    // Compiling takes seconds, our statements milliseconds; where tables are empty, PostgreSQL takes them for expensive
    // ones.
    client
      .query('set jit = off')
      .catch((error: Error) =>
        log.debug({ cause: error }, 'failed to switch off JIT compilation for a database connection'),
      );
  });
  const { trace } = options;
  const kysely = new Kysely<Tables>({ dialect: wireDialect(pool, trace) });
  // Here, since the pool can hand over a client within the async context of another caller.
  if (trace !== undefined) traceQueries(pool, trace);
  return {
    kysely,
    pool,
    alone: options.alone ?? false,
    async openClient(use) {
      const own = direct === undefined ? base : { ...base, ...addressOf(direct) };
      const client = new Client(use === 'copying' ? { ...own, pipeline: false } : own);
      client.on('error', (error) => {
        log.debug({ error: error.message }, 'database connection lost');
        outage.mark(error);
        outage.suspect(error);
      });
      await client.connect();
      // If limits are set on the role, this connection has them as well.
      if (isPooled) await client.query('set statement_timeout = 0; set idle_in_transaction_session_timeout = 0');
      return client;
    },
    async close() {
      outage.stop();
      // Kysely ends the pool only if it was used.
      await kysely.destroy();
      if (!pool.ending) await pool.end();
    },
  };
}

/** Traces queries that return a promise, as all of our own do; Kysely's are traced on its own connections. */
function traceQueries(pool: Pool, trace: StatementTrace): void {
  const query: (...given: unknown[]) => unknown = pool.query.bind(pool);
  const traced = (first: unknown, ...rest: unknown[]): unknown => {
    const sql = typeof first === 'string' ? first : textOf(first);
    if (sql === undefined || rest.some((each) => typeof each === 'function')) return query(first, ...rest);
    return trace(sql, async () => query(first, ...rest));
  };
  Object.assign(pool, { query: traced });
}

function textOf(given: unknown): string | undefined {
  if (typeof given !== 'object' || given === null || !('text' in given)) return undefined;
  return typeof given.text === 'string' ? given.text : undefined;
}

function addressOf(connection: DatabaseConnection): ClientConfig {
  return typeof connection === 'string' ? { connectionString: connection } : connection;
}

/** Behind a pooler, a name prepared in one transaction can be unknown in the next, or belong to another statement. */
function withoutNames(client: Client): void {
  const query: (...given: unknown[]) => unknown = client.query.bind(client);
  const unnamed = (given: unknown): unknown =>
    typeof given === 'object' && given !== null && 'name' in given ? { ...given, name: undefined } : given;
  Object.assign(client, { query: (first: unknown, ...rest: unknown[]) => query(unnamed(first), ...rest) });
}

/**
 * True if statements can run forever or are compiled for seconds, because a pooler is used and its role isn't told
 * otherwise.
 */
export async function lacksLimits(db: Pick<Database, 'pool'>): Promise<boolean> {
  const { rows } = await db.pool.query<{ lacking: boolean }>(
    `select '0' in (current_setting('statement_timeout'), current_setting('idle_in_transaction_session_timeout'))
      or current_setting('jit') = 'on' as lacking`,
  );
  return rows[0]?.lacking === true;
}

/** Runs `work` in one transaction: committed before this resolves, rolled back when it throws. */
export function inTransaction<T>(
  db: Pick<Database, 'kysely'>,
  work: (transaction: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  return db.kysely.transaction().execute(work);
}

/** A statement of the `sql` template, sent in the same way as the query builder's. */
export function bound<Row>(db: Queryable, statement: RawBuilder<Row>): Compilable<Row> {
  return { compile: () => statement.compile(db) };
}

/**
 * Sends two statements of a transaction together; the second sees what the first did, including the locks it waited
 * for.
 */
export function together<A, B>(
  trx: Queryable,
  [first, second]: readonly [Compilable<A>, Compilable<B>],
): Promise<[A[], B[]]> {
  return trx.getExecutor().provideConnection(async (connection) => {
    const [a, b] = await settled([
      connection.executeQuery<A>(first.compile()),
      connection.executeQuery<B>(second.compile()),
    ]);
    return [a.rows, b.rows];
  });
}

/** Like `together`, with the commit: nothing more can be run in the transaction. */
export function togetherLastly<A, B>(
  trx: Queryable,
  [first, second]: readonly [Compilable<A>, Compilable<B>],
): Promise<[A[], B[]]> {
  return trx.getExecutor().provideConnection(async (connection) => {
    const wire = wireOf(connection);
    const [a, b] = await settled([wire.executeQuery<A>(first.compile()), wire.executeLast<B>(second.compile())]);
    return [a.rows, b.rows];
  });
}

/** Sends a transaction's last statement with its commit. Nothing more can be run in the transaction. */
export function lastly<Row>(trx: Queryable, statement: Compilable<Row>): Promise<Row[]> {
  return trx.getExecutor().provideConnection(async (connection) => {
    const { rows } = await wireOf(connection).executeLast<Row>(statement.compile());
    return rows;
  });
}

/** Resolves if the database answers, otherwise throws `database_unavailable` within `timeoutMs`. */
export async function pingDatabase(db: Database, timeoutMs: number): Promise<void> {
  try {
    const limit = { clock: systemClock, milliseconds: timeoutMs, tooLate: () => databaseUnavailable() };
    await within(limit, () => db.pool.query('select 1'));
  } catch (error) {
    throw error instanceof ApiError ? error : databaseUnavailable(error);
  }
}

/** Opens a connection, which must answer, and closes it. */
async function probe(config: ClientConfig): Promise<void> {
  const client = new Client({ ...config, query_timeout: connectTimeoutMs });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
  } finally {
    // A silent peer would keep it open.
    client.end().catch(() => undefined);
    if (client.connection.stream instanceof Socket) client.connection.stream.destroySoon();
  }
}

/** Keeps lost connections from crashing the process, and drops a busy connection whose peer has fallen silent. */
function watchConnections(pool: Pool, log: DatabaseLog, outage: Outage): void {
  const busy = new WeakSet<object>();
  pool.on('acquire', (client) => busy.add(client));
  pool.on('release', (_error, client) => busy.delete(client));
  pool.on('error', (error) => {
    if (pool.ending) return;
    log.debug({ error: error.message }, 'idle database connection lost');
    outage.suspect(error);
  });
  pool.on('connect', (client) => {
    // The pool listens for errors only while a client is idle.
    client.on('error', (error) => {
      outage.mark(error);
      log.debug({ error: error.message }, 'database connection lost');
    });
    const { stream } = client.connection;
    if (!(stream instanceof Socket)) return;
    stream.setTimeout(silentSocketTimeoutMs, () => {
      if (busy.has(client)) stream.destroy(new Error('Connection terminated: the database stopped responding'));
    });
  });
}
