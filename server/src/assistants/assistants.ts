import { randomUUIDv7 } from 'node:crypto';
import type { Assistant, AssistantChange, AssistantVersion, NewAssistant } from '@homeport/contracts/assistants';
import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import { sql } from 'kysely';
import type { AuditSource } from '../audit/audit.ts';
import { catalogueOwner } from '../catalogue/catalogue-owner.ts';
import type { Config } from '../config/config.ts';
import { afterCursor, encodeCursor, pageOf } from '../db/keyset.ts';
import { type Database, inTransaction, type Queryable } from '../db/pool.ts';
import { assistantRows, type Looker, versionRows, viewAssistant, viewVersion } from './assistant-view.ts';
import { restoreFiles } from './knowledge.ts';
import {
  assertMayShare,
  assertRoom,
  changeSharing,
  lockEditable,
  type Reader,
  recordShared,
  type Shared,
  usable,
  usableIds,
} from './sharing.ts';
import {
  changedMembers,
  insertVersions,
  newContent,
  readContent,
  type StoredContent,
  withChanges,
} from './versions.ts';

/** Assistants (contract.md section 11). This file alone writes the table `assistants`. */

type Deps = { db: Pick<Database, 'kysely'>; config: Pick<Config, 'edition'> };

/** An assistant carries up to a hundred kilobytes; a page of more would hold up others. */
const pageMax = 100;

/** The one answer for an assistant that is missing or not for this person. */
export function assistantNotFound(): ApiError {
  return new ApiError('not_found', 'Assistant not found');
}

/** A page of those that the reader may use, last changed first; `q` looks in name and description. */
export async function listAssistants(
  deps: Deps,
  reader: Reader,
  request: { q?: string; limit?: number; cursor?: string },
): Promise<{ assistants: Assistant[]; nextCursor: string | null }> {
  const { q = '', cursor } = request;
  const limit = Math.min(request.limit ?? limits.pageDefault, pageMax);
  const page = sql`
    select a.id from assistants a join assistant_versions v on v.assistant_id = a.id and v.version = a.version
    where a.id in (${usableIds('assistants', reader.id)}) and ${afterCursor('v.created_at', 'a.id', cursor)}
      and position(lower(${q}) in lower(v.name || ' ' || v.description)) > 0
    order by v.created_at desc, a.id desc limit ${limit + 1}`;
  const { rows } = await assistantRows(lookerOf(deps, reader), page).execute(deps.db.kysely);
  const { shown, nextCursor } = pageOf(rows, limit, (last) =>
    encodeCursor({ micros: last.updated_micros, id: last.id }),
  );
  return { assistants: shown.map(viewAssistant), nextCursor };
}

/** One that the reader may use. Throws `not_found`. */
export async function getAssistant(deps: Deps, reader: Reader, id: string): Promise<Assistant> {
  return readAssistant(deps, deps.db.kysely, reader, id);
}

/** Throws `not_found` unless the user may use it; in a transaction it then stays until the end. */
export async function assertUsableAssistant(db: Queryable, userId: string, id: string): Promise<void> {
  const lock = db.isTransaction ? sql`for key share of a` : sql``;
  const { rows } = await sql`select from assistants a where a.id = ${id} and ${usable('a', userId)} ${lock}`.execute(
    db,
  );
  if (rows.length === 0) throw assistantNotFound();
}

/** Throws `forbidden`, `not_found` for what is not the maker's, `project_archived`, and `invalid_request`. */
export async function createAssistant(
  deps: Deps,
  reader: Reader,
  body: NewAssistant,
  source: AuditSource,
): Promise<Assistant> {
  return inTransaction(deps.db, async (trx) => {
    const shared: Shared = {
      owner_id: reader.id,
      audience: body.audience ?? 'me',
      project_id: body.projectId ?? null,
    };
    await assertMayShare(trx, reader, shared);
    const content = await withChanges(trx, lookerOf(deps, reader), newContent(body.name), body);
    await assertRoom(trx, 'assistants', shared);
    const [id = ''] = await insertAssistants(trx, [{ shared, content }], reader.id);
    const details = { name: content.name, audience: shared.audience };
    await recordShared(trx, source, [shared], { action: 'assistant.created', ...targetOf(id), details });
    return readAssistant(deps, trx, reader, id);
  });
}

/** Stores new ones, each with its first version, in this order. Returns their ids. */
export async function insertAssistants(
  trx: Queryable,
  records: readonly { id?: string; shared: Shared; content: StoredContent }[],
  authorId: string | null,
): Promise<string[]> {
  if (records.length === 0) return [];
  const made = records.map((record, place) => ({ ...record, id: record.id ?? randomUUIDv7(), place }));
  await trx
    .insertInto('assistants')
    .values(
      made.map(({ id, shared, place }) => ({
        id,
        ...shared,
        version: 1,
        created_at: sql<Date>`now() + ${place} * interval '1 microsecond'`,
      })),
    )
    .execute();
  await insertVersions(
    trx,
    made.map(({ id, shared, content }) => ({ id, version: 1, authorId, shared, content })),
  );
  return made.map(({ id }) => id);
}

