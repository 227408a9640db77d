import { once } from 'node:events';
import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';
import type { Client } from 'pg';
import { type CopyStreamQuery, from as copyFrom } from 'pg-copy-streams';
import { migrateWithin } from '../db/migrate.ts';
import { damaged } from './backup-error.ts';
import { type IdentityState, quoted, sessionSettings, type TableColumns } from './dump.ts';

const decompress = promisify(zstdDecompress);
/** A member holds 4 MiB of text, or one row that is longer. */
const textMax = 256 * 1024 * 1024;

/** The most that a member of a table may take. */
export const tableMemberMax = 64 * 1024 * 1024;

/** The text of a table's member. */
export async function unpack(content: Buffer): Promise<Buffer> {
  return decompress(content, { maxOutputLength: textMax }).catch(() => {
    throw damaged('a table in it cannot be read');
  });
}

/**
 * Loads a database in one transaction: the schema as the backup had it, its rows, then the migrations since. Foreign
 * keys are checked once, at the end. Nothing stays unless `commit` is called.
 */
export class DatabaseLoad {
  readonly #client: Client;
  readonly #tables: ReadonlyMap<string, TableColumns>;
  #keys: { table: string; name: string; definition: string }[] = [];
  #open: { table: string; stream: CopyStreamQuery; ended: Promise<unknown> } | undefined;
  readonly rows = new Map<string, number>();

  constructor(client: Client, tables: readonly TableColumns[]) {
    this.#client = client;
    this.#tables = new Map(tables.map((table) => [table.name, table]));
  }

  async begin(migrations: readonly string[]): Promise<void> {
    await this.#client.query(sessionSettings);
    await this.#client.query('begin');
    await migrateWithin(this.#client, migrations);
    const { rows } = await this.#client.query<{ table: string; name: string; definition: string }>(
      `select c.relname as table, k.conname as name, pg_get_constraintdef(k.oid) as definition
       from pg_constraint k join pg_class c on c.oid = k.conrelid
       where k.contype = 'f' and c.relnamespace = current_schema()::regnamespace`,
    );
    this.#keys = rows;
    for (const { table, name } of rows) {
      await this.#client.query(`alter table ${quoted(table)} drop constraint ${quoted(name)}`);
    }
    // Migrations insert first rows; the backup has its own.
    const names = [...this.#tables.keys()].map(quoted);
    if (names.length > 0) await this.#client.query(`truncate ${names.join(', ')}`);
  }

  /** Takes a member `database/<table>/<number>.zst`. */
  async take(table: string, content: Buffer): Promise<void> {
    if (this.#open?.table !== table) {
      await this.endTable();
      this.#open = this.#beginTable(table);
    }
    const { stream, ended } = this.#open;
    const text = await unpack(content);
    if (!stream.write(text)) await Promise.race([once(stream, 'drain'), ended]);
  }

  /** After the last table: counters, foreign keys, and what has been migrated since. */
  async finish(identities: readonly IdentityState[]): Promise<void> {
    await this.endTable();
    for (const { table, column, last, isCalled } of identities) {
      await this.#client.query(`select setval(pg_get_serial_sequence(quote_ident($1), $2), $3::bigint, $4)`, [
        table,
        column,
        last,
        isCalled,
      ]);
    }
    for (const { table, name, definition } of this.#keys) {
      await this.#client.query(`alter table ${quoted(table)} add constraint ${quoted(name)} ${definition}`);
    }
    await migrateWithin(this.#client);
  }

  async commit(): Promise<void> {
    await this.#client.query('commit');
  }

  async analyze(): Promise<void> {
    await this.#client.query('analyze');
  }

  async rollback(): Promise<void> {
    this.#open?.stream.destroy();
    this.#open = undefined;
    await this.#client.query('rollback').catch(() => undefined);
  }

  /** Ends the table that is being loaded; nothing else can be asked of the connection before. */
  async endTable(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    if (open === undefined) return;
    open.stream.end();
    await open.ended;
    this.rows.set(open.table, open.stream.rowCount);
  }

  #beginTable(table: string): { table: string; stream: CopyStreamQuery; ended: Promise<unknown> } {
    const columns = this.#tables.get(table)?.columns;
    if (columns === undefined) throw damaged(`it has an unknown table ${table}`);
    const list = columns.map(quoted).join(', ');
    const stream = this.#client.query(copyFrom(`copy ${quoted(table)} (${list}) from stdin`));
    const ended = new Promise((resolve, reject) => {
      stream.once('finish', resolve);
      stream.once('error', reject);
    });
    ended.catch(() => undefined);
    return { table, stream, ended };
  }
}
