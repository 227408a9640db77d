import { randomUUIDv7 } from 'node:crypto';
import type { Audience } from '@homeport/contracts/catalogue/sharing';
import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import type { NewPrompt, Prompt, PromptChange } from '@homeport/contracts/prompts';
import { type RawBuilder, sql } from 'kysely';
import { type AuditSource, changedFields } from '../audit/audit.ts';
import { afterCursor, encodeCursor, microsOf, pageOf } from '../db/keyset.ts';
import { type Database, inTransaction, type Queryable } from '../db/pool.ts';
import {
  assertMayShare,
  assertRoom,
  changeSharing,
  editable,
  lockEditable,
  type Reader,
  recordShared,
  type Shared,
  usable,
  usableIds,
} from './sharing.ts';

/** Saved prompts (contract.md section 11). This file alone writes the tables `prompts` and `prompt_uses`. */

type Deps = { db: Pick<Database, 'kysely'> };

/** A prompt carries up to fifty kilobytes; a page of more would hold up others. */
const pageMax = 100;

function promptNotFound(): ApiError {
  return new ApiError('not_found', 'Prompt not found');
}

/** A page of those that the reader may use: last used first, then the newest; `q` looks in name and title. */
export async function listPrompts(
  deps: Deps,
  reader: Reader,
  request: { q?: string; limit?: number; cursor?: string },
): Promise<{ prompts: Prompt[]; nextCursor: string | null }> {
  const { q = '', cursor } = request;
  const limit = Math.min(request.limit ?? limits.pageDefault, pageMax);
  const { rows } = await promptRows(
    reader,
    sql`
    where p.id in (${usableIds('prompts', reader.id)}) and ${afterCursor('used.at', 'p.id', cursor)}
      and position(lower(${q}) in lower(p.name || ' ' || p.title)) > 0
    order by used.at desc, p.id desc limit ${limit + 1}`,
  ).execute(deps.db.kysely);
  const { shown, nextCursor } = pageOf(rows, limit, (last) => encodeCursor({ micros: last.used_micros, id: last.id }));
  return { prompts: shown.map(viewPrompt), nextCursor };
}

/**
 * Throws `forbidden`, `not_found` and `project_archived` for the sharing, `id_taken` for the name, and
 * `invalid_request`.
 */
export async function createPrompt(deps: Deps, reader: Reader, body: NewPrompt, source: AuditSource): Promise<Prompt> {
  const { name, text, title = name, audience = 'me', projectId = null } = body;
  return inTransaction(deps.db, async (trx) => {
    await lockNaming(trx);
    const shared: Shared = { owner_id: reader.id, audience, project_id: projectId };
    await assertMayShare(trx, reader, shared);
    await assertRoom(trx, 'prompts', shared);
    const id = await insertPrompt(trx, shared, { name, title, text });
    const details = { name, audience };
    await recordShared(trx, source, [shared], { action: 'prompt.created', ...targetOf(id), details });
    return readPrompt(trx, reader, id);
  });
}

export type PromptContent = { name: string; title: string; text: string };

/** Throws `id_taken`. */
async function insertPrompt(trx: Queryable, shared: Shared, content: PromptContent): Promise<string> {
  await lockNames(trx, shared.owner_id);
  const [id] = await insertPrompts(trx, [{ shared, content }]);
  if (id === undefined) throw nameTaken();
  return id;
}

/** Stores new ones; a name that its owner has given already leaves its prompt out. Returns the ids. */
export async function insertPrompts(
  trx: Queryable,
  records: readonly { id?: string; shared: Shared; content: PromptContent }[],
): Promise<string[]> {
  const rows = records.map(({ id, shared, content }, place) => ({
    ...shared,
    ...content,
    id: id ?? randomUUIDv7(),
    place,
  }));
  const made = await sql<{ id: string }>`
    insert into prompts (id, owner_id, audience, project_id, name, title, text, created_at)
    select x.id, x.owner_id, x.audience, x.project_id, x.name, x.title, x.text, now() + x.place * interval '1 microsecond'
    from json_to_recordset(${JSON.stringify(rows)}::json) as x
      (id text, owner_id text, audience text, project_id text, name text, title text, text text, place int)
    order by x.place on conflict (owner_id, name) do nothing returning id`.execute(trx);
  return made.rows.map(({ id }) => id);
}

/** Throws as `createPrompt`. */
export async function updatePrompt(
  deps: Deps,
  reader: Reader,
  change: PromptChange,
  source: AuditSource,
): Promise<Prompt> {
  const { id, name, title, text } = change;
  return inTransaction(deps.db, async (trx) => {
    if (name !== undefined) await lockNaming(trx);
    const before = await lockEditable(trx, 'prompts', reader, id, promptNotFound);
    const shared = await changeSharing(trx, 'prompts', reader, before, change);
    if (name !== undefined) await assertFreeName(trx, before.owner_id, id, name);
    const changed = changedFields({ name, title, text, audience: shared?.audience });
    if (changed.length > 0) await storePrompt(trx, id, { name, title, text }, shared ?? before);
    const prompt = await readPrompt(trx, reader, id);
    if (changed.length > 0) {
      const details = { name: prompt.name, changed, audience: prompt.audience };
      await recordShared(trx, source, [before, shared], { action: 'prompt.updated', ...targetOf(id), details });
    }
    return prompt;
  });
}

