import { randomUUIDv7 } from 'node:crypto';
import type { Chat } from '@homeport/contracts/conversations';
import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import type { Parameters } from '@homeport/contracts/parameters';
import type { ToolRules } from '@homeport/contracts/tool-rules';
import { type RawBuilder, sql } from 'kysely';
import { assertUsableAssistant } from '../assistants/assistants.ts';
import { usableBy } from '../assistants/sharing.ts';
import { type AuditSource, changedFields, recordEvent } from '../audit.ts';
import { catalogueOwner } from '../catalogue/catalogue-owner.ts';
import { assertVisibleModel } from '../catalogue/models.ts';
import { inTransaction, type Queryable } from '../db/pool.ts';
import { assertOwnedMcpServers } from '../mcp/servers.ts';
import type { Platform } from '../platform.ts';
import { assertOpenProject, lockOpenProject } from '../projects/projects.ts';
import { countingCalls, type LedgerRow } from '../usage/ledger.ts';
import { findNewestLeaf } from './branches.ts';
import { type ChatRow, chatColumns, runningColumn, viewChat } from './chat-view.ts';
import { ownerLexeme, searchText } from './search-text.ts';

/**
 * Conversation records. This file and imported-chats.ts write the table `chats`. Code that needs the row and others locks it first,
 * with FOR NO KEY UPDATE: this order separates archiving, claim and end of a response without deadlocks.
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

export type NewChat = {
  id?: string | undefined;
  title?: string | undefined;
  projectId?: string | null | undefined;
  assistantId?: string | null | undefined;
  instructions?: string | null | undefined;
  parameters?: Parameters | null | undefined;
  toolRules?: ToolRules | null | undefined;
  temporary?: boolean | undefined;
};

const insertChat = (condition: string): string => `
  insert into chats as c (id, owner_id, title, title_source, title_search, project_id, instructions, parameters, temporary, assistant_id, tool_rules)
  select $1, $2, $3, $4, case when $5 <> '' then to_tsvector('simple', $5) || array_to_tsvector(array['${ownerPrefix}' || $2]) end, $6,
    $7, $8::jsonb, $9, $10, $11::jsonb
  where ${condition}
  on conflict (id) do nothing returning ${chatColumns}`;

// By themselves, as most are: with the conditions below the server would make a plan anew each time.
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
      searchText(chat.title ?? ''),
      projectId,
      chat.instructions || null,
      JSON.stringify(chat.parameters ?? {}),
      chat.temporary ?? false,
      chat.assistantId ?? null,
      chat.toolRules ? JSON.stringify(chat.toolRules) : null,
    ],
  });
  const row = rows[0];
  if (row !== undefined) return viewChat(row);
  if (projectId !== null) await assertOpenProject(deps.db.kysely, ownerId, projectId);
  if (chat.assistantId) await assertUsableAssistant(deps.db.kysely, ownerId, chat.assistantId);
  throw new ApiError('id_taken', 'This id is already in use');
}

/** A conversation from an import; `words` is its title's `searchText`. */
export type ImportedChat = {
  /** Its position in the import: the order of insertion. */
  n: number;
  id: string;
  ownerEmail: string;
  title: string;
  words: string;
  archived: boolean;
  activeMessageId: string | null;
  createdAt: string | null;
  updatedAt: string | null;
  instructions: string | null;
  parameters: Parameters;
  /** A project of the owner's; none if absent. */
  projectId?: string | null;
};

/**
 * Inserts conversations of existing users in one statement; ids already in use by anybody are skipped. Returns the new
 * ids.
 */
