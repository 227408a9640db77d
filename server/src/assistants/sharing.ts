import type { Audience } from '@homeport/contracts/catalogue/sharing';
import { ApiError } from '@homeport/contracts/errors';
import type { User } from '@homeport/contracts/fields';
import { limits } from '@homeport/contracts/limits';
import { type RawBuilder, sql } from 'kysely';
import { type AuditEvent, type AuditSource, recordEvent } from '../audit/audit.ts';
import type { Queryable } from '../db/pool.ts';
import { assertOpenProject } from '../projects/projects.ts';

/**
 * Access rules for assistants, saved prompts and skills. An object shared with a project belongs to the project, like
 * its files: members use it, owners of the project can also edit it, and it stays when its creator leaves.
 */

export type Reader = Pick<User, 'id' | 'role'>;
export type Shared = { owner_id: string; audience: Audience; project_id: string | null };
type SharedTable = 'assistants' | 'prompts' | 'skills';

const perOwner = {
  assistants: limits.assistantsPerOwner,
  prompts: limits.promptsPerOwner,
  skills: limits.skillsPerOwner,
};

/** SQL: the user may use the row, of one of these tables; both are SQL names. */
export function usableBy(row: string, user: string): string {
  return `case ${row}.audience when 'everyone' then true when 'me' then ${row}.owner_id = ${user}
    else exists (select from project_members pm where pm.project_id = ${row}.project_id and pm.user_id = ${user}) end`;
}

/** The same in a statement of its own. */
export function usable(row: string, userId: string): RawBuilder<boolean> {
  return sql<boolean>`exists (select from (select ${userId}::text as id) reader where ${sql.raw(usableBy(row, 'reader.id'))})`;
}

/** SQL: the ids of all that the user may use; each kind by an index. */
export function usableIds(table: SharedTable, userId: string): RawBuilder<unknown> {
  const rows = sql.table(table);
  return sql`
    select x.id from ${rows} x where x.owner_id = ${userId} and x.audience = 'me'
    union all select x.id from ${rows} x where x.audience = 'everyone'
    union all select x.id from project_members pm join ${rows} x on x.project_id = pm.project_id
      where pm.user_id = ${userId}`;
}

/** SQL: the user, who may use the row `x`, may also edit it. */
export function editable(x: string, reader: Reader): RawBuilder<boolean> {
  const row = sql.raw(x);
  return sql<boolean>`case ${row}.audience when 'everyone' then ${reader.role === 'admin'}::boolean
    else ${row}.owner_id = ${reader.id} or exists (select from project_members pm
      where pm.project_id = ${row}.project_id and pm.user_id = ${reader.id} and pm.role = 'owner') end`;
}

/** Locks one that the reader may edit. Throws `notFound` for one that they may not use, and `forbidden`. */
export async function lockEditable(
  trx: Queryable,
  table: SharedTable,
  reader: Reader,
  id: string,
  notFound: () => ApiError,
): Promise<Shared> {
  const { rows } = await sql<Shared & { can_edit: boolean }>`
    select x.owner_id, x.audience, x.project_id, ${editable('x', reader)} as can_edit from ${sql.table(table)} x
    where x.id = ${id} and ${usable('x', reader.id)} for no key update of x`.execute(trx);
  const row = rows[0];
  if (row === undefined) throw notFound();
  if (row.can_edit) return row;
  throw new ApiError('forbidden', `Only ${editors[row.audience]} can change this`);
}

const editors = {
  me: 'its owner',
  project: 'whoever made it and the owners of its project',
  everyone: 'an administrator',
} as const;

/** Throws `forbidden`, `not_found` and `project_archived` when this user may not share with these. */
export async function assertMayShare(
  db: Queryable,
  reader: Reader,
  { audience, project_id }: Pick<Shared, 'audience' | 'project_id'>,
): Promise<void> {
  if (audience === 'everyone' && reader.role !== 'admin') {
    throw new ApiError('forbidden', 'Only an administrator can share with everyone');
  }
  if (project_id !== null) await assertOpenProject(db, reader.id, project_id);
}

/**
 * Returns the new audience; undefined when it stays. Only its creator decides that, as they could not find it again if
 * others took it away. Throws what `assertMayShare` and `assertRoom` throw.
 */
export async function changeSharing(
  trx: Queryable,
  table: SharedTable,
  reader: Reader,
  before: Shared,
  change: { audience?: Audience; projectId?: string | null },
): Promise<Shared | undefined> {
  if (change.audience === undefined) return undefined;
  const after: Shared = { ...before, audience: change.audience, project_id: change.projectId ?? null };
  if (after.audience === before.audience && after.project_id === before.project_id) return undefined;
  if (before.owner_id !== reader.id) {
    throw new ApiError('forbidden', 'Only the person who made this can decide who may use it');
  }
  await assertMayShare(trx, reader, after);
  const moves = (before.audience === 'everyone') !== (after.audience === 'everyone');
  if (moves) await assertRoom(trx, table, after);
  return after;
}

/** Throws `invalid_request` when the limit is reached. No other transaction can add one there until this one ends. */
export async function assertRoom(trx: Queryable, table: SharedTable, { owner_id, audience }: Shared): Promise<void> {
  const isForAll = audience === 'everyone';
  const place = isForAll ? 'everyone' : owner_id;
  await sql`select pg_advisory_xact_lock(hashtextextended(${`${table}:${place}`}, 0))`.execute(trx);
  const counted = isForAll ? sql`audience = 'everyone'` : sql`owner_id = ${owner_id} and audience <> 'everyone'`;
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from ${sql.table(table)} where ${counted}`.execute(trx);
  const max = isForAll ? limits.sharedWithEveryoneMax : perOwner[table];
  if ((rows[0]?.count ?? 0) < max) return;
  const message = isForAll ? `At most ${max} ${table} for everyone` : `You can have at most ${max} ${table}`;
  throw new ApiError('invalid_request', message, { details: [{ path: 'name', message }] });
}

/** Records changes to shared objects in the audit log: by name, never with their text. */
export async function recordShared(
  trx: Queryable,
  source: AuditSource,
  rows: readonly (Pick<Shared, 'audience'> | undefined)[],
  event: AuditEvent,
): Promise<void> {
  if (rows.some((row) => row !== undefined && row.audience !== 'me')) await recordEvent(trx, source, event);
}

/**
 * Transfers a person's shared objects to the people they are shared with: to an owner of the project, or to an
 * administrator if shared with everyone. Names of prompts get a suffix if the new owner has a prompt of that name.
 */
export async function giveAwayShared(
  trx: Queryable,
  userId: string,
  administratorId: string | undefined,
): Promise<void> {
  for (const table of ['assistants', 'prompts', 'skills'] as const) {
    const heir = sql`coalesce((select m.user_id from project_members m where m.project_id = x.project_id and m.user_id <> ${userId}
        order by m.role desc, m.added_at limit 1), case when x.audience = 'everyone' then ${administratorId ?? null} end)`;
    if (table === 'prompts') {
      await sql`
        update prompts x set name = left(x.name, 55) || '-' || right(x.id, 8)
        where x.owner_id = ${userId} and x.audience <> 'me' and exists (
          select from prompts o where o.name = x.name and o.owner_id = ${heir})`.execute(trx);
    }
    await sql`
      update ${sql.table(table)} x set owner_id = ${heir}
      where x.owner_id = ${userId} and x.audience <> 'me' and ${heir} is not null`.execute(trx);
  }
}