export async function storePrompt(
  trx: Queryable,
  id: string,
  { name, title, text }: { [Name in keyof PromptContent]?: string },
  { audience, project_id }: Pick<Shared, 'audience' | 'project_id'>,
): Promise<void> {
  await trx
    .updateTable('prompts')
    .set({ name, title, text, audience, project_id, updated_at: sql`now()` })
    .where('id', '=', id)
    .execute();
}

/** Throws `not_found` and `forbidden`. */
export async function deletePrompt(deps: Deps, reader: Reader, id: string, source: AuditSource): Promise<void> {
  await inTransaction(deps.db, async (trx) => {
    const shared = await lockEditable(trx, 'prompts', reader, id, promptNotFound);
    const { name } = await trx.deleteFrom('prompts').where('id', '=', id).returning('name').executeTakeFirstOrThrow();
    const details = { name, audience: shared.audience };
    await recordShared(trx, source, [shared], { action: 'prompt.deleted', ...targetOf(id), details });
  });
}

/** False if it is gone, or was changed since it was made. */
export async function deleteUnchangedPrompt(trx: Queryable, ownerId: string, id: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    delete from prompts where id = ${id} and owner_id = ${ownerId} and updated_at <= created_at`.execute(trx);
  return numAffectedRows === 1n;
}

/** Notes that the reader has used it now. Throws `not_found`. */
export async function notePromptUsed(deps: Deps, reader: Reader, id: string): Promise<void> {
  const { numAffectedRows } = await sql`
    insert into prompt_uses (user_id, prompt_id, used_at)
    select ${reader.id}, p.id, now() from prompts p where p.id = ${id} and ${usable('p', reader.id)}
      for key share of p
    on conflict (user_id, prompt_id) do update set used_at = excluded.used_at`.execute(deps.db.kysely);
  if (numAffectedRows !== 1n) throw promptNotFound();
}

// Naming one prompt takes this lock shared; naming many takes it exclusively, before any row.
const naming = sql`hashtextextended('prompt-names', 0)`;

async function lockNaming(trx: Queryable): Promise<void> {
  await sql`select pg_advisory_xact_lock_shared(${naming})`.execute(trx);
}

/** Blocks naming of any prompt by other transactions until this one ends. */
export async function lockAllNaming(trx: Queryable): Promise<void> {
  await sql`select pg_advisory_xact_lock(${naming})`.execute(trx);
}

/** Blocks naming of this owner's prompts by other transactions until this one ends. */
async function lockNames(trx: Queryable, ownerId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`prompt-names:${ownerId}`}, 0))`.execute(trx);
}

async function assertFreeName(trx: Queryable, ownerId: string, id: string, name: string): Promise<void> {
  await lockNames(trx, ownerId);
  const other = await trx
    .selectFrom('prompts')
    .select('id')
    .where('owner_id', '=', ownerId)
    .where('name', '=', name)
    .where('id', '!=', id)
    .executeTakeFirst();
  if (other !== undefined) throw nameTaken();
}

function nameTaken(): ApiError {
  const message = 'Another prompt of the same owner has this name';
  return new ApiError('id_taken', message, { details: [{ path: 'name', message }] });
}

type PromptRow = {
  id: string;
  owner_id: string;
  audience: Audience;
  project_id: string | null;
  name: string;
  title: string;
  text: string;
  can_edit: boolean;
  used_at: Date | null;
  used_micros: number;
  created_at: Date;
  updated_at: Date;
};

function promptRows(reader: Reader, rest: RawBuilder<unknown>): RawBuilder<PromptRow> {
  return sql<PromptRow>`
    select p.id, p.owner_id, p.audience, p.project_id, p.name, p.title, p.text, ${editable('p', reader)} as can_edit,
      pu.used_at, ${sql.raw(microsOf('used.at'))} as used_micros, p.created_at, p.updated_at
    from prompts p left join prompt_uses pu on pu.prompt_id = p.id and pu.user_id = ${reader.id}
    cross join lateral (select coalesce(pu.used_at, timestamptz 'epoch') as at) used ${rest}`;
}

async function readPrompt(db: Queryable, reader: Reader, id: string): Promise<Prompt> {
  const { rows } = await promptRows(reader, sql`where p.id = ${id} and ${usable('p', reader.id)}`).execute(db);
  const row = rows[0];
  if (row === undefined) throw promptNotFound();
  return viewPrompt(row);
}

function viewPrompt(row: PromptRow): Prompt {
  return {
    id: row.id,
    name: row.name,
    title: row.title,
    text: row.text,
    audience: row.audience,
    projectId: row.project_id,
    ownerId: row.owner_id,
    canEdit: row.can_edit,
    lastUsedAt: row.used_at?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

function targetOf(id: string) {
  return { targetType: 'prompt', targetId: id } as const;
}
