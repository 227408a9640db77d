import { ApiError } from '@homeport/contracts/errors';
import { sql } from 'kysely';
import type { TitleSource } from '../../conversations/chat-titles.ts';
import { conversationNotFound } from '../../conversations/chats.ts';
import type { Queryable } from '../../db/pool.ts';
import { onFoundRow } from '../../db/row-lookup.ts';
import { projectArchived, projectArchivedColumn } from '../../projects/projects.ts';
import { budgetResetsAt } from '../../usage/budget-rule.ts';

/**
 * The conversation of a response that is about to begin, locked: its required state, and the data that its turn needs.
 */

export type LockedChat = {
  id: string;
  owner_id: string;
  archived: boolean;
  project_archived: boolean;
  active_message_id: string | null;
  model_pinned: boolean;
  model_id: string | null;
  title_source: TitleSource;
  context_start_message_id: string | null;
  mcp_server_ids: string[] | null;
  web: boolean | null;
  auto_compaction: boolean;
  assistant_id: string | null;
};
type WithBudget = LockedChat & { budget_resets_at: Date | null };

/** With its owner's budget. Throws `not_found` for someone else's. */
export async function lockChat(trx: Queryable, chatId: string, ownerId: string): Promise<WithBudget> {
  const chat: WithBudget | undefined = await lockingChatOf(trx, chatId, ownerId)
    .select(sql.raw<Date | null>(budgetResetsAt('chats.owner_id')).as('budget_resets_at'))
    .executeTakeFirst();
  if (chat === undefined) throw conversationNotFound();
  return chat;
}

export function lockingChatOf(trx: Queryable, chatId: string, ownerId: string) {
  return lockingChat(trx, chatId).where(onFoundRow(sql`owner_id = ${ownerId}`));
}

export function lockingChat(trx: Queryable, chatId: string) {
  return trx
    .selectFrom('chats')
    .select([
      'id',
      'owner_id',
      'archived',
      'active_message_id',
      'model_pinned',
      'model_id',
      'title_source',
      'context_start_message_id',
      'mcp_server_ids',
      'web',
      'auto_compaction',
      'assistant_id',
    ])
    .select(sql<boolean>`${sql.raw(projectArchivedColumn('chats.project_id'))}`.as('project_archived'))
    .where('id', '=', chatId)
    .forNoKeyUpdate();
}

export function assertIdle(chat: LockedChat, running: unknown): void {
  if (running !== undefined)
    throw new ApiError('response_running', 'An answer is still running. Wait for it, or stop it.');
  assertNotArchived(chat);
}

export function assertNotArchived(chat: LockedChat): void {
  if (chat.archived) throw new ApiError('conversation_archived', 'Restore this conversation before continuing it');
  if (chat.project_archived) throw projectArchived();
}
