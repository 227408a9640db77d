import { randomUUIDv7 } from 'node:crypto';
import type { Chat, NewChat } from '@homeport/contracts/chat/conversations';
import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import { type RawBuilder, sql } from 'kysely';
import { assertUsableAssistant } from '../assistants/assistants.ts';
import { usableBy } from '../assistants/sharing.ts';
import type { Queryable } from '../db/pool.ts';
import type { Platform } from '../platform.ts';
import { assertOpenProject } from '../projects/projects.ts';
import { storedTitle, titleSets } from './chat-titles.ts';
import { type ChatRow, chatColumns, newChatColumns, runningColumn, viewChat } from './chat-view.ts';
import { indexedText, ownerLexeme } from './search-text.ts';

/**
 * Conversation records. This file, chat-changes.ts, chat-titles.ts and imported-chats.ts write the table `chats`. Code
 * that needs the row and others locks it first, with FOR NO KEY UPDATE: this order separates archiving, claim and end
 * of a response without deadlocks.
 */

const untitled = 'New conversation';
const ownerPrefix = ownerLexeme('');

/** The same answer for a missing conversation and someone else's. */
export function conversationNotFound(): ApiError {
  return new ApiError('not_found', 'Conversation not found');
}

/** Throws `not_found` unless the conversation belongs to this owner. */
export async function assertOwnedChat(db: Queryable, ownerId: string, chatId: string): Promise<void> {
  const query = db.selectFrom('chats').select('id').where('id', '=', chatId).where('owner_id', '=', ownerId);
  if ((await query.executeTakeFirst()) === undefined) throw conversationNotFound();
}

/** One conversation of this owner. */
export async function getOwnedChat(db: Queryable, ownerId: string, chatId: string): Promise<Chat> {
  const { rows } = await sql<ChatRow>`
    select ${sql.raw(chatColumns)} from chats c where c.id = ${chatId} and c.owner_id = ${ownerId}`.execute(db);
  const row = rows[0];
  if (row === undefined) throw conversationNotFound();
  return viewChat(row);
}

const insertChat = (condition: string): string => `
  insert into chats as c (id, owner_id, title, title_source, title_search, project_id, instructions, parameters, temporary, assistant_id, tool_rules, web)
  select $1, $2, $3, $4, case when $5 <> '' then to_tsvector('simple', $5) || array_to_tsvector(array['${ownerPrefix}' || $2]) end, $6,
    $7, $8::jsonb, $9, $10, $11::jsonb, $12
  where ${condition}
  on conflict (id) do nothing returning ${newChatColumns}`;

// A separate statement for the most frequent case: with the conditions below the server would plan it again each time.
const insertPlainChat = { name: 'insert-plain-chat', text: insertChat('$6::text is null and $10::text is null') };
const insertChatWithin = {
  name: 'insert-chat-within',
  text: insertChat(`($6::text is null or exists (
      select from project_members m join projects p on p.id = m.project_id
      where m.project_id = $6 and m.user_id = $2 and not p.archived for key share of m))
    and ($10::text is null or exists (
      select from assistants a where a.id = $10 and ${usableBy('a', '$2')} for key share of a))`),
};

/**
 * Creates a conversation, in a project only if the owner is a member. An id in use by anybody throws `id_taken`. Throws
 * `not_found` and `project_archived`.
 */
export async function createChat(deps: Pick<Platform, 'db'>, ownerId: string, chat: NewChat): Promise<Chat> {
  const projectId = chat.projectId ?? null;
  const isPlain = projectId === null && !chat.assistantId;
  const { rows } = await deps.db.pool.query<ChatRow>({
    ...(isPlain ? insertPlainChat : insertChatWithin),
    values: [
      chat.id ?? randomUUIDv7(),
      ownerId,
      chat.title ?? untitled,
      chat.title === undefined ? 'none' : 'person',
      indexedText(chat.title ?? ''),
      projectId,
      chat.instructions || null,
      JSON.stringify(chat.parameters ?? {}),
      chat.temporary ?? false,
      chat.assistantId ?? null,
      chat.toolRules ? JSON.stringify(chat.toolRules) : null,
      chat.web ?? null,
    ],
  });
  const row = rows[0];
  if (row !== undefined) return viewChat(row);
  if (projectId !== null) await assertOpenProject(deps.db.kysely, ownerId, projectId);
  if (chat.assistantId) await assertUsableAssistant(deps.db.kysely, ownerId, chat.assistantId);
  throw new ApiError('id_taken', 'This id is already in use');
}

/** Deletes a conversation with everything in it. The caller has stopped its running response. */
export async function deleteOwnedChat(deps: Pick<Platform, 'db'>, ownerId: string, chatId: string): Promise<void> {
  const { numDeletedRows } = await deps.db.kysely
    .deleteFrom('chats')
    .where('id', '=', chatId)
    .where('owner_id', '=', ownerId)
    .executeTakeFirst();
  if (numDeletedRows === 0n) throw conversationNotFound();
}

