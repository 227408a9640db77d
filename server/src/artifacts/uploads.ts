import { randomUUIDv7 } from 'node:crypto';
import { ApiError } from '@homeport/contracts/errors';
import type { Artifact } from '@homeport/contracts/files/artifacts';
import { assertStillEnabled } from '../accounts/users.ts';
import type { AuditSource } from '../audit/audit.ts';
import { inTransaction } from '../db/pool.ts';
import type { Platform } from '../platform.ts';
import { findArtifact, freePath, insertArtifact, isPathTaken, pathTaken, viewArtifact } from './artifacts.ts';
import type { BlobStore, StoredBlob } from './blob-store.ts';
import { adoptBlob, discardStored, releaseBlobs } from './blobs.ts';
import { assertRoomInNamespace, storeVersionOf } from './knowledge.ts';
import { mediaTypeOf } from './media-type.ts';
import { assertNotArchived, lockNamespace, type Scope } from './namespaces.ts';
import { filenameOf, foldersAbove, parsePath, pathOfName } from './path.ts';
import { assertQuota } from './quota.ts';
import { replaceContent } from './versions.ts';

/**
 * New files, and new contents of files. The bytes are in the store before the record is inserted, never the other way
 * round.
 */

export type UploadDeps = Pick<Platform, 'config' | 'db' | 'log'> & { artifactStore: BlobStore };

export type Upload = {
  scope: Scope;
  path?: string;
  onConflict?: 'rename' | 'replace' | 'fail';
  filename: string | undefined;
  mediaType: string | undefined;
  /** Origin of the file, if it does not come from a device. */
  source?: string;
  /** Origin of the request. */
  by?: AuditSource;
};

/**
 * The path that an upload asks for; throws `invalid_path`. Without one it is the file's name, repaired if necessary.
 */
export function uploadPath(upload: Pick<Upload, 'path' | 'filename'>): string {
  return upload.path === undefined ? pathOfName(upload.filename) : parsePath(upload.path, 'path');
}

/**
 * Inserts the record of a stored file, committed before this resolves. If the path is taken, it gets a number
 * (`rename`), the existing file keeps its id, gets the new content, and keeps the old one as a version (`replace`), or
 * this throws `path_taken`; where a file and a folder would collide, only a number helps.
 */
export async function createArtifact(
  deps: UploadDeps,
  userId: string,
  upload: Upload,
  stored: StoredBlob,
): Promise<Artifact> {
  return keeping(deps, stored, async () => {
    const path = uploadPath(upload);
    let dropped: string[] = [];
    const { row, key } = await inTransaction(deps.db, async (trx) => {
      await assertStillEnabled(trx, userId);
      const namespace = await lockNamespace(trx, { userId }, upload.scope);
      assertNotArchived(namespace);
      await assertQuota(trx, deps, userId, stored.size);
      const content = await adoptBlob(trx, stored);
      const facts = { mediaType: mediaTypeOf(upload.mediaType, filenameOf(path)), content: stored };
      const changer = { userId, by: upload.by };
      const insertAt = async (free: string) => {
        await assertRoomInNamespace(trx, namespace);
        const named = { id: randomUUIDv7(), path: free, createdBy: userId, source: upload.source };
        const inserted = await insertArtifact(trx, namespace, { ...named, ...facts });
        await storeVersionOf(trx, namespace, changer, 'added');
        return inserted;
      };
      if (!(await isPathTaken(trx, namespace, path))) return { row: await insertAt(path), key: content.key };
      const present = await findArtifact(trx, namespace, { path });
      if (upload.onConflict === 'replace' && present !== undefined) {
        const replaced = await replaceContent(trx, present, { ...facts, authorId: userId });
        dropped = replaced.dropped;
        if (replaced.row.version !== present.version) await storeVersionOf(trx, namespace, changer, 'changed');
        return { row: replaced.row, key: content.key };
      }
      if ((upload.onConflict ?? 'rename') !== 'rename') throw pathTaken();
      for (const folder of foldersAbove(path)) {
        if ((await findArtifact(trx, namespace, { path: folder })) !== undefined) throw pathTaken();
      }
      return { row: await insertAt(await freePath(trx, namespace, path)), key: content.key };
    });
    if (key !== stored.key) await discardStored(deps, stored);
    await releaseBlobs(deps, dropped);
    return viewArtifact(row);
  });
}

/**
 * Runs the work that refers to `stored`; if it refuses, the bytes are removed. Other failures leave them to the sweep:
 * a commit whose reply was lost may have succeeded.
 */
export async function keeping<T>(deps: UploadDeps, stored: StoredBlob, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ApiError) await discardStored(deps, stored);
    throw error;
  }
}
