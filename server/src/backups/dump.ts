import { promisify } from 'node:util';
import { zstdCompress } from 'node:zlib';
import type { Client } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import type { ArchiveWriter } from './archive-writer.ts';

/** The database as members of a backup: the text form of COPY, the same from PostgreSQL 14 to 18. */

export type TableColumns = { name: string; columns: string[] };
/** The contents of a consistent snapshot of the database. */
export type Snapshot = {
  installation: string;
  migrations: string[];
  postgres: string;
  tables: TableColumns[];
  files: { count: number; bytes: number };
};
export type IdentityState = { table: string; column: string; last: string; isCalled: boolean };

const compress = promisify(zstdCompress);
const memberBytes = 4 * 1024 * 1024;
/** They describe this place, not what people have in it. */
const ofThisPlace = ['backups', 'maintenance', 'replicas', 'kysely_migration', 'kysely_migration_lock'];

/** The same text everywhere, whatever the server's defaults are, and no time limit. */
export const sessionSettings = `
  set datestyle = 'ISO, YMD'; set intervalstyle = 'postgres'; set timezone = 'UTC'; set extra_float_digits = 3;
  set client_encoding = 'UTF8'; set bytea_output = 'hex'; set statement_timeout = 0; set lock_timeout = 0;
  set idle_in_transaction_session_timeout = 0; set standard_conforming_strings = on`;

/** Begins the transaction that sees one instant until its end. */
export async function beginSnapshot(client: Client): Promise<Snapshot> {
  await client.query(sessionSettings);
  await client.query('begin isolation level repeatable read read only');
  const { rows: tables } = await client.query<TableColumns>(
    `select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
     from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and c.relname <> all ($1)
       and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     group by c.relname order by c.relname`,
    [ofThisPlace],
  );
  const { rows: migrations } = await client.query<{ name: string }>('select name from kysely_migration order by name');
  const { rows } = await client.query<{ id: string; version: string; count: number; bytes: number }>(
    `select id, current_setting('server_version') as version, (select count(*)::int from blobs) as count,
       (select coalesce(sum(size), 0)::float8 from blobs) as bytes from installation`,
  );
  const [facts] = rows;
  if (facts === undefined) throw new Error('the row of the installation is missing');
  return {
    installation: facts.id,
    migrations: migrations.map((row) => row.name),
    postgres: facts.version,
    tables,
    files: { count: facts.count, bytes: facts.bytes },
  };
}

/** Writes one table; returns its number of rows. */
export async function dumpTable(
  client: Client,
  { name, columns }: TableColumns,
  writer: ArchiveWriter,
  signal: AbortSignal,
): Promise<number> {
  const list = columns.map(quoted).join(', ');
  const stream = client.query(copyTo(`copy (select ${list} from ${quoted(name)}) to stdout`));
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  let number = 0;
  const flush = async (): Promise<void> => {
    number += 1;
    const content = await compress(Buffer.concat(waiting));
    [waiting, waitingBytes] = [[], 0];
    await writer.add(memberOf(name, number), content);
  };
  for await (const chunk of stream) {
    signal.throwIfAborted();
    waiting.push(chunk);
    waitingBytes += chunk.length;
    if (waitingBytes >= memberBytes) await flush();
  }
  if (waitingBytes > 0) await flush();
  return stream.rowCount;
}

function memberOf(table: string, number: number): string {
  return `database/${table}/${String(number).padStart(6, '0')}.zst`;
}

/** Current values of the identity counters; read after the tables, so never behind them. */
export async function readIdentities(client: Client): Promise<IdentityState[]> {
  const { rows } = await client.query<{ table: string; column: string; sequence: string }>(
    `select c.relname as table, a.attname as column, pg_get_serial_sequence(quote_ident(c.relname), a.attname) as sequence
     from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and a.attidentity <> ''
       and not a.attisdropped and c.relname <> all ($1) order by 1, 2`,
    [ofThisPlace],
  );
  const states: IdentityState[] = [];
  for (const { table, column, sequence } of rows) {
    // The name comes from the catalogue, already quoted.
    const { rows: found } = await client.query<{ last: string; called: boolean }>(
      `select last_value::text as last, is_called as called from ${sequence}`,
    );
    const [state] = found;
    if (state !== undefined) states.push({ table, column, last: state.last, isCalled: state.called });
  }
  return states;
}

export type FileRow = { key: string; sha256: string; size: number };

/**
 * Ends the snapshot, so that the database can clean up behind it, and passes on the files that it names. The list is
 * kept by the server.
 */
export async function* filesOfSnapshot(client: Client): AsyncGenerator<FileRow, void, undefined> {
  await client.query(
    'declare files cursor with hold for select key, sha256, size::float8 as size from blobs order by sha256',
  );
  await client.query('commit');
  for (;;) {
    const { rows } = await client.query<FileRow>('fetch 500 from files');
    if (rows.length === 0) break;
    yield* rows;
  }
}

/** A name in SQL. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