/**
 * Changes the given fields, or restores a version; an update without changes creates no version. Throws `forbidden`,
 * `not_found`, `project_archived` and `invalid_request`.
 */
export async function updateAssistant(
  deps: Deps,
  reader: Reader,
  change: AssistantChange,
  source: AuditSource,
): Promise<Assistant> {
  const { id } = change;
  return inTransaction(deps.db, async (trx) => {
    const before = await lockEditable(trx, 'assistants', reader, id, assistantNotFound);
    const shared = await changeSharing(trx, 'assistants', reader, before, change);
    const content = await readContent(trx, id);
    const wanted =
      change.restoreVersion === undefined
        ? await withChanges(trx, lookerOf(deps, reader), content, change)
        : await readVersion(trx, reader, id, change.restoreVersion);
    const hasOtherFiles = change.restoreVersion !== undefined && (await restoreFiles(trx, id, change.restoreVersion));
    const changed = [
      ...changedMembers(content, wanted),
      ...(hasOtherFiles ? ['files'] : []),
      ...(shared === undefined ? [] : ['audience']),
    ];
    if (changed.length > 0) {
      await storeVersion(trx, id, shared ?? before, wanted, reader.id);
      const details = { name: wanted.name, changed, audience: (shared ?? before).audience };
      await recordShared(trx, source, [before, shared], { action: 'assistant.updated', ...targetOf(id), details });
    }
    return readAssistant(deps, trx, reader, id);
  });
}

/** Makes the next version of one that is locked, with its present files. */
export async function storeVersion(
  trx: Queryable,
  id: string,
  shared: Shared,
  content: StoredContent,
  authorId: string | null,
  addsFiles = false,
): Promise<void> {
  const { audience, project_id } = shared;
  const { version } = await trx
    .updateTable('assistants')
    .set((row) => ({ version: row('version', '+', 1), audience, project_id }))
    .where('id', '=', id)
    .returning('version')
    .executeTakeFirstOrThrow();
  await insertVersions(trx, [{ id, version, authorId, shared, content, addsFiles }]);
}

/**
 * Deletes an assistant. Its conversations keep their messages and continue without it. Throws `not_found` and
 * `forbidden`.
 */
export async function deleteAssistant(deps: Deps, reader: Reader, id: string, source: AuditSource): Promise<void> {
  await inTransaction(deps.db, async (trx) => {
    const shared = await lockEditable(trx, 'assistants', reader, id, assistantNotFound);
    const { name } = await readContent(trx, id);
    await trx.deleteFrom('assistants').where('id', '=', id).execute();
    const details = { name, audience: shared.audience };
    await recordShared(trx, source, [shared], { action: 'assistant.deleted', ...targetOf(id), details });
  });
}

/** False if it is gone, or was changed since it was made. */
export async function deleteUnchangedAssistant(trx: Queryable, ownerId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('assistants')
    .where('id', '=', id)
    .where('owner_id', '=', ownerId)
    .where('version', '=', 1)
    .executeTakeFirstOrThrow();
  return numDeletedRows === 1n;
}

/** The versions that are kept, newest first, for those who may edit it. Throws `not_found` and `forbidden`. */
export async function listVersions(deps: Deps, reader: Reader, id: string): Promise<AssistantVersion[]> {
  const assistant = await readAssistant(deps, deps.db.kysely, reader, id);
  if (!assistant.canEdit) throw new ApiError('forbidden', 'Only those who may edit this assistant see its versions');
  const { rows } = await versionRows(lookerOf(deps, reader), id, openTo(reader)).execute(deps.db.kysely);
  return rows.map(viewVersion);
}

/**
 * SQL: versions open to a reader. Versions that were private, or another project's, are visible to their owner only;
 * other editors see those that they could have seen then.
 */
function openTo(reader: Reader) {
  return sql<boolean>`(a.owner_id = ${reader.id}
    or (v.audience = a.audience and v.project_id is not distinct from a.project_id))`;
}

async function readVersion(trx: Queryable, reader: Reader, id: string, version: number): Promise<StoredContent> {
  const { rows } = await sql`
    select from assistants a join assistant_versions v on v.assistant_id = a.id
    where a.id = ${id} and v.version = ${version} and ${openTo(reader)}`.execute(trx);
  if (rows.length === 0) throw new ApiError('not_found', 'Version not found');
  return readContent(trx, id, version);
}

async function readAssistant(deps: Deps, db: Queryable, reader: Reader, id: string): Promise<Assistant> {
  const own = sql`select x.id from assistants x where x.id = ${id} and ${usable('x', reader.id)}`;
  const { rows } = await assistantRows(lookerOf(deps, reader), own).execute(db);
  const row = rows[0];
  if (row === undefined) throw assistantNotFound();
  return viewAssistant(row);
}

function lookerOf(deps: Deps, reader: Reader): Looker {
  return { id: reader.id, role: reader.role, catalogue: catalogueOwner(deps.config, reader.id) };
}

function targetOf(id: string) {
  return { targetType: 'assistant', targetId: id } as const;
}
