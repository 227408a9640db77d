import type { Chat } from '@homeport/contracts/chat/conversations';
import { sql } from 'kysely';
import type { Platform } from '../../platform.ts';
import { findPages, readPage } from '../branch-pages.ts';
import { getOwnedChat } from '../chats.ts';
import { type MessageRow, messageColumns, messageJson } from '../message-page.ts';
import { parseStoredParts } from '../stored-parts.ts';
import { markdownHead, markdownMessage } from './markdown.ts';

/** Messages read at a time: this many, or fewer if their parts are longer than this. */
const pageMessages = 50;
const pageBytes = 1_000_000;
const pageSize = { messages: pageMessages, bytes: pageBytes, partsOf: 'all' } as const;
const filenameMax = 100;

export type ConversationExport = { filename: string; mediaType: string; chunks: AsyncGenerator<string, void> };

/**
 * One conversation as a file: the active branch as Markdown, or everything as JSON. Read page by page as the receiver
 * takes it, holding neither the conversation nor a connection; later messages are not included.
 */
export async function exportConversation(
  deps: Pick<Platform, 'db'>,
  ownerId: string,
  { id, format }: { id: string; format: 'markdown' | 'json' },
): Promise<ConversationExport> {
  const chat = await getOwnedChat(deps.db.kysely, ownerId, id);
  const name = filename(chat.title);
  return format === 'json'
    ? { filename: `${name}.json`, mediaType: 'application/json', chunks: jsonChunks(deps, chat) }
    : { filename: `${name}.md`, mediaType: 'text/markdown', chunks: markdownChunks(deps, chat) };
}

async function* jsonChunks(deps: Pick<Platform, 'db'>, chat: Chat): AsyncGenerator<string, void> {
  const { rows } = await sql<{ active: string | null; last: number | null }>`
    select c.active_message_id as active, (select max(seq) from messages m where m.chat_id = c.id) as last
    from chats c where c.id = ${chat.id}`.execute(deps.db.kysely);
  yield `{"chat":${JSON.stringify(chat)},"activeMessageId":${JSON.stringify(rows[0]?.active ?? null)},"messages":[`;
  const last = rows[0]?.last ?? 0;
  let separator = '\n';
  for (let seq = 0; seq < last; ) {
    const page = await readBySequence(deps, chat.id, seq, last);
    if (page.length === 0) break;
    for (const row of page) {
      yield separator + messageJson(chat.id, row);
      separator = ',\n';
      seq = row.seq;
    }
  }
  yield '\n]}\n';
}

async function readBySequence(deps: Pick<Platform, 'db'>, chatId: string, after: number, last: number) {
  const { rows } = await sql<MessageRow & { seq: number }>`
    select ${sql.raw(messageColumns)}, m.seq from (
      select p.*, sum(octet_length(parts)) over (order by seq) - octet_length(parts) as bytes_before from (
        select * from messages where chat_id = ${chatId} and seq > ${after} and seq <= ${last}
        order by seq limit ${pageMessages}
      ) p
    ) m where m.bytes_before < ${pageBytes} order by m.seq`.execute(deps.db.kysely);
  return rows;
}

async function* markdownChunks(deps: Pick<Platform, 'db'>, chat: Chat): AsyncGenerator<string, void> {
  yield markdownHead(chat.title);
  for (const page of await findPages(deps, chat.id, pageSize)) {
    for (const row of await readPage(deps, page)) {
      yield markdownMessage({
        role: row.role,
        parts: parseStoredParts(row.parts),
        status: row.status,
        error: row.error_message,
        finishReason: row.finish_reason,
        createdAt: row.created_at,
      });
    }
  }
}

function filename(title: string): string {
  const name = title
    .normalize('NFC')
    .replace(/\p{Cf}/gu, '')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}/\\:*?"<>|]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/^\.+/, '');
  return [...name].slice(0, filenameMax).join('').trim() || 'conversation';
}
