import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  type TransactionSettings,
} from 'kysely';
import type { QueryResult as PgResult, Pool, PoolClient } from 'pg';
import { isStalePlan, StatementNames } from './statement-names.ts';

/** Runs one statement, and may look how long it takes. */
export type StatementTrace = <T>(sql: string, work: () => Promise<T>) => Promise<T>;

/**
 * Sends statements to the server: frequent ones are prepared, and those that need not wait for each other are sent
 * together. A round trip is a write and a wake-up on both sides, which is more than most statements cost.
 */
export class WireConnection implements DatabaseConnection {
  readonly #client: PoolClient;
  readonly #names: StatementNames;
  readonly #trace: StatementTrace | undefined;
  /** `begin` is sent with the next statement. */
  #transaction: 'none' | 'due' | 'open' | 'ended' = 'none';
  #isGathering = false;
  #isSpoilt = false;
  #beginText = 'begin';

  constructor(client: PoolClient, names: StatementNames, trace: StatementTrace | undefined) {
    this.#client = client;
    this.#names = names;
    this.#trace = trace;
  }

  begin(text: string): void {
    this.#transaction = 'due';
    this.#beginText = text;
  }

  async commit(): Promise<void> {
    const isOpen = this.#transaction === 'open';
    this.#transaction = 'ended';
    if (isOpen) assertCommitted(await this.#client.query('commit'));
  }

  async rollback(): Promise<void> {
    const isOpen = this.#transaction === 'open';
    this.#transaction = 'ended';
    if (!isOpen) return;
    // The next user of this connection must not find the transaction open.
    this.#isSpoilt = true;
    await this.#client.query('rollback');
    this.#isSpoilt = false;
  }

  executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (this.#transaction === 'ended') throw new Error('The transaction has ended');
    this.#gather();
    const begun = this.#transaction === 'due' ? this.#client.query(this.#beginText) : undefined;
    if (begun !== undefined) this.#transaction = 'open';
    const result =
      this.#trace === undefined ? this.#send<R>(query) : this.#trace(query.sql, () => this.#send<R>(query));
    return begun === undefined ? result : settled([result, begun]).then(([first]) => first);
  }

  /**
   * A transaction's last statement together with its commit. If it fails, everything is rolled back, as with any
   * failure.
   */
  async executeLast<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const result = this.executeQuery<R>(query);
    const [first] = await settled([result, this.commit()]);
    return first;
  }

  streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('Statements are not streamed here');
  }

  release(): void {
    this.#transaction = 'none';
    this.#client.release(this.#isSpoilt);
  }

  /** Whatever is sent before the process turns to other work becomes one write. */
  #gather(): void {
    const { stream } = this.#client.connection;
    if (this.#isGathering) return;
    this.#isGathering = true;
    stream.cork();
    queueMicrotask(() => {
      this.#isGathering = false;
      stream.uncork();
    });
  }

  async #send<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const name = this.#names.nameOf(sql);
    try {
      return resultOf<R>(await this.#query(name, sql, [...parameters]));
    } catch (error) {
      if (name === undefined) throw error;
      this.#names.heed(error);
      // In a transaction everything is lost; on its own the statement can be run again.
      if (this.#transaction !== 'none' || !isStalePlan(error)) throw error;
      return resultOf<R>(await this.#query(undefined, sql, [...parameters]));
    }
  }

  #query(name: string | undefined, text: string, values: unknown[]): Promise<PgResult> {
    return name === undefined ? this.#client.query(text, values) : this.#client.query({ name, text, values });
  }
}

/** Like Promise.all, but when it rejects nothing is still running. */
export async function settled<A, B>(both: readonly [Promise<A>, Promise<B>]): Promise<[A, B]> {
  await Promise.allSettled(both);
  return Promise.all(both);
}

/** The server answers COMMIT with ROLLBACK if an earlier statement failed. */
function assertCommitted({ command }: PgResult): void {
  if (command === 'ROLLBACK') throw new Error('The transaction was rolled back: a statement in it failed');
}

function resultOf<R>({ command, rowCount, rows }: PgResult): QueryResult<R> {
  const counts = command === 'INSERT' || command === 'UPDATE' || command === 'DELETE' || command === 'MERGE';
  return counts ? { numAffectedRows: BigInt(rowCount ?? 0), rows } : { rows };
}

class WireDriver implements Driver {
  readonly #pool: Pool;
  readonly #names = new StatementNames();
  readonly #trace: StatementTrace | undefined;

  constructor(pool: Pool, trace: StatementTrace | undefined) {
    this.#pool = pool;
    this.#trace = trace;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<WireConnection> {
    return new WireConnection(await this.#pool.connect(), this.#names, this.#trace);
  }

  async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    const { isolationLevel, accessMode } = settings;
    const level = isolationLevel === undefined ? [] : [`isolation level ${isolationLevel}`];
    wireOf(connection).begin(['begin', ...level, ...(accessMode === undefined ? [] : [accessMode])].join(' '));
  }

  commitTransaction(connection: DatabaseConnection): Promise<void> {
    return wireOf(connection).commit();
  }

  rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    return wireOf(connection).rollback();
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    wireOf(connection).release();
  }

  async destroy(): Promise<void> {
    await this.#pool.end();
  }
}

/** The driver's own connection object, which Kysely passes back unchanged. */
export function wireOf(connection: DatabaseConnection): WireConnection {
  if (connection instanceof WireConnection) return connection;
  throw new Error('Not a connection of this driver');
}

/** Kysely on a node-postgres pool, through `WireConnection`. */
export function wireDialect(pool: Pool, trace?: StatementTrace): Dialect {
  return {
    createDriver: () => new WireDriver(pool, trace),
    createAdapter: () => new PostgresAdapter(),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createIntrospector: (db) => new PostgresIntrospector(db),
  };
}
