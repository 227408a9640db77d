import { ApiError } from '@homeport/contracts/errors';
import type { User } from '@homeport/contracts/fields';
import { limits } from '@homeport/contracts/limits';
import { sql } from 'kysely';
import type { AuditSource } from '../audit/audit.ts';
import type { Queryable } from '../db/pool.ts';
import { assistantNotFound, storeVersion } from './assistants.ts';
import { storeFiles } from './knowledge.ts';
import { lockEditable, recordShared, type Shared, usable } from './sharing.ts';
import { readContent } from './versions.ts';

/** Access to the knowledge files of an assistant, and the versions that their changes make. */

/** Files that one person adds within this time, without another change, share a version. */
const sharedVersion = sql`interval '10 minutes'`;

/** Whether the assistant belongs to an archived project. Throws `not_found` unless the user may use it. */
export async function assertReadableFiles(db: Queryable, userId: string, id: string): Promise<boolean> {
  const { rows } = await sql<{ archived: boolean }>`
    select coalesce((select p.archived from projects p where p.id = a.project_id), false) as archived
    from assistants a where a.id = ${id} and ${usable('a', userId)}`.execute(db);
  const row = rows[0];
  if (row === undefined) throw assistantNotFound();
  return row.archived;
}

/** Locks the assistant for a change of its files. Throws `not_found` and `forbidden`. */
export async function lockFiles(trx: Queryable, userId: string, id: string): Promise<void> {
  await lockEditable(trx, 'assistants', await editorOf(trx, userId), id, assistantNotFound);
}

/** Throws `invalid_request` if the assistant, which is locked, can have no other file. */
export async function assertRoomForFile(trx: Queryable, id: string): Promise<void> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from artifacts where assistant_id = ${id}`.execute(trx);
  if ((rows[0]?.count ?? 0) < limits.assistantFilesMax) return;
  const message = `An assistant can have at most ${limits.assistantFilesMax} files`;
  throw new ApiError('invalid_request', message, { details: [{ path: 'assistantId', message }] });
}

/** Stores the present files of an assistant, which is locked, as a version. */
export async function storeFileChange(
  trx: Queryable,
  by: AuditSource,
  { id, userId, kind }: { id: string; userId: string; kind: 'added' | 'changed' },
): Promise<void> {
  const { rows } = await sql<Shared & { name: string; version: number; is_open: boolean }>`
    select a.owner_id, a.audience, a.project_id, a.version, v.name,
      v.adds_files and v.author_id = ${userId} and v.created_at > now() - ${sharedVersion} as is_open
    from assistants a join assistant_versions v on v.assistant_id = a.id and v.version = a.version
    where a.id = ${id}`.execute(trx);
  const row = rows[0];
  if (row === undefined) throw assistantNotFound();
  const { name, version, is_open: isOpen, ...shared } = row;
  if (kind === 'added' && isOpen) await storeFiles(trx, [{ id, version }]);
  else await storeVersion(trx, id, shared, await readContent(trx, id), userId, kind === 'added');
  const details = { name, changed: ['files'], audience: shared.audience };
  const event = { action: 'assistant.updated', targetType: 'assistant', targetId: id, details } as const;
  await recordShared(trx, by, [shared], event);
}

async function editorOf(trx: Queryable, userId: string): Promise<Pick<User, 'id' | 'role'>> {
  return trx.selectFrom('users').select(['id', 'role']).where('id', '=', userId).executeTakeFirstOrThrow();
}
