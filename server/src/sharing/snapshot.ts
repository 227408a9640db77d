import type { MessageFinishReason } from '@homeport/contracts/chat/finish-reasons';
import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import type { SecretPlace, ShareInclude } from '@homeport/contracts/sharing';
import { sql } from 'kysely';
import { type ArtifactRow, artifactNotFound } from '../artifacts/artifacts.ts';
import type { BlobStore } from '../artifacts/blob-store.ts';
import { readHead } from '../artifacts/contents.ts';
import { decodeText } from '../artifacts/media-type.ts';
import { filenameOf } from '../artifacts/path.ts';
import { messageOf } from '../conversations/branches.ts';
import { conversationNotFound } from '../conversations/chats.ts';
import { parseStoredParts } from '../conversations/stored-parts.ts';
import type { Queryable } from '../db/pool.ts';
import type { MessageStatus } from '../db/tables/chat.ts';
import type { Platform } from '../platform.ts';
import { FileNumbers, publishedParts } from './published-parts.ts';
import { findSecrets, textsOf } from './secret-scan.ts';

/** Makes the snapshot of a share. Everything that is left out is removed here, before it is stored. */

export type SnapshotDeps = Pick<Platform, 'db'> & { artifactStore: BlobStore };
export type SharedFileRow = Pick<ArtifactRow, 'id' | 'path' | 'size' | 'media_type' | 'sha256'>;
type SharedMessageRow = {
  n: number;
  role: 'user' | 'assistant';
  status: MessageStatus;
  parts: string;
  finishReason: MessageFinishReason | null;
  createdAt: Date;
};
export type Snapshot = {
  title: string;
  leafMessageId: string | null;
  messages: SharedMessageRow[];
  files: SharedFileRow[];
  secrets: SecretPlace[];
};

const secretsMax = 50;
const scannedFileBytes = 256 * 1024;
const scannedFiles = 50;

/** The branch that ends in `leafId`. Throws `not_found`, `invalid_request` and `payload_too_large`. */
export async function snapshotChat(
  deps: SnapshotDeps,
  ownerId: string,
  { chatId, leafId, include }: { chatId: string; leafId: string; include: ShareInclude },
): Promise<Snapshot> {
  const { kysely } = deps.db;
  const chat = await kysely
    .selectFrom('chats')
    .select(['title', 'temporary'])
    .where('id', '=', chatId)
    .where('owner_id', '=', ownerId)
    .executeTakeFirst();
  if (chat === undefined) throw conversationNotFound();
  if (chat.temporary) throw notShareable('chatId', 'A temporary conversation cannot be shared. Keep it first.');
  const rows = await readBranch(kysely, chatId, leafId);
  const numbers = new FileNumbers();
  const secrets: SecretPlace[] = [];
  const messages: SharedMessageRow[] = [];
  let bytes = 0;
  for (const row of rows) {
    const published = publishedParts(parseStoredParts(row.parts), include, numbers);
    const parts = JSON.stringify(published);
    bytes += Buffer.byteLength(parts);
    if (bytes > limits.shareSnapshotBytes) throw tooLarge();
    secrets.push(
      ...(await placesIn(textsOf(published), { messageId: row.id, filename: null }, secretsMax - secrets.length)),
    );
    const { role, status, finish_reason: finishReason, created_at: createdAt } = row;
    messages.push({ n: messages.length, role, status, parts, finishReason, createdAt });
  }
  const files = await readableFiles(kysely, ownerId, numbers.ids);
  secrets.push(...(await scanFiles(deps, files, secretsMax - secrets.length)));
  return { title: chat.title, leafMessageId: leafId, messages, files, secrets };
}

/** The current version of one file. Throws `not_found`. */
export async function snapshotFile(deps: SnapshotDeps, ownerId: string, artifactId: string): Promise<Snapshot> {
  const { kysely } = deps.db;
  const files = await readableFiles(kysely, ownerId, [artifactId]);
  const [file] = files;
  if (file === undefined) throw artifactNotFound();
  const { rows } = await sql<{ temporary: boolean }>`
    select c.temporary from artifacts a join chats c on c.id = a.chat_id where a.id = ${artifactId}`.execute(kysely);
  if (rows[0]?.temporary === true) {
    throw notShareable(
      'artifactId',
      'A file of a temporary conversation cannot be shared. Keep the conversation first.',
    );
  }
  const secrets = await scanFiles(deps, files, secretsMax);
  return { title: filenameOf(file.path), leafMessageId: null, messages: [], files, secrets };
}

