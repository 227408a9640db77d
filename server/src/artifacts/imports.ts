import { ApiError } from '@homeport/contracts/errors';
import type { Artifact } from '@homeport/contracts/files/artifacts';
import { assertStillEnabled } from '../accounts/users.ts';
import { type AuditSource, recordEvent } from '../audit/audit.ts';
import { inTransaction, type Queryable } from '../db/pool.ts';
import {
  type ArtifactRow,
  artifactColumns,
  insertArtifact,
  isPathTaken,
  pathTaken,
  viewArtifact,
} from './artifacts.ts';
import type { StoredBlob } from './blob-store.ts';
import { adoptBlob, discardStored } from './blobs.ts';
import { mediaTypeOf } from './media-type.ts';
import { lockNamespace, namespaceKey, type Scope } from './namespaces.ts';
import { filenameOf, parsePath } from './path.ts';
import { keeping, type UploadDeps } from './uploads.ts';

/**
 * Imports one artifact under its own id (control-plane-api.md "Import one artifact"). Only this file writes
 * `artifact_imports`.
 */

export type Import = {
  scope: Scope;
  /** A UUID in lower case. */
  artifactId: string;
  importSource: string;
  path: string;
  mediaType: string | undefined;
  createdAt: Date | undefined;
};

/**
 * Imports, or finds that this source was imported before: with the same id, namespace and path it returns the current
 * record with `skipped`; otherwise it throws `import_source_conflict`. An id in use throws `id_taken`, a path
 * `path_taken`.
 */
export async function importArtifact(
  deps: UploadDeps,
  source: AuditSource,
  given: Import,
  stored: StoredBlob,
): Promise<{ artifact: Artifact; skipped: boolean }> {
  return keeping(deps, stored, async () => {
    const path = parsePath(given.path, 'path');
    const target = { source: given.importSource, target: targetOf(given.scope), path };
    const { row, key } = await inTransaction(deps.db, async (trx) => {
      if (source.actorId !== null) await assertStillEnabled(trx, source.actorId);
      const namespace = await lockNamespace(trx, 'anybody', given.scope);
      const known = await findImport(trx, given.artifactId, target);
      if (known !== undefined) return { row: known, key: undefined };
      if (await isPathTaken(trx, namespace, path)) throw pathTaken();
      const content = await adoptBlob(trx, stored);
      const artifact = await insertArtifact(trx, namespace, {
        id: given.artifactId,
        path,
        mediaType: mediaTypeOf(given.mediaType, filenameOf(path)),
        content: stored,
        createdBy: source.actorId,
        createdAt: given.createdAt,
      });
      await insertImport(trx, given.artifactId, target);
      await recordEvent(trx, source, {
        action: 'artifact.imported',
        targetType: 'artifact',
        targetId: artifact.id,
        details: { source: target.source, namespace: target.target },
      });
      return { row: artifact, key: content.key };
    });
    if (key !== stored.key) await discardStored(deps, stored);
    return { artifact: viewArtifact(row), skipped: key === undefined };
  });
}

function targetOf({ chatId, projectId }: Scope): string {
  return chatId === undefined ? namespaceKey('project', projectId ?? '') : namespaceKey('chat', chatId);
}

type Imported = { source: string; target: string; path: string };

async function findImport(trx: Queryable, artifactId: string, given: Imported): Promise<ArtifactRow | undefined> {
  const row = await trx
    .selectFrom('artifact_imports as i')
    .innerJoin('artifacts as a', 'a.id', 'i.artifact_id')
    .select(['i.target', 'i.path as importedPath', ...artifactColumns.map((name) => `a.${name}` as const)])
    .where('i.source', '=', given.source)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const isSame = row.id === artifactId && row.target === given.target && row.importedPath === given.path;
  if (!isSame) throw sourceConflict();
  return row;
}

/** Simultaneous imports of one source into two namespaces meet here. */
async function insertImport(trx: Queryable, artifactId: string, given: Imported): Promise<void> {
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('artifact_imports')
    .values({ ...given, artifact_id: artifactId })
    .onConflict((conflict) => conflict.column('source').doNothing())
    .executeTakeFirstOrThrow();
  if (numInsertedOrUpdatedRows === 0n) throw sourceConflict();
}

function sourceConflict(): ApiError {
  return new ApiError('import_source_conflict', 'This source was already imported as another artifact');
}
