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

/** Memory of each sort and index build; with the default of 64 MiB, the word index of messages needs many passes. */
const buildMemory = '256MB';

/**
 * Loads a database in one transaction: the schema as the backup had it, its rows, then the migrations since. Indexes
 * and constraints are taken away while rows load and made again from all of them. Nothing stays without `commit`.
 */
export class DatabaseLoad {
  readonly #client: Client;
  readonly #tables: ReadonlyMap<string, TableColumns>;
  #indexes: string[] = [];
  #foreignKeys: string[] = [];
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
    await this.#dropIndexes();
    // Migrations insert first rows; the backup has its own.
    const names = [...this.#tables.keys()].map(quoted);
    if (names.length > 0) await this.#client.query(`truncate ${names.join(', ')}`);
  }

  /** Takes a member `database/<table>/<number>.zst`. */
  async take(table: string, content: Buffer): Promise<void> {
    if (this.#open?.table !== table) {
      await this.#endTable();
      this.#open = this.#beginTable(table);
    }
    const { stream, ended } = this.#open;
    const text = await unpack(content);
    if (!stream.write(text)) await Promise.race([once(stream, 'drain'), ended]);
  }

  /** After the last table: primary keys and all other indexes. */
  async endTables(): Promise<void> {
    await this.#endTable();
    for (const create of this.#indexes.splice(0)) await this.#client.query(create);
  }

  /** Final step: counters, foreign keys, and the migrations added since the backup. */
  async finish(identities: readonly IdentityState[]): Promise<void> {
    await this.endTables();
    for (const { table, column, last, isCalled } of identities) {
      await this.#client.query(`select setval(pg_get_serial_sequence(quote_ident($1), $2), $3::bigint, $4)`, [
        table,
        column,
        last,
        isCalled,
      ]);
    }
    for (const create of this.#foreignKeys.splice(0)) await this.#client.query(create);
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
  async #endTable(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    if (open === undefined) return;
    open.stream.end();
    await open.ended;
    this.rows.set(open.table, open.stream.rowCount);
  }

  /** Foreign keys first: they depend on the others. Only the owner's rights are needed. */
  async #dropIndexes(): Promise<void> {
    await this.#client.query(
      `select set_config('maintenance_work_mem', $1, true)
       where pg_size_bytes(current_setting('maintenance_work_mem')) < pg_size_bytes($1)`,
      [buildMemory],
    );
    const { rows } = await this.#client.query<{ isForeign: boolean; drop: string; create: string }>(
      `select k.contype = 'f' as "isForeign", k.oid, format('alter table %I drop constraint %I', c.relname, k.conname) as drop,
         format('alter table %I add constraint %I %s', c.relname, k.conname, pg_get_constraintdef(k.oid)) as create
       from pg_constraint k join pg_class c on c.oid = k.conrelid
       where c.relnamespace = current_schema()::regnamespace
         and (k.contype = 'f' or (k.contype in ('p', 'u', 'x') and c.relname = any ($1)))
       union all
       select false, i.oid, format('drop index %I', i.relname), pg_get_indexdef(i.oid)
       from pg_index x join pg_class i on i.oid = x.indexrelid join pg_class c on c.oid = x.indrelid
       where c.relnamespace = current_schema()::regnamespace and c.relname = any ($1)
         and not exists (select from pg_constraint k where k.conindid = i.oid and k.contype in ('p', 'u', 'x'))
       order by 1 desc, 2`,
      [[...this.#tables.keys()]],
    );
    for (const { isForeign, drop, create } of rows) {
      await this.#client.query(drop);
      (isForeign ? this.#foreignKeys : this.#indexes).push(create);
    }
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
