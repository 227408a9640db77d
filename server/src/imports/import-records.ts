import { randomUUIDv7 } from 'node:crypto';
import { ApiError } from '@homeport/contracts/errors';
import type { ImportRecord } from '@homeport/contracts/imports';
import { limits } from '@homeport/contracts/limits';
import { type Selectable, sql } from 'kysely';
import type { StoredBlob } from '../artifacts/blob-store.ts';
import { adoptBlob, discardStored } from '../artifacts/blobs.ts';
import { keeping, type UploadDeps } from '../artifacts/uploads.ts';
import { inTransaction, type Queryable } from '../db/pool.ts';
import type { ImportState, ImportsTable } from '../db/tables/imports.ts';

/** Import records. This file and import-claims.ts write the table `imports`. */

export type ImportRow = Selectable<ImportsTable>;

const listed = 50;
const problemsMax = 100;

/** Records a stored archive, to be read by any replica. Throws `rate_limited` when too many have not ended. */
export async function createImport(
  deps: UploadDeps,
  ownerId: string,
  given: { filename: string | undefined; isWanted: boolean },
  stored: StoredBlob,
): Promise<ImportRecord> {
  return keeping(deps, stored, async () => {
    const { id, key } = await inTransaction(deps.db, async (trx) => {
      await trx.selectFrom('users').select('id').where('id', '=', ownerId).forNoKeyUpdate().execute();
      await assertRoom(trx, ownerId);
      const content = await adoptBlob(trx, stored);
      const own = { id: randomUUIDv7(), owner_id: ownerId, state: 'reading', is_wanted: given.isWanted } as const;
      const file = { filename: given.filename ?? null, sha256: stored.sha256, size: stored.size };
      await trx
        .insertInto('imports')
        .values({ ...own, ...file, source: null, instructions: null, claim: null, claimed_until: null, ended_at: null })
        .execute();
      return { id: own.id, key: content.key };
    });
    if (key !== stored.key) await discardStored(deps, stored);
    return getImport(deps.db.kysely, ownerId, id);
  });
}

async function assertRoom(trx: Queryable, ownerId: string): Promise<void> {
  const { rows } = await sql<{ open: number }>`
    select count(*)::int as open from imports where owner_id = ${ownerId} and state in ('reading', 'ready', 'importing')`.execute(
    trx,
  );
  if ((rows[0]?.open ?? 0) < limits.importsOpenPerUser) return;
  throw new ApiError('rate_limited', 'Finish or cancel your other imports first', { retryAfter: 60 });
}

/** One of the caller's imports; the same `not_found` for a missing one and someone else's. */
export async function getImport(db: Queryable, ownerId: string, id: string): Promise<ImportRecord> {
  const row = await db
    .selectFrom('imports')
    .selectAll()
    .where('id', '=', id)
    .where('owner_id', '=', ownerId)
    .executeTakeFirst();
  const [view] = row === undefined ? [] : await viewImports(db, [row]);
  if (view === undefined) throw importNotFound();
  return view;
}

