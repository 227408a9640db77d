import type { ImportEntry } from '@homeport/contracts/imports';
import { limits } from '@homeport/contracts/limits';
import { sql } from 'kysely';
import type { Queryable } from '../db/pool.ts';
import type { ImportKind, ImportOutcome } from '../db/tables/imports.ts';

/** The entries of an import, row by row. This file alone writes the table `import_entries`. */

export type NewEntry = {
  position: number;
  kind: ImportKind;
  title: string;
  outcome: ImportOutcome;
  reason: string | null;
  messages: number;
  files: number;
  target: string | null;
};

/** Inserts entries. Reading restarts after a crash, so existing rows are kept. */
export async function insertEntries(trx: Queryable, importId: string, entries: readonly NewEntry[]): Promise<void> {
  if (entries.length === 0) return;
  await sql`
    insert into import_entries (import_id, position, kind, title, outcome, reason, messages, files, target_id)
    select ${importId}, x.position, x.kind, x.title, x.outcome, left(x.reason, 1000), x.messages, x.files, x.target
    from json_to_recordset(${JSON.stringify(entries)}::json) as x (position int, kind text, title text, outcome text,
      reason text, messages int, files int, target text)
    on conflict (import_id, position) do nothing`.execute(trx);
}

/** Positions that still have to be imported. */
export async function openPositions(db: Queryable, importId: string): Promise<Set<number>> {
  const { rows } = await sql<{ position: number }>`
    select position from import_entries where import_id = ${importId} and not is_done and outcome in ('new', 'more')`.execute(
    db,
  );
  return new Set(rows.map(({ position }) => position));
}

/** Records an entry's outcome in the transaction that imports it. Without new messages, `first` and `last` are null. */
export async function settleEntry(
  trx: Queryable,
  at: { importId: string; position: number },
  came: { outcome: ImportOutcome; messages: number; files: number; first: number | null; last: number | null },
): Promise<void> {
  await trx
    .updateTable('import_entries')
    .set({ outcome: came.outcome, messages: came.messages, files: came.files, is_done: true })
    .set({ first_seq: came.first, last_seq: came.last })
    .where('import_id', '=', at.importId)
    .where('position', '=', at.position)
    .execute();
}

export async function leaveOut(
  db: Queryable,
  at: { importId: string; position: number },
  reason: string,
): Promise<void> {
  await db
    .updateTable('import_entries')
    .set({ outcome: 'left_out', reason })
    .where('import_id', '=', at.importId)
    .where('position', '=', at.position)
    .execute();
}

export async function noteAt(db: Queryable, at: { importId: string; position: number }, note: string): Promise<void> {
  await sql`
    update import_entries set reason = left(concat_ws('. ', reason, ${note}::text), 1000)
    where import_id = ${at.importId} and position = ${at.position}`.execute(db);
}

/** A page of the report, in the order of the archive; the caller has checked whose import it is. */
export async function listEntries(
  db: Queryable,
  importId: string,
  { limit = limits.pageDefault, after }: { limit?: number; after: number },
): Promise<{ entries: ImportEntry[]; nextCursor: string | null }> {
  const rows = await db
    .selectFrom('import_entries')
    .selectAll()
    .where('import_id', '=', importId)
    .where('position', '>', after)
    .orderBy('position')
    .limit(limit + 1)
    .execute();
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    entries: shown.map((row) => ({
      position: row.position,
      kind: row.kind,
      title: row.title,
      outcome: row.outcome,
      reason: row.reason,
      messages: row.messages,
      files: row.files,
      done: row.is_done,
      targetId: row.is_done || row.outcome === 'same' ? row.target_id : null,
    })),
    nextCursor: rows.length > limit && last !== undefined ? String(last.position) : null,
  };
}

export type ImportedEntry = {
  position: number;
  kind: ImportKind;
  outcome: ImportOutcome;
  target: string;
  first: number | null;
  last: number | null;
};

/** Imported entries, newest first; `last` covers all imports, so that messages added by others count as imported. */
export async function importedEntries(db: Queryable, importId: string, most: number): Promise<ImportedEntry[]> {
  const { rows } = await sql<ImportedEntry>`
    select e.position, e.kind, e.outcome, e.target_id as target, e.first_seq as first,
      (select max(x.last_seq) from import_entries x where x.target_id = e.target_id) as last
    from import_entries e
    where e.import_id = ${importId} and e.is_done and e.outcome in ('new', 'more')
    order by e.kind, e.position limit ${most}`.execute(db);
  return rows;
}

export async function forgetEntries(db: Queryable, importId: string, positions: readonly number[]): Promise<void> {
  await db
    .updateTable('import_entries')
    .set({ is_done: false, first_seq: null, last_seq: null })
    .where('import_id', '=', importId)
    .where('position', 'in', positions)
    .execute();
}
