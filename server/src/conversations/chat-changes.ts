import type { Chat, ChatChange } from '@homeport/contracts/chat/conversations';
import type { ToolRules } from '@homeport/contracts/chat/tool-rules';
import { ApiError } from '@homeport/contracts/errors';
import { type RawBuilder, sql } from 'kysely';
import { assertUsableAssistant } from '../assistants/assistants.ts';
import { type AuditSource, changedFields, recordEvent } from '../audit/audit.ts';
import { catalogueOwner } from '../catalogue/catalogue-owner.ts';
import { assertVisibleModel } from '../catalogue/models.ts';
import { columnOf } from '../db/column-list.ts';
import { inTransaction, type Queryable } from '../db/pool.ts';
import { assertOwnedMcpServers } from '../mcp/servers.ts';
import type { Platform } from '../platform.ts';
import { lockOpenProject } from '../projects/projects.ts';
import { findNewestLeaf } from './branches.ts';
import { titleSets } from './chat-titles.ts';
import { runningColumn } from './chat-view.ts';
import { conversationNotFound, getOwnedChat } from './chats.ts';

/** Changes that people make to a conversation, and changes of its rules by an approval. */

/** Moves a standalone conversation's files into a project; runs in the transaction that moves the conversation. */
export type MoveFiles = (trx: Queryable, chat: { id: string; title: string }, projectId: string) => Promise<MovedFiles>;
export type MovedFiles = { movedArtifacts: number; artifactFolder: string | null };

const nothingMoved: MovedFiles = { movedArtifacts: 0, artifactFolder: null };

/**
 * Applies all given members or none. Archiving, moving, a fresh context and another branch throw `response_running`
 * while a response is running or inputs are queued. A `modelId` without `modelPinned` pins it, since there is no turn
 * here. Files stay in the project that a conversation leaves.
 */
export async function updateChat(
  deps: Pick<Platform, 'db' | 'config'>,
  ownerId: string,
  chatId: string,
  change: ChatChange,
  { moveFiles, by }: { moveFiles: MoveFiles; by: AuditSource },
): Promise<{ chat: Chat } & MovedFiles> {
  return inTransaction(deps.db, async (trx) => {
    const chat = await lockOwnedChat(trx, ownerId, chatId);
    const target = change.projectId === chat.project_id ? undefined : change.projectId;
    if (typeof target === 'string') await lockOpenProject(trx, ownerId, target);
    await assertOwnedMcpServers(trx, ownerId, change.mcpServerIds ?? []);
    if (change.assistantId) await assertUsableAssistant(trx, ownerId, change.assistantId);
    const pin = await resolvePin(deps, trx, ownerId, chat, change);
    const leaf =
      change.activeMessageId === undefined
        ? chat.active_message_id
        : await findNewestLeaf(trx, chatId, change.activeMessageId);
    if (leaf === undefined) throw new ApiError('not_found', 'Message not found');
    const archives = change.archived === true && !chat.archived;
    const moves = target !== undefined;
    if (archives || moves || change.freshContext === true || change.activeMessageId !== undefined) {
      await assertIdle(trx, chatId);
    }
    const sets = columnSets(change);
    if (moves) sets.push(sql`project_id = ${target}`);
    if (change.activeMessageId !== undefined) sets.push(sql`active_message_id = ${leaf}`);
    if (change.freshContext === true) sets.push(sql`context_start_message_id = ${leaf}`);
    if (pin !== undefined) sets.push(sql`model_pinned = ${pin !== null}, model_id = ${pin}`);
    const entersProject = typeof target === 'string' && chat.project_id === null;
    const { title } = chat;
    const moved = entersProject
      ? await moveFiles(trx, { id: chatId, title: change.title ?? title }, target)
      : nothingMoved;
    if (sets.length > 0) await sql`update chats set ${sql.join(sets)} where id = ${chatId}`.execute(trx);
    const { instructions, toolRules } = change;
    const recorded = changedFields({ instructions, toolRules });
    if (recorded.length > 0) await recordChatChange(trx, by, chatId, recorded);
    return { chat: await getOwnedChat(trx, ownerId, chatId), ...moved };
  });
}

/** SQL assignments of the given members. A member without a rule of its own goes into the column of its name. */
function columnSets(change: ChatChange): RawBuilder<unknown>[] {
  const { title, projectId, activeMessageId, freshContext, modelPinned, modelId, ...columns } = change;
  const sets = title === undefined ? [] : titleSets(title, 'person');
  if (change.autoCompaction !== undefined) sets.push(sql`compaction_failures = 0`);
  if (columns.instructions !== undefined) columns.instructions ||= null;
  if (columns.parameters !== undefined) columns.parameters ??= {};
  for (const [field, value] of Object.entries(columns)) {
    if (value === undefined) continue;
    const stored = typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
    sets.push(sql`${sql.ref(columnOf(field))} = ${stored}`);
  }
  return sets;
}

/** Records in the audit log that the instructions or permissions of models in a conversation have changed. */
export async function recordChatChange(
  trx: Queryable,
  by: AuditSource,
  chatId: string,
  changed: readonly string[],
): Promise<void> {
  const details = { changed };
  await recordEvent(trx, by, { action: 'conversation.updated', targetType: 'conversation', targetId: chatId, details });
}

/** Replaces the rules for tools of a conversation that the caller has locked; without a preset, its owner's counts. */
export async function writeChatRules(trx: Queryable, chatId: string, rules: Partial<ToolRules>): Promise<void> {
  await sql`update chats set tool_rules = ${JSON.stringify(rules)}::jsonb where id = ${chatId}`.execute(trx);
}

type LockedChat = {
  title: string;
  archived: boolean;
  project_id: string | null;
  active_message_id: string | null;
  model_id: string | null;
};

async function lockOwnedChat(trx: Queryable, ownerId: string, chatId: string): Promise<LockedChat> {
  const chat = await trx
    .selectFrom('chats')
    .select(['title', 'archived', 'project_id', 'active_message_id', 'model_id'])
    .where('id', '=', chatId)
    .where('owner_id', '=', ownerId)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (chat === undefined) throw conversationNotFound();
  return chat;
}

/** A separate statement after the lock, so that it sees what was committed while waiting for it. */
async function assertIdle(trx: Queryable, chatId: string): Promise<void> {
  const { rows } = await sql<{ running: boolean }>`
    select ${sql.raw(runningColumn)} as running from chats c where c.id = ${chatId}`.execute(trx);
  if (rows[0]?.running === true) {
    throw new ApiError('response_running', 'An answer is still running. Wait for it, or stop it.');
  }
}

/** The model to pin, null to follow the default, undefined for no change. */
async function resolvePin(
  deps: Pick<Platform, 'config'>,
  trx: Queryable,
  ownerId: string,
  chat: LockedChat,
  change: ChatChange,
): Promise<string | null | undefined> {
  const { modelPinned, modelId } = change;
  if (modelPinned === false) return null;
  if (typeof modelId === 'string') {
    await assertVisibleModel({ db: { kysely: trx } }, catalogueOwner(deps.config, ownerId), modelId);
    return modelId;
  }
  if (modelPinned === undefined) return modelId;
  if (chat.model_id !== null && modelId === undefined) return chat.model_id;
  throw new ApiError('invalid_request', 'The request is not valid. modelId: Needed when modelPinned is true', {
    details: [{ path: 'modelId', message: 'Needed when modelPinned is true' }],
  });
}
