import { randomUUIDv7 } from 'node:crypto';
import type { Audience } from '@homeport/contracts/catalogue/sharing';
import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import type { Skill, SkillChange } from '@homeport/contracts/skills';
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
import type { SkillPackage } from './skill-package.ts';

/** Skills that people add (contract.md section 11). This file writes the tables `skills` and `skill_files`. */

type Deps = { db: Pick<Database, 'kysely'> };

const pageMax = 100;

export function skillNotFound(): ApiError {
  return new ApiError('not_found', 'Skill not found');
}

/** A page of those that the reader may use, newest first. */
export async function listSkills(
  deps: Deps,
  reader: Reader,
  request: { limit?: number; cursor?: string },
): Promise<{ skills: Skill[]; nextCursor: string | null }> {
  const limit = Math.min(request.limit ?? limits.pageDefault, pageMax);
  const { rows } = await skillRows(
    reader,
    sql`where s.id in (${usableIds('skills', reader.id)}) and ${afterCursor('s.created_at', 's.id', request.cursor)}
      order by s.created_at desc, s.id desc limit ${limit + 1}`,
  ).execute(deps.db.kysely);
  const { shown, nextCursor } = pageOf(rows, limit, (last) =>
    encodeCursor({ micros: last.created_micros, id: last.id }),
  );
  return { skills: shown.map(viewSkill), nextCursor };
}

/** For whom a skill is added. */
type Given = { audience?: Audience; projectId?: string | null };

/** Throws what sharing throws. */
export async function assertMayAddSkill(deps: Deps, reader: Reader, given: Given): Promise<void> {
  await assertMayShare(deps.db.kysely, reader, sharedAs(reader, given));
}

function sharedAs(reader: Reader, { audience = 'me', projectId = null }: Given): Shared {
  return { owner_id: reader.id, audience, project_id: projectId };
}

/** Adds a skill, which its creator trusts. Throws what sharing throws, `id_taken`, and `invalid_request`. */
export async function createSkill(
  deps: Deps,
  reader: Reader,
  given: Given,
  content: SkillPackage,
  source: AuditSource,
): Promise<Skill> {
  const shared = sharedAs(reader, given);
  const { name, fingerprint } = content;
  return inTransaction(deps.db, async (trx) => {
    await assertMayShare(trx, reader, shared);
    await assertRoom(trx, 'skills', shared);
    const id = randomUUIDv7();
    await insertSkill(trx, id, shared, content);
    await storeTrust(trx, reader.id, id, fingerprint);
    const details = { name, audience: shared.audience, fingerprint };
    await recordShared(trx, source, [shared], { action: 'skill.created', ...targetOf(id), details });
    return readSkill(trx, reader, id);
  });
}

/** Stores a new skill without any trust. Throws `id_taken` and `invalid_request`. */
export async function insertSkill(trx: Queryable, id: string, shared: Shared, content: SkillPackage): Promise<void> {
  const { name, description, fingerprint, bytes, files } = content;
  await assertBytes(trx, shared, bytes, '');
  const counted = { name, description, fingerprint, bytes, files: files.length };
  await naming(name, () =>
    trx
      .insertInto('skills')
      .values({ id, ...shared, ...counted })
      .execute(),
  );
  await storeFiles(trx, id, content);
}

