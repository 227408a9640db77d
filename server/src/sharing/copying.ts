import { randomUUIDv7 } from 'node:crypto';
import type { Chat } from '@homeport/contracts/chat/conversations';
import type { FilePart, MessagePart } from '@homeport/contracts/chat/frames';
import { sql } from 'kysely';
import { freePath, insertArtifact, isPathTaken } from '../artifacts/artifacts.ts';
import { namespaceKey } from '../artifacts/namespaces.ts';
import { assertQuota } from '../artifacts/quota.ts';
import { getOwnedChat } from '../conversations/chats.ts';
import { importChats } from '../conversations/imported-chats.ts';
import { type ImportedMessage, importMessages, searchableText } from '../conversations/messages.ts';
import { indexedText } from '../conversations/search-text.ts';
import { parseStoredParts } from '../conversations/stored-parts.ts';
import { inTransaction, type Queryable } from '../db/pool.ts';
import type { Platform } from '../platform.ts';
import { type OpenShareRow, type ReadingDeps, readFiles } from './reading.ts';
import { shareNotFound } from './shares.ts';

type Needs = ReadingDeps & Pick<Platform, 'config'>;
type Copier = { id: string; email: string };

/** Messages inserted by one statement: bounded memory and work. */
const batchBytes = 1_000_000;

/** Copies a share that the reader may open, with its files, into their conversations. Throws `storage_full`. */
export async function copyShare(deps: Needs, copier: Copier, share: OpenShareRow): Promise<Chat> {
  const chatId = randomUUIDv7();
  await inTransaction(deps.db, async (trx) => {
    // The share, and with it its contents, stays until the commit.
    const held = trx
      .selectFrom('shares')
      .select('id')
      .where('id', '=', share.id)
      .where('revision', '=', share.revision);
    if ((await held.forShare().executeTakeFirst()) === undefined) throw shareNotFound();
    const { messages, last } = await readCopies(trx, share, chatId);
    await importChats(trx, [
      {
        n: 0,
        id: chatId,
        ownerEmail: copier.email,
        title: share.title,
        words: indexedText(share.title),
        archived: false,
        activeMessageId: last,
        createdAt: null,
        updatedAt: null,
        instructions: null,
        parameters: {},
      },
    ]);
    const fileIds = await copyFiles(deps, trx, { share, chatId, userId: copier.id });
    for (const batch of batches(messages)) {
      await importMessages(
        trx,
        batch.map((message) => withFiles(message, fileIds)),
      );
    }
  });
  return getOwnedChat(deps.db.kysely, copier.id, chatId);
}

async function readCopies(
  trx: Queryable,
  share: OpenShareRow,
  chatId: string,
): Promise<{ messages: ImportedMessage[]; last: string | null }> {
  const query = trx.selectFrom('share_messages').selectAll().where('share_id', '=', share.id).orderBy('n');
  let last: string | null = null;
  const messages = (await query.execute()).map((row): ImportedMessage => {
    const message = {
      n: 0,
      place: row.n,
      id: randomUUIDv7(),
      chatId,
      parentId: last,
      role: row.role,
      parts: row.parts,
      words: '',
      createdAt: row.created_at.toISOString(),
      status: row.status === 'streaming' ? ('interrupted' as const) : row.status,
      finishReason: row.finish_reason,
    };
    last = message.id;
    return message;
  });
  return { messages, last };
}

/** The files of a share as files of the new conversation; ids by number. */
async function copyFiles(
  deps: Needs,
  trx: Queryable,
  { share, chatId, userId }: { share: OpenShareRow; chatId: string; userId: string },
): Promise<Map<number, string>> {
  const files = await readFiles(trx, share.id);
  const ids = new Map<number, string>();
  if (files.length === 0) return ids;
  const bytes = files.reduce((sum, file) => sum + file.size, 0);
  await assertQuota(trx, deps, userId, bytes);
  const namespace = { type: 'chat' as const, id: chatId, key: namespaceKey('chat', chatId), isArchived: false };
  await sql`select id from chats where id = ${chatId} for no key update`.execute(trx);
  for (const file of files) {
    const isTaken = await isPathTaken(trx, namespace, file.filename);
    const { id } = await insertArtifact(trx, namespace, {
      id: randomUUIDv7(),
      path: isTaken ? await freePath(trx, namespace, file.filename) : file.filename,
      mediaType: file.media_type,
      content: { sha256: file.sha256, size: file.size },
      createdBy: userId,
    });
    ids.set(file.n, id);
  }
  return ids;
}

function withFiles(message: ImportedMessage, ids: ReadonlyMap<number, string>): ImportedMessage {
  const parts = parseStoredParts(message.parts).flatMap((part): MessagePart[] => {
    if (!isFile(part)) return [part];
    const n = /^share-file:(\d+)$/.exec(part.url)?.[1];
    if (n === undefined) return [part];
    const id = ids.get(Number(n));
    return id === undefined ? [] : [{ ...part, url: `artifact://${id}` }];
  });
  const text = JSON.stringify(parts);
  return { ...message, parts: text, words: searchableText(text) };
}

function isFile(part: MessagePart): part is FilePart {
  return part.type === 'file';
}

function* batches(messages: readonly ImportedMessage[]): Generator<ImportedMessage[]> {
  let batch: ImportedMessage[] = [];
  let bytes = 0;
  for (const message of messages) {
    batch.push(message);
    bytes += message.parts.length;
    if (bytes < batchBytes) continue;
    yield batch;
    [batch, bytes] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}
