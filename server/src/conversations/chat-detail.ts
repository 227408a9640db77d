import { limits } from '@homeport/contracts/limits';
import { sql } from 'kysely';
import type { Queryable } from '../db/pool.ts';
import type { Platform } from '../platform.ts';
import { listBranchSummaries } from './branch-summaries.ts';
import { type ChatRow, chatColumns, viewChat } from './chat-view.ts';
import { conversationNotFound } from './chats.ts';
import { readMessagePage } from './message-page.ts';
import { readPlan } from './plans.ts';

/**
 * JSON text of one conversation with a page of its newest messages, its queued inputs and its running response
 * (contract.md section 5). One snapshot: no message is `streaming` without its response beside it.
 */
export async function readChatDetail(
  deps: Pick<Platform, 'db'>,
  ownerId: string,
  request: { id: string; before?: string; limit?: number },
): Promise<string> {
  const { id, before, limit = limits.pageDefault } = request;
  const snapshot = deps.db.kysely.transaction().setIsolationLevel('repeatable read').setAccessMode('read only');
  return snapshot.execute(async (trx) => {
    const { chat, leafId } = await readChat(trx, ownerId, id);
    const page = await readMessagePage(trx, { chatId: id, leafId, before, limit });
    const response = JSON.stringify(await readRunning(trx, id));
    const inputs = await readInputs(trx, id);
    const plan = JSON.stringify(leafId === null ? null : await readPlan(trx, leafId));
    const summaries = JSON.stringify(leafId === null ? [] : await listBranchSummaries(trx, id, leafId));
    return `{"chat":${JSON.stringify(chat)},"messages":${page.messagesJson},"nextBefore":${JSON.stringify(page.nextBefore)},"inputs":${inputs},"response":${response},"summaries":${summaries},"plan":${plan}}`;
  });
}

async function readChat(db: Queryable, ownerId: string, id: string) {
  const { rows } = await sql<ChatRow & { active_message_id: string | null }>`
    select ${sql.raw(chatColumns)}, c.active_message_id from chats c
    where c.id = ${id} and c.owner_id = ${ownerId}`.execute(db);
  const row = rows[0];
  if (row === undefined) throw conversationNotFound();
  const { active_message_id: leafId, ...chat } = row;
  return { chat: viewChat(chat), leafId };
}

async function readRunning(db: Queryable, chatId: string) {
  const row = await db
    .selectFrom('responses')
    .select(['id', 'message_id', 'started_at', 'kind'])
    .where('chat_id', '=', chatId)
    .where('state', '=', 'running')
    .executeTakeFirst();
  if (row === undefined) return null;
  return { assistantId: row.id, messageId: row.message_id, startedAt: row.started_at.toISOString(), kind: row.kind };
}

async function readInputs(db: Queryable, chatId: string): Promise<string> {
  const rows = await db
    .selectFrom('inputs')
    .select(['id', 'parts', 'created_at', 'steer_rank'])
    .where('chat_id', '=', chatId)
    .where('state', '=', 'queued')
    .orderBy('steer_rank')
    .orderBy('position')
    .execute();
  const inputs = rows.map(({ id, parts, created_at, steer_rank }) => {
    const state = steer_rank === null ? 'queued' : 'steering';
    const [idText, facts] = [
      JSON.stringify(id),
      JSON.stringify({ chatId, state, createdAt: created_at.toISOString() }),
    ];
    return `{"id":${idText},"message":{"id":${idText},"role":"user","parts":${parts}},${facts.slice(1)}`;
  });
  return `[${inputs.join(',')}]`;
}