/** False if it is gone, or was changed since it was made. */
export async function deleteUnchangedSkill(trx: Queryable, ownerId: string, id: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    delete from skills where id = ${id} and owner_id = ${ownerId} and updated_at <= created_at`.execute(trx);
  return numAffectedRows === 1n;
}

/** Puts other files in the place of a skill's. Everybody else has to trust it again. Throws as `createSkill`. */
export async function replaceSkill(
  deps: Deps,
  reader: Reader,
  id: string,
  content: SkillPackage,
  source: AuditSource,
): Promise<Skill> {
  const { name, description, fingerprint, bytes, files } = content;
  return naming(name, () =>
    inTransaction(deps.db, async (trx) => {
      const shared = await lockEditable(trx, 'skills', reader, id, skillNotFound);
      await assertBytes(trx, shared, bytes, id);
      await trx.deleteFrom('skill_files').where('skill_id', '=', id).execute();
      await trx
        .updateTable('skills')
        .set({ name, description, fingerprint, bytes, files: files.length, updated_at: sql`now()` })
        .where('id', '=', id)
        .execute();
      await storeFiles(trx, id, content);
      await storeTrust(trx, reader.id, id, fingerprint);
      const details = { name, changed: ['files'], audience: shared.audience, fingerprint };
      await recordShared(trx, source, [shared], { action: 'skill.updated', ...targetOf(id), details });
      return readSkill(trx, reader, id);
    }),
  );
}

/** Switches a skill on or off, or changes who may use it. Throws as `createSkill`. */
export async function updateSkill(
  deps: Deps,
  reader: Reader,
  change: SkillChange,
  source: AuditSource,
): Promise<Skill> {
  const { id, enabled } = change;
  return naming('', () =>
    inTransaction(deps.db, async (trx) => {
      const before = await lockEditable(trx, 'skills', reader, id, skillNotFound);
      const shared = await changeSharing(trx, 'skills', reader, before, change);
      const skill = await readSkill(trx, reader, id);
      if (shared !== undefined && (shared.audience === 'everyone') !== (before.audience === 'everyone')) {
        await assertBytes(trx, shared, skill.bytes, id);
      }
      const changed = changedFields({ enabled, audience: shared?.audience });
      if (changed.length === 0) return skill;
      const { audience, project_id } = shared ?? before;
      await trx
        .updateTable('skills')
        .set({ enabled, audience, project_id, updated_at: sql`now()` })
        .where('id', '=', id)
        .execute();
      const details = { name: skill.name, changed, audience, enabled: enabled ?? skill.enabled };
      await recordShared(trx, source, [before, shared], { action: 'skill.updated', ...targetOf(id), details });
      return readSkill(trx, reader, id);
    }),
  );
}

/** Throws `not_found` and `forbidden`. */
export async function deleteSkill(deps: Deps, reader: Reader, id: string, source: AuditSource): Promise<void> {
  await inTransaction(deps.db, async (trx) => {
    const shared = await lockEditable(trx, 'skills', reader, id, skillNotFound);
    const { name } = await trx.deleteFrom('skills').where('id', '=', id).returning('name').executeTakeFirstOrThrow();
    const details = { name, audience: shared.audience };
    await recordShared(trx, source, [shared], { action: 'skill.deleted', ...targetOf(id), details });
  });
}

/** One that the reader may use. Throws `not_found`. */
export async function readSkill(db: Queryable, reader: Reader, id: string): Promise<Skill> {
  const { rows } = await skillRows(reader, sql`where s.id = ${id} and ${usable('s', reader.id)}`).execute(db);
  const row = rows[0];
  if (row === undefined) throw skillNotFound();
  return viewSkill(row);
}

async function storeFiles(trx: Queryable, id: string, content: SkillPackage): Promise<void> {
  await trx
    .insertInto('skill_files')
    .values(content.files.map((file) => ({ skill_id: id, ...file })))
    .execute();
}

/** The caller holds the skill's row. */
export async function storeTrust(trx: Queryable, userId: string, id: string, fingerprint: string): Promise<void> {
  await sql`
    insert into skill_trusts (user_id, skill_id, fingerprint, files)
    select ${userId}, ${id}, ${fingerprint}, jsonb_object_agg(f.path, f.sha256) from skill_files f where f.skill_id = ${id}
    on conflict (user_id, skill_id) do update
      set fingerprint = excluded.fingerprint, files = excluded.files, trusted_at = now()`.execute(trx);
}

/**
 * Throws `invalid_request` when the skills there would exceed the total size. No other transaction can add one there
 * until this one ends.
 */
async function assertBytes(trx: Queryable, { owner_id, audience }: Shared, bytes: number, id: string): Promise<void> {
  const isForAll = audience === 'everyone';
  const place = isForAll ? 'everyone' : owner_id;
  await sql`select pg_advisory_xact_lock(hashtextextended(${`skill-bytes:${place}`}, 0))`.execute(trx);
  const counted = isForAll ? sql`audience = 'everyone'` : sql`owner_id = ${owner_id} and audience <> 'everyone'`;
  const { rows } = await sql<{ bytes: number }>`
    select coalesce(sum(bytes), 0)::int8 as bytes from skills where ${counted} and id <> ${id}`.execute(trx);
  const max = isForAll ? limits.skillBytesForEveryone : limits.skillBytesPerOwner;
  if (Number(rows[0]?.bytes ?? 0) + bytes <= max) return;
  const message = `All skills ${isForAll ? 'for everyone' : 'of one person'} have at most ${max / 1024 / 1024} MiB. Remove some first.`;
  throw new ApiError('invalid_request', message, { details: [{ path: 'file', message }] });
}

/** The name is unique where the skill applies. */
async function naming<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === '23505')) throw error;
    const message = `A skill named ${name === '' ? 'like this' : name} is already there. Replace its files, or remove it.`;
    throw new ApiError('id_taken', message, { details: [{ path: 'name', message }], cause: error });
  }
}

type SkillRow = {
  id: string;
  owner_id: string;
  owner_name: string;
  audience: Audience;
  project_id: string | null;
  name: string;
  description: string;
  fingerprint: string;
  trusted: string | null;
  enabled: boolean;
  files: number;
  bytes: number;
  can_edit: boolean;
  created_at: Date;
  created_micros: number;
  updated_at: Date;
};

function skillRows(reader: Reader, rest: RawBuilder<unknown>): RawBuilder<SkillRow> {
  return sql<SkillRow>`
    select s.id, s.owner_id, u.name as owner_name, s.audience, s.project_id, s.name, s.description, s.fingerprint,
      t.fingerprint as trusted, s.enabled, s.files, s.bytes, ${editable('s', reader)} as can_edit,
      s.created_at, ${sql.raw(microsOf('s.created_at'))} as created_micros, s.updated_at
    from skills s join users u on u.id = s.owner_id
    left join skill_trusts t on t.skill_id = s.id and t.user_id = ${reader.id} ${rest}`;
}

function viewSkill(row: SkillRow): Skill {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    audience: row.audience,
    projectId: row.project_id,
    ownerId: row.owner_id,
    ownerName: row.owner_name,
    canEdit: row.can_edit,
    enabled: row.enabled,
    files: row.files,
    bytes: row.bytes,
    fingerprint: row.fingerprint,
    trust: row.trusted === null ? 'new' : row.trusted === row.fingerprint ? 'trusted' : 'changed',
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

export function targetOf(id: string) {
  return { targetType: 'skill', targetId: id } as const;
}
