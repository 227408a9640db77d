import type { ArtifactVersion } from '@homeport/contracts/files/artifacts';
import { limits } from '@homeport/contracts/limits';
import { sql } from 'kysely';
import { assertStillEnabled } from '../accounts/users.ts';
import { inTransaction, type Queryable } from '../db/pool.ts';
import type { Platform } from '../platform.ts';
import {
  type ArtifactRow,
  artifactNotFound,
  getArtifact,
  type NewArtifact,
  setContent,
  type Target,
} from './artifacts.ts';
import type { BlobStore } from './blob-store.ts';
import { releaseBlobs } from './blobs.ts';
import { type Changer, storeVersionOf } from './knowledge.ts';
import { assertNotArchived, lockNamespace, type Scope } from './namespaces.ts';
import { assertQuota } from './quota.ts';

/** Earlier contents of artifacts. Only this file writes the table `artifact_versions`, under `lockNamespace`. */

/**
 * Stores new bytes under the same id; the previous content becomes an earlier version, except in an assistant. `dropped` are contents of
 * versions that are no longer kept. The same bytes again make no version.
 */
export async function replaceContent(
  trx: Queryable,
  present: ArtifactRow,
  next: Pick<NewArtifact, 'mediaType' | 'content'> & { authorId: string },
): Promise<{ row: ArtifactRow; dropped: string[] }> {
  if (present.sha256 === next.content.sha256) {
    const facts = { version: present.version, changedBy: undefined };
    return { row: await setContent(trx, present.id, { ...next, ...facts }), dropped: [] };
  }
  // Versions of an assistant keep the earlier contents of its files, for its editors alone.
  await sql`
    insert into artifact_versions (artifact_id, version, media_type, size, sha256, author_id, created_at)
    select id, version, media_type, size, sha256, case when changed_at is null then created_by else changed_by end,
      coalesce(changed_at, created_at)
    from artifacts where id = ${present.id} and assistant_id is null`.execute(trx);
  const row = await setContent(trx, present.id, { ...next, version: present.version + 1, changedBy: next.authorId });
  return { row, dropped: await dropOldest(trx, present.id) };
}

/** Earlier versions of an artifact that was just inserted, within the bounds that the caller keeps. */
export async function insertVersions(
  trx: Queryable,
  artifactId: string,
  authorId: string,
  versions: readonly { version: number; mediaType: string; content: NewArtifact['content']; createdAt: Date }[],
): Promise<void> {
  if (versions.length === 0) return;
  const rows = versions.map(({ version, mediaType, content, createdAt }) => ({
    artifact_id: artifactId,
    version,
    media_type: mediaType,
    author_id: authorId,
    created_at: createdAt,
    size: content.size,
    sha256: content.sha256,
  }));
  await trx.insertInto('artifact_versions').values(rows).execute();
}

async function dropOldest(trx: Queryable, id: string): Promise<string[]> {
  const { rows } = await sql<{ sha256: string }>`
    delete from artifact_versions v using (
      select version, row_number() over newest as place, sum(size) over newest as bytes
      from artifact_versions where artifact_id = ${id} window newest as (order by version desc)
    ) ranked
    where v.artifact_id = ${id} and v.version = ranked.version
      and (ranked.place > ${limits.artifactVersionsKept} or ranked.bytes > ${limits.artifactVersionBytes})
    returning v.sha256`.execute(trx);
  return rows.map(({ sha256 }) => sha256);
}

/** All that are kept, the newest first, which is the present one. */
export async function listVersions(db: Queryable, { id }: ArtifactRow): Promise<ArtifactVersion[]> {
  const { rows } = await sql<VersionRow>`
    select version, true as is_current, media_type, size, sha256,
      case when changed_at is null then created_by else changed_by end as author_id, coalesce(changed_at, created_at) as created_at
    from artifacts where id = ${id}
    union all select version, false, media_type, size, sha256, author_id, created_at
    from artifact_versions where artifact_id = ${id} order by version desc`.execute(db);
  return rows.map((row) => ({
    version: row.version,
    isCurrent: row.is_current,
    size: row.size,
    mediaType: row.media_type,
    sha256: row.sha256,
    createdBy: row.author_id ?? 'deleted',
    createdAt: row.created_at.toISOString(),
  }));
}

type VersionRow = {
  version: number;
  is_current: boolean;
  media_type: string;
  size: number;
  sha256: string;
  author_id: string | null;
  created_at: Date;
};

/** The artifact as it was in this version; without one, as it is. Throws `not_found`. */
export async function atVersion(db: Queryable, row: ArtifactRow, version: number | undefined): Promise<ArtifactRow> {
  if (version === undefined || version === row.version) return row;
  const query = db.selectFrom('artifact_versions').select(['version', 'media_type', 'size', 'sha256']);
  const found = await query.where('artifact_id', '=', row.id).where('version', '=', version).executeTakeFirst();
  if (found === undefined) throw artifactNotFound();
  return { ...row, ...found };
}

/** Makes an earlier version the present one again, as a new version. Throws `not_found` and `storage_full`. */
export async function restoreVersion(
  deps: Pick<Platform, 'config' | 'db' | 'log'> & { artifactStore: BlobStore },
  changer: Changer,
  { scope, target, version }: { scope: Scope; target: Target; version: number },
): Promise<ArtifactRow> {
  const { row, dropped } = await inTransaction(deps.db, async (trx) => {
    const { userId } = changer;
    await assertStillEnabled(trx, userId);
    const namespace = await lockNamespace(trx, { userId }, scope);
    assertNotArchived(namespace);
    const present = await getArtifact(trx, namespace, target);
    const wanted = await atVersion(trx, present, version);
    if (wanted === present) return { row: present, dropped: [] };
    await assertQuota(trx, deps, userId, wanted.size);
    const content = { sha256: wanted.sha256, size: wanted.size };
    const replaced = await replaceContent(trx, present, { mediaType: wanted.media_type, content, authorId: userId });
    if (replaced.row.version !== present.version) await storeVersionOf(trx, namespace, changer, 'changed');
    return replaced;
  });
  await releaseBlobs(deps, dropped);
  return row;
}