const temporaryAtOnce = 50;

/** Deletes temporary conversations that were unused for a day and in which nothing is running. */
export async function dropTemporaryChats(deps: Pick<Platform, 'db'>): Promise<void> {
  await sql`
    delete from chats where id in (
      select id from chats c where c.temporary and c.updated_at < now() - ${limits.temporaryHours} * interval '1 hour'
        and not ${sql.raw(runningColumn)}
      order by c.updated_at limit ${temporaryAtOnce} for update skip locked)`.execute(deps.db.kysely);
}

/** Facts about a conversation that a turn needs. */
export type TurnContext = {
  contextStartMessageId: string | null;
  modelPinned: boolean;
  modelId: string | null;
  /** Null: all of the owner's. */
  mcpServerIds: string[] | null;
  /** Null: as the settings of web search say. */
  web: boolean | null;
  /** Earlier messages are summarized when the window is nearly full. */
  autoCompaction: boolean;
  /** The chosen assistant; the turn checks whether the owner may still use it. */
  assistantId: string | null;
};

/** The statement that records activity in a conversation, if `condition` holds. */
export function touchingChat(chatId: string, condition: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`update chats set updated_at = now() where id = ${chatId} and ${condition}`;
}

/** After this many failures in a row, summaries are made only on request. */
const compactionFailures = 3;

/** The statement that records a summary's outcome, if `condition` holds. */
export function countingCompaction(
  chatId: string,
  outcome: 'done' | 'failed' | 'undone',
  condition: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const sets = {
    done: sql`compaction_failures = 0, auto_compaction = true`,
    failed: sql`compaction_failures = compaction_failures + 1,
      auto_compaction = auto_compaction and compaction_failures + 1 < ${compactionFailures}`,
    undone: sql`auto_compaction = false`,
  };
  return sql`update chats set ${sets[outcome]} where id = ${chatId} and ${condition}`;
}

/** Makes a message the newest of the active branch, and records activity now. */
export async function setActiveMessage(
  trx: Queryable,
  chatId: string,
  messageId: string,
  instantTitle?: string,
): Promise<void> {
  await showingMessage(chatId, messageId, instantTitle, sql`true`).execute(trx);
}

/**
 * The statement of `setActiveMessage`, if `condition` holds. `instantTitle` names the conversation; pass it only for a
 * locked, untitled one.
 */
export function showingMessage(
  chatId: string,
  messageId: string,
  instantTitle: string | undefined,
  condition: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const title = storedTitle(instantTitle ?? '');
  const sets = [sql`active_message_id = ${messageId}`, sql`updated_at = now()`];
  if (title !== '') sets.push(...titleSets(title, 'instant'));
  return sql`update chats c set ${sql.join(sets)} where id = ${chatId} and ${condition}`;
}

/**
 * Pins a model to the conversation; null follows the default again. The caller has checked the model's owner; a model
 * deleted since then is not pinned.
 */
export async function pinModel(trx: Queryable, chatId: string, modelId: string | null): Promise<void> {
  await sql`
    update chats c set model_id = m.id, model_pinned = m.id is not null
    from (select (select id from models where id = ${modelId} for key share) as id) m where c.id = ${chatId}`.execute(
    trx,
  );
}

/** Removes an assistant that the owner may no longer use. */
export async function dropAssistant(db: Queryable, chatId: string, assistantId: string): Promise<void> {
  await db
    .updateTable('chats')
    .set({ assistant_id: null })
    .where('id', '=', chatId)
    .where('assistant_id', '=', assistantId)
    .execute();
}

/** Records the version of an assistant for which the owner got a notice about missing parts. */
export async function recordAssistantNotice(db: Queryable, chatId: string, notice: string): Promise<void> {
  await db.updateTable('chats').set({ assistant_notice: notice }).where('id', '=', chatId).execute();
}

/** Locks a user's conversations in a project, before the project itself, as moves do. */
export async function lockChatsIn(trx: Queryable, ownerId: string, projectId: string): Promise<void> {
  const query = trx
    .selectFrom('chats')
    .select('id')
    .where('owner_id', '=', ownerId)
    .where('project_id', '=', projectId);
  await query.orderBy('id').forNoKeyUpdate().execute();
}

/**
 * Takes a user's conversations out of a project that the user leaves: they belong to the user alone, the project's
 * files to its members. Returns how many.
 */
export async function takeChatsOut(trx: Queryable, ownerId: string, projectId: string): Promise<number> {
  const { numUpdatedRows } = await trx
    .updateTable('chats')
    .set({ project_id: null })
    .where('owner_id', '=', ownerId)
    .where('project_id', '=', projectId)
    .executeTakeFirst();
  return Number(numUpdatedRows);
}
