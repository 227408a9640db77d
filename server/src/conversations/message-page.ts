import type { MessageFinishReason } from '@homeport/contracts/chat/finish-reasons';
import type { ServedBy } from '@homeport/contracts/chat/frames';
import { servedByIn } from '@homeport/contracts/chat/served-by';
import { ApiError } from '@homeport/contracts/errors';
import { sql } from 'kysely';
import { columnList } from '../db/column-list.ts';
import type { Queryable } from '../db/pool.ts';
import type { MessageStatus } from '../db/tables/chat.ts';
import { messageOf } from './branches.ts';
import { errorOf } from './messages.ts';
import { parseStoredParts } from './stored-parts.ts';

/**
 * A page of one branch as JSON text, oldest first; stored parts go out as they are stored, neither parsed nor made
 * again.
 */
export type MessagePage = { messagesJson: string; nextBefore: string | null };

/** A message as `messageColumns` reads it. */
export type MessageRow = {
  id: string;
  parent_id: string | null;
  role: 'user' | 'assistant';
  parts: string;
  status: MessageStatus;
  error_code: string | null;
  error_message: string | null;
  error_details: string | null;
  finish_reason: MessageFinishReason | null;
  finish_detail: string | null;
  model_id: string | null;
  usage: string | null;
  assistant: string | null;
  created_at: Date;
};
type PageRow = MessageRow & { sibling_ids: string[] };

/** Columns of `messages m` for a `MessageRow`. */
export const messageColumns = messageColumnsWith('m.parts');

/** The same with another expression for the parts. */
export function messageColumnsWith(parts: string): string {
  return columnList<MessageRow>({
    id: 'm.id',
    parent_id: 'm.parent_id',
    role: 'm.role',
    parts,
    status: 'm.status',
    error_code: 'm.error_code',
    error_message: 'm.error_message',
    error_details: 'm.error_details::text',
    finish_reason: 'm.finish_reason',
    finish_detail: 'm.finish_detail',
    model_id: 'm.model_id',
    usage: 'm.usage::text',
    assistant: 'm.assistant::text',
    created_at: 'm.created_at',
  });
}

/** A page ends early when its parts are longer than this. */
const pageBytes = 8_000_000;

/** The newest messages of a branch, or those before the message `before`, which must be in the conversation. */
export async function readMessagePage(
  db: Queryable,
  { chatId, leafId, before, limit }: { chatId: string; leafId: string | null; before?: string; limit: number },
): Promise<MessagePage> {
  const start = before === undefined ? leafId : await parentOf(db, chatId, before);
  if (start === null) return { messagesJson: '[]', nextBefore: null };
  const { rows } = await sql<PageRow>`
    with recursive branch as (
      select id, parent_id, 1 as depth, octet_length(parts)::int8 as bytes
      from messages where id = ${start} and chat_id = ${chatId}
      union all
      select m.id, m.parent_id, b.depth + 1, b.bytes + octet_length(m.parts)
      from branch b ${sql.raw(messageOf('b.parent_id'))} where b.depth < ${limit} and b.bytes < ${pageBytes}
    )
    select ${sql.raw(messageColumns)},
      case when m.parent_id is null
        then array(select s.id from messages s
          where s.chat_id = m.chat_id and s.parent_id is null and s.role = m.role order by s.seq)
        else array(select s.id from messages s where s.parent_id = m.parent_id and s.role = m.role order by s.seq)
      end as sibling_ids
    from branch b ${sql.raw(messageOf('b.id'))} order by b.depth desc`.execute(db);
  const oldest = rows[0];
  return {
    messagesJson: `[${rows.map((row) => messageJson(chatId, row)).join(',')}]`,
    nextBefore: oldest === undefined || oldest.parent_id === null ? null : oldest.id,
  };
}

async function parentOf(db: Queryable, chatId: string, id: string): Promise<string | null> {
  const query = db.selectFrom('messages').select('parent_id').where('id', '=', id).where('chat_id', '=', chatId);
  const row = await query.executeTakeFirst();
  if (row === undefined) throw new ApiError('not_found', 'Message not found');
  return row.parent_id;
}

/** Only answers of stand-ins have such a part; the others are not parsed. */
function servedByOf(parts: string): ServedBy | undefined {
  return parts.includes('"data-served-by"') ? servedByIn(parseStoredParts(parts)) : undefined;
}

/** The wire form (contract.md section 5), with `parts` put in as stored. */
export function messageJson(chatId: string, row: MessageRow & { sibling_ids?: string[] }): string {
  const before = JSON.stringify({
    id: row.id,
    chatId,
    parentId: row.parent_id,
    siblingIds: row.sibling_ids,
    role: row.role,
  });
  const after = JSON.stringify({
    status: row.status,
    error: errorOf(
      row.error_code,
      row.error_message,
      row.error_details === null ? null : JSON.parse(row.error_details),
    ),
    finishReason: row.finish_reason,
    finishDetail: row.finish_detail,
    modelId: row.model_id ?? undefined,
    servedBy: servedByOf(row.parts),
    createdAt: row.created_at.toISOString(),
  });
  const usage = row.usage === null ? '' : `,"usage":${row.usage}`;
  const assistant = row.assistant === null ? '' : `,"assistant":${row.assistant}`;
  return `${before.slice(0, -1)},"parts":${row.parts}${usage}${assistant},${after.slice(1)}`;
}