export async function importChats(trx: Queryable, chats: readonly ImportedChat[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    insert into chats (id, owner_id, title, title_source, title_search, archived, active_message_id, created_at, updated_at,
      instructions, parameters, project_id)
    select x.id, u.id, x.title, 'person',
      case when x.words <> '' then to_tsvector('simple', x.words) || array_to_tsvector(array[${sql.lit(ownerPrefix)} || u.id]) end,
      x.archived, x."activeMessageId", coalesce(x."createdAt", now()), coalesce(x."updatedAt", x."createdAt", now()),
      x.instructions, x.parameters, x."projectId"
    from json_to_recordset(${JSON.stringify(chats)}::json) as x
      (n int, id text, "ownerEmail" text, title text, words text, archived boolean, "activeMessageId" text,
        "createdAt" timestamptz, "updatedAt" timestamptz, instructions text, parameters jsonb,
        "projectId" text)
    join users u on u.email = x."ownerEmail" order by x.n
    on conflict (id) do nothing returning id`.execute(trx);
  return rows.map(({ id }) => id);
}

export type ChatChange = {
  title?: string | undefined;
  archived?: boolean | undefined;
  projectId?: string | null | undefined;
  freshContext?: true | undefined;
  autoCompaction?: boolean | undefined;
  activeMessageId?: string | undefined;
  modelPinned?: boolean | undefined;
  modelId?: string | null | undefined;
  mcpServerIds?: string[] | null | undefined;
  assistantId?: string | null | undefined;
  instructions?: string | null | undefined;
  parameters?: Parameters | null | undefined;
  toolRules?: ToolRules | null | undefined;
  temporary?: false | undefined;
};

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
    const sets: RawBuilder<unknown>[] = [];
    if (change.title !== undefined) sets.push(...titleSets(change.title, 'person'));
    if (change.archived !== undefined) sets.push(sql`archived = ${change.archived}`);
    if (moves) sets.push(sql`project_id = ${target}`);
    if (change.activeMessageId !== undefined) sets.push(sql`active_message_id = ${leaf}`);
    if (change.autoCompaction !== undefined) {
      sets.push(sql`auto_compaction = ${change.autoCompaction}, compaction_failures = 0`);
    }
    if (change.freshContext === true) sets.push(sql`context_start_message_id = ${leaf}`);
    if (pin !== undefined) sets.push(sql`model_pinned = ${pin !== null}, model_id = ${pin}`);
    if (change.mcpServerIds !== undefined) {
      const ids = change.mcpServerIds === null ? null : JSON.stringify(change.mcpServerIds);
      sets.push(sql`mcp_server_ids = ${ids}::jsonb`);
    }
    if (change.assistantId !== undefined) sets.push(sql`assistant_id = ${change.assistantId}`);
    if (change.instructions !== undefined) {
      sets.push(sql`instructions = ${change.instructions || null}`);
    }
    if (change.parameters !== undefined) sets.push(sql`parameters = ${JSON.stringify(change.parameters ?? {})}::jsonb`);
    if (change.toolRules !== undefined) {
      const kept = change.toolRules === null ? null : JSON.stringify(change.toolRules);
      sets.push(sql`tool_rules = ${kept}::jsonb`);
    }
    if (change.temporary === false) sets.push(sql`temporary = false`);
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

/** Records that what models are told or may do in a conversation has changed. */
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

/** Deletes temporary conversations that nobody has used for a day and in which nothing is running. */
export async function dropTemporaryChats(deps: Pick<Platform, 'db'>): Promise<void> {
  await sql`
    delete from chats where id in (
      select id from chats c where c.temporary and c.updated_at < now() - ${limits.temporaryHours} * interval '1 hour'
        and not ${sql.raw(runningColumn)}
      order by c.updated_at limit ${temporaryAtOnce} for update skip locked)`.execute(deps.db.kysely);
}

/** What a turn needs to know of its conversation. */
export type TurnContext = {
  contextStartMessageId: string | null;
  modelPinned: boolean;
  modelId: string | null;
  /** Null: all of the owner's. */
  mcpServerIds: string[] | null;
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

/** Records for which version of an assistant the owner has been told what is missing. */
export async function recordAssistantNotice(db: Queryable, chatId: string, notice: string): Promise<void> {
  await db.updateTable('chats').set({ assistant_notice: notice }).where('id', '=', chatId).execute();
}

/** The title's source; undefined if the conversation is deleted or temporary. */
export async function findTitleSource(db: Queryable, chatId: string): Promise<TitleSource | undefined> {
  const query = db.selectFrom('chats').select('title_source').where('id', '=', chatId).where('temporary', '=', false);
  const row = await query.executeTakeFirst();
  return row?.title_source;
}

/** Replaces an instant title with a model's; returns whether it did. A title that a person typed stays. */
export async function setModelTitle(
  db: Queryable,
  chatId: string,
  title: string,
  calls: readonly LedgerRow[] = [],
): Promise<boolean> {
  const stored = storedTitle(title);
  const { rows } = await sql`
    with named as (
      update chats c set ${sql.join(titleSets(stored, 'model'))}
      where id = ${chatId} and title_source = 'instant' and ${stored}::text <> '' returning id
    ), ${countingCalls(calls)}
    select id from named`.execute(db);
  return rows.length === 1;
}

export type TitleSource = 'none' | 'instant' | 'model' | 'person';

function storedTitle(title: string): string {
  return [...title.trim()].slice(0, limits.titleMax).join('');
}

/** Updates a title's search words, unless it has changed meanwhile. */
export async function indexTitle(trx: Queryable, chatId: string, title: string): Promise<void> {
  await sql`update chats c set title_search = ${titleVector(title)} where id = ${chatId} and title = ${title}`.execute(
    trx,
  );
}

function titleSets(title: string, source: Exclude<TitleSource, 'none'>): RawBuilder<unknown>[] {
  return [sql`title = ${title}`, sql`title_source = ${source}`, sql`title_search = ${titleVector(title)}`];
}

function titleVector(title: string): RawBuilder<unknown> {
  const words = searchText(title);
  if (words === '') return sql`null`;
  return sql`to_tsvector('simple', ${words}) || array_to_tsvector(array[${sql.lit(ownerPrefix)} || owner_id])`;
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
