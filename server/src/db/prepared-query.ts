import { type Client, type Connection, Query, type QueryResult } from 'pg';

/** A statement with a name, as node-postgres takes it. */
type Named = { name: string; text: string; values?: unknown[] };
type Done = (error: Error | undefined, result?: QueryResult) => void;
type Column = { name: string; parse: (text: string) => unknown };
/** Makes the parser of a type's text form. */
export type TypeParsers = (oid: number) => (text: string) => unknown;

/** What one connection knows of its prepared statements: their columns by name, none of those without rows. */
type Known = { columns: Map<string, readonly Column[]>; undescribed: Connection };

const prepare: (this: Query, connection: Connection) => void = Reflect.get(Query.prototype, 'prepare');

/**
 * A named statement that asks for its columns only once on each connection. They cannot change: PostgreSQL refuses a
 * prepared statement whose result has. Describing them again takes both sides a fifth of a small statement's time.
 */
class PreparedQuery extends Query {
  readonly #name: string;
  readonly #known: Known;
  readonly #parserOf: TypeParsers;
  readonly #done: Done;
  readonly #rows: Record<string, unknown>[] = [];
  #columns: readonly Column[];
  #command = '';
  #rowCount: number | null = null;
  #failure: Error | undefined;

  constructor({ name, text, values }: Named, known: Known, parserOf: TypeParsers, done: Done) {
    super(text, values ?? [], (error) => done(error));
    Object.assign(this, { name });
    this.#name = name;
    this.#known = known;
    this.#parserOf = parserOf;
    this.#done = done;
    this.#columns = known.columns.get(name) ?? [];
  }

  /** Called by `submit`. */
  prepare(connection: Connection): void {
    prepare.call(this, this.#known.columns.has(this.#name) ? this.#known.undescribed : connection);
  }

  handleRowDescription({ fields }: { fields: readonly { name: string; dataTypeID: number }[] }): void {
    this.#columns = fields.map(({ name, dataTypeID }) => ({ name, parse: this.#parserOf(dataTypeID) }));
  }

  handleDataRow({ fields: values }: { fields: readonly (string | null)[] }): void {
    if (this.#failure !== undefined) return;
    const columns = this.#columns;
    const row: Record<string, unknown> = {};
    try {
      if (values.length !== columns.length) throw new Error(`The columns of the statement ${this.#name} have changed`);
      for (let i = 0; i < columns.length; i++) {
        const [column, value] = [columns[i], values[i]];
        if (column !== undefined) row[column.name] = typeof value === 'string' ? column.parse(value) : null;
      }
      this.#rows.push(row);
    } catch (error) {
      this.#failure = error instanceof Error ? error : new Error(String(error));
    }
  }

  /** `INSERT 0 1`, `UPDATE 1`, `BEGIN`. */
  handleCommandComplete({ text }: { text: string }): void {
    const words = text.split(' ');
    const count = words.length > 1 ? Number(words.at(-1)) : Number.NaN;
    this.#command = words[0] ?? '';
    this.#rowCount = Number.isNaN(count) ? null : count;
    this.#known.columns.set(this.#name, this.#columns);
  }

  handleReadyForQuery(): void {
    if (this.#failure !== undefined) this.#done(this.#failure);
    else this.#done(undefined, this.#result());
  }

  #result(): QueryResult {
    return { command: this.#command, rowCount: this.#rowCount, rows: this.#rows, oid: 0, fields: [] };
  }
}

/** From now on the client runs its named statements in this way, and all others as ever. */
export function rememberColumns(client: Client, connection: Connection, parserOf: TypeParsers): void {
  const query: (...given: unknown[]) => unknown = client.query.bind(client);
  const undescribed: Connection = Object.create(connection, { describe: { value: () => undefined } });
  const known: Known = { columns: new Map(), undescribed };
  const remembering = (first: unknown, second?: unknown, third?: unknown): unknown => {
    const callback = typeof second === 'function' ? second : third;
    if (!isNamed(first) || Array.isArray(second)) return query(first, second, third);
    const send = (done: Done) => query(new PreparedQuery(first, known, parserOf, done));
    if (typeof callback === 'function') return send((error, result) => callback(error, result));
    return new Promise((resolve, reject) => {
      send((error, result) => (error === undefined ? resolve(result) : reject(error)));
    }).catch((error: Error) => {
      // Otherwise it leads to the socket, not to whoever asked.
      Error.captureStackTrace(error);
      throw error;
    });
  };
  Object.assign(client, { query: remembering });
}

function isNamed(given: unknown): given is Named {
  return (
    typeof given === 'object' &&
    given !== null &&
    'name' in given &&
    typeof given.name === 'string' &&
    'text' in given &&
    typeof given.text === 'string'
  );
}