/** Throws `not_found` unless the owner can read each of these files; they come in the order of the ids. */
export async function readableFiles(
  db: Queryable,
  ownerId: string,
  ids: readonly string[],
  lock: 'locked' | 'free' = 'free',
): Promise<SharedFileRow[]> {
  if (ids.length === 0) return [];
  if (ids.length > limits.shareFilesMax) throw tooLarge();
  const { rows } = await sql<SharedFileRow>`
    select a.id, a.path, a.size, a.media_type, a.sha256 from artifacts a where a.id = any(${ids}) and (
      exists (select from chats c where c.id = a.chat_id and c.owner_id = ${ownerId})
      or exists (select from project_members m where m.project_id = a.project_id and m.user_id = ${ownerId}))
    order by a.id ${lock === 'locked' ? sql`for share of a` : sql``}`.execute(db);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => {
    const row = byId.get(id);
    if (row === undefined) throw new ApiError('not_found', 'A file of these messages cannot be read any more');
    return row;
  });
}

type BranchRow = {
  id: string;
  parent_id: string | null;
  role: 'user' | 'assistant';
  status: MessageStatus;
  parts: string;
  finish_reason: MessageFinishReason | null;
  created_at: Date;
};
const page = { messages: 100, bytes: 4_000_000 };
/** Left-out parts are read too, so that a branch can be longer than its snapshot. */
const readBytesMax = 8 * limits.shareSnapshotBytes;

/** Oldest first. A message that is still being written, and with it the end of the branch, is left out. */
async function readBranch(db: Queryable, chatId: string, leafId: string): Promise<BranchRow[]> {
  const branch: BranchRow[] = [];
  let bytes = 0;
  for (let next: string | null = leafId; next !== null; ) {
    const { rows }: { rows: BranchRow[] } = await sql<BranchRow>`
      with recursive branch as (
        select id, parent_id, 1 as depth, octet_length(parts)::int8 as bytes
        from messages where id = ${next} and chat_id = ${chatId}
        union all
        select m.id, m.parent_id, b.depth + 1, b.bytes + octet_length(m.parts)
        from branch b ${sql.raw(messageOf('b.parent_id'))} where b.depth < ${page.messages} and b.bytes < ${page.bytes}
      )
      select m.id, m.parent_id, m.role, m.status, m.parts, m.finish_reason, m.created_at
      from branch b ${sql.raw(messageOf('b.id'))} order by b.depth`.execute(db);
    if (rows.length === 0) throw new ApiError('not_found', 'Message not found');
    for (const row of rows) {
      bytes += row.parts.length;
      if (row.status !== 'streaming') branch.push(row);
      else branch.length = 0;
    }
    if (branch.length > limits.shareMessagesMax || bytes > readBytesMax) throw tooLarge();
    next = rows.at(-1)?.parent_id ?? null;
  }
  return branch.reverse();
}

async function scanFiles(deps: SnapshotDeps, files: readonly SharedFileRow[], most: number): Promise<SecretPlace[]> {
  const places: SecretPlace[] = [];
  for (const file of files.slice(0, scannedFiles)) {
    const head = await readHead(deps, file, scannedFileBytes);
    const text = decodeText(head, file.size > head.length);
    if (text === undefined) continue;
    const place = { messageId: null, filename: filenameOf(file.path) };
    places.push(...(await placesIn(text, place, most - places.length)));
  }
  return places;
}

type Place = Pick<SecretPlace, 'messageId' | 'filename'>;

async function placesIn(text: string, place: Place, most: number): Promise<SecretPlace[]> {
  if (most <= 0) return [];
  return (await findSecrets(text, most)).map((secret) => ({ ...place, ...secret }));
}

function notShareable(path: string, message: string): ApiError {
  return new ApiError('invalid_request', message, { details: [{ path, message }] });
}

function tooLarge(): ApiError {
  const megabytes = limits.shareSnapshotBytes / (1024 * 1024);
  return new ApiError(
    'payload_too_large',
    `A share has at most ${limits.shareMessagesMax} messages and ${megabytes} MB`,
  );
}
