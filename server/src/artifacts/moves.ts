import type { Artifact } from '@homeport/contracts/files/artifacts';
import { limits } from '@homeport/contracts/limits';
import { sql } from 'kysely';
import { inTransaction, type Queryable } from '../db/pool.ts';
import type { Platform } from '../platform.ts';
import {
  artifactNotFound,
  deleteArtifacts,
  findArtifact,
  isPathTaken,
  measureFolder,
  moveAll,
  movePaths,
  pathTaken,
  setPath,
  type Target,
  viewArtifact,
} from './artifacts.ts';
import type { BlobStore } from './blob-store.ts';
import { releaseBlobs } from './blobs.ts';
import { type Changer, storeVersionOf } from './knowledge.ts';
import { lockNamespace, type Namespace, namespaceKey, type Scope } from './namespaces.ts';
import { folderOfText, invalidPath, parsePath } from './path.ts';

/** Moving, renaming and deleting files and folders; and all files of a conversation into a project. */

type Move = { scope: Scope; id?: string; from?: string; to: string };

/** All or nothing. `artifact` is the moved file; null for a folder. A taken path throws `path_taken`. */
export async function moveArtifact(
  deps: Pick<Platform, 'db'>,
  changer: Changer,
  move: Move,
): Promise<{ artifact: Artifact | null; moved: number }> {
  const to = parsePath(move.to, 'to');
  const target: Target = move.id === undefined ? { path: parsePath(move.from ?? '', 'from') } : { id: move.id };
  return inTransaction(deps.db, async (trx) => {
    await allowTime(trx);
    const namespace = await lockNamespace(trx, changer, move.scope);
    const file = await findArtifact(trx, namespace, target);
    if (file !== undefined) {
      if (file.path === to) return { artifact: viewArtifact(file), moved: 0 };
      if (to.startsWith(`${file.path}/`)) throw pathTaken();
      if (await isPathTaken(trx, namespace, to)) throw pathTaken();
      const row = await setPath(trx, file.id, to);
      await storeVersionOf(trx, namespace, changer, 'changed');
      return { artifact: viewArtifact(row), moved: 1 };
    }
    if ('id' in target) throw artifactNotFound();
    const moved = await moveFolder(trx, namespace, target.path, to);
    if (moved > 0) await storeVersionOf(trx, namespace, changer, 'changed');
    return { artifact: null, moved };
  });
}

/** A folder may contain many files, each with its entry in the search index. */
async function allowTime(trx: Queryable): Promise<void> {
  await sql`set local statement_timeout = '25s'`.execute(trx);
}

async function moveFolder(trx: Queryable, namespace: Namespace, from: string, to: string): Promise<number> {
  const { count, longest } = await measureFolder(trx, namespace, from);
  if (count === 0) throw artifactNotFound();
  if (from === to) return 0;
  if (to.startsWith(`${from}/`)) throw invalidPath('to', 'A folder cannot move into itself');
  if (longest - Buffer.byteLength(from) + Buffer.byteLength(to) > limits.artifactPathMax) {
    throw invalidPath('to', `A path in the folder would be longer than ${limits.artifactPathMax} bytes`);
  }
  if (await isPathTaken(trx, namespace, to)) throw pathTaken();
  return movePaths(trx, namespace, from, to);
}

/** Deletes one artifact (throws `not_found` if there is none) or everything below a folder. */
export async function removeArtifacts(
  deps: Pick<Platform, 'db' | 'log'> & { artifactStore: BlobStore },
  changer: Changer,
  scope: Scope,
  target: Target | { folder: string },
): Promise<number> {
  const { count, contents } = await inTransaction(deps.db, async (trx) => {
    await allowTime(trx);
    const namespace = await lockNamespace(trx, changer, scope);
    const deleted = await deleteArtifacts(trx, namespace, target);
    if (deleted.count > 0) await storeVersionOf(trx, namespace, changer, 'changed');
    return deleted;
  });
  if (count === 0 && !('folder' in target)) throw artifactNotFound();
  await releaseBlobs(deps, contents);
  return count;
}

/**
 * Moves a standalone conversation's files into a project (control-plane-api.md "PATCH /api/chats"). The caller's
 * transaction has locked the conversation, then the project, and checked permission. Paths are kept; if one is taken,
 * all files go into one folder named after the conversation, numbered if that is taken too.
 */
export async function moveChatArtifacts(
  trx: Queryable,
  chat: { id: string; title: string },
  projectId: string,
): Promise<{ movedArtifacts: number; artifactFolder: string | null }> {
  const from: Namespace = { type: 'chat', id: chat.id, key: namespaceKey('chat', chat.id), isArchived: false };
  const to: Namespace = { type: 'project', id: projectId, key: namespaceKey('project', projectId), isArchived: false };
  const folder = (await haveClash(trx, from, to)) ? await freeFolder(trx, to, folderOfText(chat.title)) : '';
  await allowTime(trx);
  const movedArtifacts = await moveAll(trx, from, to, folder);
  return { movedArtifacts, artifactFolder: folder === '' ? null : folder };
}

/** True if a path of one namespace also exists in the other, or would be above or below one there. */
async function haveClash(trx: Queryable, from: Namespace, to: Namespace): Promise<boolean> {
  const clashes = (one: string, other: string) => sql`
    exists (select from artifacts f where f.namespace = ${one} and exists (
      select from artifacts t where t.namespace = ${other} and (t.path = f.path
        or t.path >= f.path || '/' and t.path < f.path || '0')))`;
  const { rows } = await sql<{ clash: boolean }>`
    select ${clashes(from.key, to.key)} or ${clashes(to.key, from.key)} as clash`.execute(trx);
  return rows[0]?.clash === true;
}

async function freeFolder(trx: Queryable, namespace: Namespace, name: string): Promise<string> {
  const short = [...name].slice(0, 50).join('').trim();
  for (let number = 1; number <= 10_000; number += 1) {
    const folder = number === 1 ? short : `${short} (${number})`;
    if (!(await isPathTaken(trx, namespace, folder))) return folder;
  }
  throw pathTaken();
}
