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

/** State shared by the connections of one database. */
type Wires = { pool: Pool; names: StatementNames; trace: StatementTrace | undefined };

/**
 * Sends statements to the server: frequent ones are prepared, and those that need not wait for each other are sent
 * together. A round trip is a write and a wake-up on both sides, which is more than most statements cost.
 */
export class WireConnection implements DatabaseConnection {
  readonly #wires: Wires;
  /** Its own, taken from the pool when it is needed; reads outside transactions share one. */
  #client: PoolClient | undefined;
  /** `begin` is sent with the next statement. */
  #transaction: 'none' | 'due' | 'open' | 'ended' = 'none';
  #isSpoilt = false;
  #beginText = 'begin';

  constructor(wires: Wires) {
    this.#wires = wires;
  }

  async begin(text: string): Promise<void> {
    this.#client = await this.#wires.pool.connect();
    this.#transaction = 'due';
    this.#beginText = text;
  }

  async commit(): Promise<void> {
    const isOpen = this.#transaction === 'open';
    this.#transaction = 'ended';
    if (isOpen) assertCommitted(await this.#own.query('commit'));
  }

  async rollback(): Promise<void> {
    const isOpen = this.#transaction === 'open';
    this.#transaction = 'ended';
    if (!isOpen) return;
    // The next user of this connection must not find the transaction open.
    this.#isSpoilt = true;
    await this.#own.query('rollback');
    this.#isSpoilt = false;
  }

  executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (this.#transaction === 'ended') throw new Error('The transaction has ended');
    if (this.#transaction === 'none') return this.#executeAlone<R>(query);
    const begun = this.#transaction === 'due' ? this.#own.query(this.#beginText) : undefined;
    if (begun !== undefined) this.#transaction = 'open';
    const result = this.#traced<R>(this.#own, query);
    return begun === undefined ? result : settled([result, begun]).then(([first]) => first);
  }

  async #executeAlone<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    this.#client ??= await this.#wires.pool.connect();
    return this.#traced<R>(this.#client, query);
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
    this.#client?.release(this.#isSpoilt);
  }

  get #own(): PoolClient {
    if (this.#client === undefined) throw new Error('No transaction has begun');
    return this.#client;
  }

  #traced<R>(client: PoolClient, query: CompiledQuery): Promise<QueryResult<R>> {
    const { trace } = this.#wires;
    return trace === undefined ? this.#send<R>(client, query) : trace(query.sql, () => this.#send<R>(client, query));
  }

  async #send<R>(client: PoolClient, { sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const { names } = this.#wires;
    const name = names.nameOf(sql);
    try {
      return resultOf<R>(await run(client, name, sql, [...parameters]));
    } catch (error) {
      if (name === undefined) throw error;
      names.heed(error);
      // In a transaction everything is lost; on its own the statement can be run again.
      if (this.#transaction !== 'none' || !isStalePlan(error)) throw error;
      return resultOf<R>(await run(client, undefined, sql, [...parameters]));
    }
  }
}

function run(client: PoolClient, name: string | undefined, text: string, values: unknown[]): Promise<PgResult> {
  return name === undefined ? client.query(text, values) : client.query({ name, text, values });
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
  readonly #wires: Wires;

  constructor(wires: Wires) {
    this.#wires = wires;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<WireConnection> {
    return new WireConnection(this.#wires);
  }

  async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    const { isolationLevel, accessMode } = settings;
    const level = isolationLevel === undefined ? [] : [`isolation level ${isolationLevel}`];
    await wireOf(connection).begin(['begin', ...level, ...(accessMode === undefined ? [] : [accessMode])].join(' '));
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
    await this.#wires.pool.end();
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
    createDriver: () => new WireDriver({ pool, names: new StatementNames(), trace }),
    createAdapter: () => new PostgresAdapter(),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createIntrospector: (db) => new PostgresIntrospector(db),
  };
}
