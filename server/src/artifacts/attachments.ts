import { sql } from 'kysely';
import type { Queryable } from '../db/pool.ts';
import type { Platform } from '../platform.ts';
import type { ArtifactRow } from './artifacts.ts';
import type { BlobStore } from './blob-store.ts';
import { readHead } from './contents.ts';
import { decodeText, isMarkedUp } from './media-type.ts';
import { getNamespace } from './namespaces.ts';
import { filenameOf } from './path.ts';
import { pictureType } from './pictures/picture-head.ts';
import { type ModelPicture, type Pictures, pictureSourceMax } from './pictures/pictures.ts';

/** Artifacts that a message refers to as `artifact://<id>`, in the form a model gets them. */

/** The most bytes that a model gets of a text, and of all pictures and texts in one turn. */
export const attachedTextMax = 256 * 1024;
export const attachedMax = 20 * 1024 * 1024;
const readTimeoutMs = 10_000;

/** The id in an `artifact://` address; '' if it has none; undefined for other addresses. */
export function attachedId(url: string): string | undefined {
  if (!/^artifact:/i.test(url)) return undefined;
  return /^artifact:\/\/([\w-]{1,128})$/i.exec(url)?.[1] ?? '';
}

/** Returns the ids that are not in the conversation's namespace. */
export async function findUnattachable(
  db: Queryable,
  userId: string,
  chatId: string,
  ids: readonly string[],
): Promise<Set<string>> {
  const namespace = await getNamespace(db, { userId }, { chatId });
  const { rows } = await sql<{ id: string }>`
    select id from artifacts where namespace = ${namespace.key} and id = any(${ids})`.execute(db);
  const found = new Set(rows.map((row) => row.id));
  return new Set(ids.filter((id) => !found.has(id)));
}

export type AttachedFile = { id: string; name: string; mediaType: string; sha256: string; size: number };

/**
 * Content of an attachment; `bytes` is the number of bytes read for it. A file that is neither a picture nor plain text
 * can be a document. Others are named only: `reason` completes "is not included: …".
 */
export type Attachment = { source: string | null } & (
  | { kind: 'image'; url: string; bytes: number }
  | { kind: 'text'; name: string; text: string; isCut: boolean; bytes: number; file: AttachedFile }
  | { kind: 'document'; file: AttachedFile; bytes: 0 }
  | { kind: 'named'; name: string; mediaType: string; reason: string; bytes: 0 }
);

type Needs = Pick<Platform, 'db' | 'log'> & { artifactStore: BlobStore; pictures: Pictures };

/**
 * Reads the artifact at its present place if its reader still has access; otherwise undefined. `room` is the number of
 * bytes that can be read; the bytes decide its type. If the store fails, the file is only named: an answer without it
 * is better than none.
 */
export async function readAttachment(
  deps: Needs,
  userId: string,
  id: string,
  room: number,
  signal: AbortSignal,
): Promise<Attachment | undefined> {
  const row = await findReadable(deps.db.kysely, userId, id);
  if (row === undefined) return undefined;
  const { source } = row;
  const named = (reason: string): Attachment => {
    return { source, kind: 'named', name: filenameOf(row.path), mediaType: row.media_type, reason, bytes: 0 };
  };
  const file = { id, name: filenameOf(row.path), mediaType: row.media_type, sha256: row.sha256, size: row.size };
  if (Math.min(row.size, attachedTextMax) > room) return named('there are too many files in this conversation');
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(readTimeoutMs)]);
    const head = await readHead(deps, row, attachedTextMax, limit);
    const type = pictureType(head);
    if (type !== undefined && type !== 'image/heic') {
      if (row.size > pictureSourceMax) return named(`it is larger than ${pictureSourceMax} bytes`);
      const load = async () => (row.size > head.length ? await readHead(deps, row, row.size, limit) : head);
      const { sha256 } = row;
      const picture: ModelPicture =
        deps.pictures.recall(sha256) ??
        (await deps.pictures.forModel({ type, bytes: await load(), sha256 }, userId, signal));
      if ('reason' in picture) return named(picture.reason);
      const { mediaType, bytes } = picture;
      if (bytes.length > room) return named('there are too many files in this conversation');
      const url = `data:${mediaType};base64,${bytes.toString('base64')}`;
      return { source, kind: 'image', url, bytes: bytes.length };
    }
    const isCut = row.size > head.length;
    const text = isMarkedUp(head) ? undefined : decodeText(head, isCut);
    if (text === undefined) return { source, kind: 'document', file, bytes: 0 };
    return { source, kind: 'text', name: file.name, text, isCut, bytes: head.length, file };
  } catch (error) {
    signal.throwIfAborted();
    deps.log.warn({ cause: error }, 'failed to read an attached file');
    return named('it cannot be read at the moment');
  }
}

async function findReadable(db: Queryable, userId: string, id: string) {
  const { rows } = await sql<Pick<ArtifactRow, 'path' | 'size' | 'media_type' | 'sha256' | 'source'>>`
    select a.path, a.size, a.media_type, a.sha256, a.source from artifacts a where a.id = ${id} and (
      exists (select from chats c where c.id = a.chat_id and c.owner_id = ${userId})
      or exists (select from project_members m where m.project_id = a.project_id and m.user_id = ${userId}))`.execute(
    db,
  );
  return rows[0];
}