/** The newest ones. */
export async function listImports(db: Queryable, ownerId: string): Promise<ImportRecord[]> {
  const rows = await db
    .selectFrom('imports')
    .selectAll()
    .where('owner_id', '=', ownerId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(listed)
    .execute();
  return viewImports(db, rows);
}

function importNotFound(): ApiError {
  return new ApiError('not_found', 'Import not found');
}

/** Starts an import that was only read. Starting it again changes nothing; one that has ended throws `import_ended`. */
export async function startImport(db: Queryable, ownerId: string, id: string): Promise<ImportRecord> {
  const { rows } = await sql<{ state: ImportState }>`
    update imports set is_wanted = true, updated_at = now(), problems = case state when 'failed' then '[]' else problems end,
      attempts = case when state in ('ready', 'failed') then 0 else attempts end,
      ended_at = null, state = case when state = 'ready' then 'importing' when state = 'failed' then 'reading' else state end
    where id = ${id} and owner_id = ${ownerId}
      and (state in ('reading', 'ready', 'importing') or (state = 'failed' and sha256 is not null))
    returning state`.execute(db);
  const found = await getImport(db, ownerId, id);
  if (rows.length === 0 && found.state !== 'done') {
    throw new ApiError('import_ended', 'This import has ended. Upload the archive again.');
  }
  return found;
}

/** Cancels an unfinished import; items imported so far stay. Returns whether there was something to cancel. */
export async function cancelImport(db: Queryable, ownerId: string, id: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update imports set state = 'cancelled', sha256 = null, claim = null, claimed_until = null, ended_at = now(), updated_at = now()
    where id = ${id} and owner_id = ${ownerId} and state in ('reading', 'ready', 'importing')`.execute(db);
  return Number(numAffectedRows ?? 0n) > 0;
}

/** Marks an ended import as being undone, so that another replica finishes it if this one cannot. */
export async function beginUndo(db: Queryable, ownerId: string, id: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update imports set is_undoing = true, updated_at = now()
    where id = ${id} and owner_id = ${ownerId} and state in ('done', 'failed', 'cancelled')`.execute(db);
  return Number(numAffectedRows ?? 0n) > 0;
}

export async function endUndo(db: Queryable, id: string, kept: readonly string[]): Promise<void> {
  await sql`
    update imports set state = 'undone', is_undoing = false, sha256 = null, updated_at = now(), ended_at = now(),
      problems = ${JSON.stringify(kept)}::jsonb
    where id = ${id} and is_undoing`.execute(db);
}

type Counted = ImportRecord['counts'] & { id: string };

async function viewImports(db: Queryable, rows: readonly ImportRow[]): Promise<ImportRecord[]> {
  const ids = rows.map(({ id }) => id);
  const { rows: counted } = await sql<Counted>`
    select import_id as id, count(*) filter (where conversation)::int as conversations,
      coalesce(sum(messages), 0)::int as messages, coalesce(sum(files), 0)::int as files,
      count(*) filter (where kind = 'project')::int as projects,
      count(*) filter (where kind = 'assistant')::int as assistants,
      count(*) filter (where kind = 'prompt')::int as prompts,
      count(*) filter (where kind = 'skill')::int as skills,
      count(*) filter (where conversation and outcome = 'new')::int as new,
      count(*) filter (where conversation and outcome = 'more')::int as more,
      count(*) filter (where conversation and outcome = 'same')::int as same,
      count(*) filter (where conversation and outcome = 'left_out')::int as "leftOut",
      count(*) filter (where conversation and is_done and outcome in ('new', 'more'))::int as imported
    from (select *, kind = 'conversation' as conversation from import_entries where import_id = any(${ids})) e
    group by import_id`.execute(db);
  const { rows: reasons } = await sql<{ id: string; title: string; message: string }>`
    select i.id, e.title, e.reason as message from unnest(${ids}::text[]) i (id) cross join lateral (
      select title, reason from import_entries e
      where e.import_id = i.id and e.reason is not null and e.outcome <> 'same' order by position limit ${problemsMax}
    ) e`.execute(db);
  return rows.map((row) => ({
    id: row.id,
    state: row.state,
    source: row.source,
    counts: countsOf(counted.find(({ id }) => id === row.id)),
    problems: [
      ...row.problems.map((message) => ({ title: null, message })),
      ...reasons.filter(({ id }) => id === row.id).map(({ title, message }) => ({ title, message })),
    ].slice(0, problemsMax),
    filename: row.filename,
    size: row.size,
    instructions: row.instructions,
    createdAt: row.created_at.toISOString(),
    endedAt: row.ended_at?.toISOString() ?? null,
  }));
}

const none: ImportRecord['counts'] = {
  conversations: 0,
  messages: 0,
  files: 0,
  projects: 0,
  assistants: 0,
  prompts: 0,
  skills: 0,
  new: 0,
  more: 0,
  same: 0,
  leftOut: 0,
  imported: 0,
};

function countsOf(counted: Counted | undefined): ImportRecord['counts'] {
  if (counted === undefined) return none;
  const { id: _, ...counts } = counted;
  return counts;
}
