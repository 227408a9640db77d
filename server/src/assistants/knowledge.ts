import { sql } from 'kysely';
import type { Queryable } from '../db/pool.ts';

/**
 * Knowledge files of assistants, version by version. Only this file writes the table `assistant_version_files`. The
 * present files are artifacts, and those of the newest version.
 */

/** Records the present files of assistants as those of these versions, besides the ones that they have. */
export async function storeFiles(trx: Queryable, versions: readonly { id: string; version: number }[]): Promise<void> {
  await sql`
    insert into assistant_version_files
      (assistant_id, version, artifact_id, path, search, media_type, size, sha256, created_by, created_at)
    select a.assistant_id, v.version, a.id, a.path, a.search, a.media_type, a.size, a.sha256,
      case when a.changed_at is null then a.created_by else a.changed_by end, a.created_at
    from unnest(${versions.map(({ id }) => id)}::text[], ${versions.map(({ version }) => version)}::int[]) v (id, version)
    join artifacts a on a.assistant_id = v.id
    on conflict do nothing`.execute(trx);
}

/** Makes the files of a version the present ones, under their ids. Returns whether anything changed. */
export async function restoreFiles(trx: Queryable, id: string, version: number): Promise<boolean> {
  const { numAffectedRows: removed = 0n } = await sql`
    delete from artifacts a where a.assistant_id = ${id} and not exists (
      select from assistant_version_files f where f.assistant_id = ${id} and f.version = ${version}
        and f.artifact_id = a.id and f.path = a.path and f.sha256 = a.sha256)`.execute(trx);
  const { numAffectedRows: added = 0n } = await sql`
    insert into artifacts (id, assistant_id, path, search, media_type, size, sha256, created_by, created_at)
    select f.artifact_id, f.assistant_id, f.path, f.search, f.media_type, f.size, f.sha256, f.created_by, f.created_at
    from assistant_version_files f where f.assistant_id = ${id} and f.version = ${version}
      and not exists (select from artifacts a where a.id = f.artifact_id)`.execute(trx);
  return removed + added > 0n;
}
