import type { MessageFinishReason } from '@homeport/contracts/chat/finish-reasons';
import type { ErrorDetails, MessageError, MessageMetadata, MessagePart, Usage } from '@homeport/contracts/chat/frames';
import { ApiError } from '@homeport/contracts/errors';
import { type RawBuilder, sql } from 'kysely';
import type { Queryable } from '../db/pool.ts';
import type { MessageStatus } from '../db/tables/chat.ts';
import { indexedText, ownerLexeme, searchTextMax } from './search-text.ts';
import { parseStoredParts } from './stored-parts.ts';

/** Message records. This file alone writes the table `messages`. */

/**
 * `parts` is JSON text of MessagePart[]; `prompt` JSON text of the provider messages it becomes, without brackets. Long
 * ones come as bytes in UTF-8. `words`: what `wordsOf` made of the parts.
 */
export type NewUserMessage = {
  id: string;
  chatId: string;
  parentId: string | null;
  parts: string | Buffer;
  prompt: string | Buffer | null;
  promptTokens: number | null;
  words: string;
  createdAt?: Date;
};

/** Inserts a submitted message. Its parent must be a message of the same conversation or null. */
export async function insertUserMessage(trx: Queryable, message: NewUserMessage): Promise<void> {
  await insert(trx, { ...message, role: 'user', status: 'complete', modelId: null });
}

/** Inserts the still empty answer to `parentId`, status `streaming`. */
export async function insertAssistantMessage(
  trx: Queryable,
  message: { id: string; chatId: string; parentId: string; modelId?: string | null },
): Promise<void> {
  const { id, chatId, parentId, modelId } = message;
  await insert(trx, {
    id,
    chatId,
    parentId,
    role: 'assistant',
    status: 'streaming',
    modelId: modelId ?? null,
    parts: '[]',
    prompt: null,
    promptTokens: null,
    words: '',
  });
}

/** True when the parent of a message that is to be inserted is a message of its conversation, or null. */
export function fitting({ chatId, parentId }: Pick<NewUserMessage, 'chatId' | 'parentId'>): RawBuilder<unknown> {
  return sql`exists (select from chats c left join messages p on p.id = ${parentId} and p.chat_id = c.id
    where c.id = ${chatId} and (${parentId}::text is null or p.id is not null))`;
}

/**
 * The statement that inserts a submitted message and the still empty answer to it, when it fits and `condition` holds.
 */
export function insertingExchange(
  user: NewUserMessage,
  assistantId: string,
  condition: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`
    insert into messages (id, chat_id, parent_id, role, parts, prompt, prompt_tokens, status, search, plan_id)
    select m.id, c.id, m.parent_id, m.role, m.parts, m.prompt, m.prompt_tokens, m.status, m.search, p.plan_id
    from chats c left join messages p on p.id = ${user.parentId} and p.chat_id = c.id,
    lateral (values
      (${user.id}, p.id, 'user', ${user.parts}, ${user.prompt}, ${user.promptTokens}::int, 'complete', ${searchVector(user.words)}),
      (${assistantId}, ${user.id}, 'assistant', '[]', null, null, 'streaming', null)
    ) m (id, parent_id, role, parts, prompt, prompt_tokens, status, search)
    where c.id = ${user.chatId} and (${user.parentId}::text is null or p.id is not null) and ${condition}
    returning id`;
}

type NewMessage = NewUserMessage & { role: 'user' | 'assistant'; status: MessageStatus; modelId: string | null };

async function insert(trx: Queryable, message: NewMessage): Promise<void> {
  const { rows } = await sql`
    insert into messages (id, chat_id, parent_id, role, parts, prompt, prompt_tokens, status, model_id, search, plan_id, created_at)
    select ${message.id}, c.id, p.id, ${message.role}, ${message.parts}, ${message.prompt}, ${message.promptTokens},
      ${message.status}, ${message.modelId}, ${searchVector(message.words)}, p.plan_id, coalesce(${message.createdAt ?? null}, now())
    from chats c left join messages p on p.id = ${message.parentId} and p.chat_id = c.id
    where c.id = ${message.chatId} and (${message.parentId}::text is null or p.id is not null)
    returning id`.execute(trx);
  if (rows.length === 0) throw new ApiError('not_found', 'Message not found');
}

/** How an answer ended; null: not known. */
type MessageFinish = { reason: MessageFinishReason | null; detail: string | null };

export type FinishedMessage = {
  id: string;
  chatId: string;
  parts: string | Buffer;
  words: string;
  status: Exclude<MessageStatus, 'streaming'>;
  error?: MessageError | undefined;
  finish?: MessageFinish;
  usage?: Usage;
  modelId?: string;
  prompt: string | Buffer | null;
  promptTokens: number | null;
};

/** The statement that writes all that a message is at the end of its response, when `condition` holds. */
export function finishingMessage(message: FinishedMessage, condition: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    update messages m set parts = ${message.parts}, prompt = ${message.prompt}, prompt_tokens = ${message.promptTokens},
      status = ${message.status}, error_code = ${message.error?.code ?? null}, error_message = ${message.error?.message ?? null},
      error_details = ${message.error?.details === undefined ? null : JSON.stringify(message.error.details)}::jsonb,
      finish_reason = ${message.finish?.reason ?? null}, finish_detail = ${message.finish?.detail ?? null},
      usage = coalesce(${message.usage === undefined ? null : JSON.stringify(message.usage)}::jsonb, m.usage),
      model_id = coalesce(${message.modelId ?? null}, m.model_id), search = ${searchVector(message.words)}
    from chats c where m.id = ${message.id} and c.id = ${message.chatId} and m.chat_id = c.id and ${condition} returning m.id`;
}

/**
 * The statement that saves what a streaming message holds so far; nothing else about it changes. Fenced: without the
 * running response of this generation nothing is written.
 */
export function savingParts(message: { id: string; generation: number; parts: string | Buffer }): RawBuilder<unknown> {
  return sql`
    update messages m set parts = ${message.parts} from responses r
    where m.id = ${message.id} and m.status = 'streaming'
      and r.id = m.id and r.generation = ${message.generation} and r.state = 'running'`;
}

/** SQL text: keeps with an answer which assistant gives it; both are the places of values. */
export function namingAssistant(messageId: string, assistant: string): string {
  return `update messages set assistant = ${assistant}::jsonb where id = ${messageId} and ${assistant}::jsonb is not null`;
}

/** The statement that makes the plan of this answer the one in force after it, if `condition` holds. */
export function namingPlan(id: string, condition: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`update messages set plan_id = ${id} where id = ${id} and plan_id is distinct from ${id} and ${condition}`;
}

/** Makes an ended answer `streaming` again, its parts kept, for a response that continues it. */
export async function restartMessage(trx: Queryable, id: string): Promise<void> {
  await trx
    .updateTable('messages')
    .set({
      status: 'streaming',
      error_code: null,
      error_message: null,
      error_details: null,
      finish_reason: null,
      finish_detail: null,
    })
    .where('id', '=', id)
    .where('role', '=', 'assistant')
    .execute();
}

/** A message as it is replayed: everything but its place in the conversation. */
export type StoredMessage = {
  parts: MessagePart[];
  status: MessageStatus;
  error: MessageError | undefined;
  finish: MessageFinish;
  modelId: string | undefined;
  usage: Usage | undefined;
  assistant: MessageMetadata['assistant'];
};

/** The error of a message, from its columns. */
export function errorOf(
  code: string | null,
  message: string | null,
  details: ErrorDetails | null,
): MessageError | undefined {
  if (code === null) return undefined;
  return { code, message: message ?? '', ...(details === null ? {} : { details }) };
}

/** One message. The caller has checked whose conversation it is in. */
export async function readMessage(db: Queryable, id: string): Promise<StoredMessage> {
  const row = await db
    .selectFrom('messages')
    .select(['parts', 'status', 'error_code', 'error_message', 'error_details', 'finish_reason', 'finish_detail'])
    .select(['model_id', 'usage', 'assistant'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (row === undefined) throw new ApiError('not_found', 'Message not found');
  return {
    parts: parseStoredParts(row.parts),
    status: row.status,
    error: errorOf(row.error_code, row.error_message, row.error_details),
    finish: { reason: row.finish_reason, detail: row.finish_detail },
    modelId: row.model_id ?? undefined,
    usage: row.usage ?? undefined,
    assistant: row.assistant ?? undefined,
  };
}

/** The stored parts of a message; none when it does not exist. */
export async function readParts(db: Queryable, id: string): Promise<MessagePart[]> {
  const row = await db.selectFrom('messages').select('parts').where('id', '=', id).executeTakeFirst();
  return row === undefined ? [] : parseStoredParts(row.parts);
}

function searchVector(words: string) {
  if (words === '') return sql`null::tsvector`;
  return sql`to_tsvector('simple', ${words}) || array_to_tsvector(array[${sql.lit(ownerLexeme(''))} || c.owner_id])`;
}

/** Rebuilds the search text of a message, unless its parts have changed meanwhile. */
export async function indexMessage(trx: Queryable, id: string, parts: string): Promise<void> {
  await sql`
    update messages m set search = ${searchVector(searchableText(parts))} from chats c
    where m.id = ${id} and m.parts = ${parts} and c.id = m.chat_id`.execute(trx);
}

/** Searchable text of JSON text of MessagePart[]: the words of its text parts, in the order written. */
export function searchableText(parts: string): string {
  return wordsOf(parseStoredParts(parts));
}

/** The same of the parts themselves. */
export function wordsOf(parts: readonly MessagePart[]): string {
  let text = '';
  for (const part of parts) {
    if (part.type === 'text' && text.length < searchTextMax) text += `${part.text}\n`;
  }
  return indexedText(text);
}

/** Writes the parts of an answer that has ended, and removes its prompt, which is made from them. */
export async function replaceParts(
  trx: Queryable,
  { id, chatId, parts }: { id: string; chatId: string; parts: readonly MessagePart[] },
): Promise<void> {
  await sql`
    update messages set parts = ${JSON.stringify(parts)}, prompt = null, prompt_tokens = null,
      search = ${searchVector(wordsOf(parts))}
    from chats c where messages.id = ${id} and c.id = ${chatId} and messages.chat_id = c.id`.execute(trx);
}

/** A message as an import brings it; `parts` is JSON text of MessagePart[], `words` its `searchableText`. */
export type ImportedMessage = {
  /** Which conversation of the import, and which message of that one: the order of insertion. */
  n: number;
  place: number;
  id: string;
  chatId: string;
  parentId: string | null;
  role: 'user' | 'assistant';
  parts: string;
  words: string;
  createdAt: string | null;
  /** Complete if absent. */
  status?: Exclude<MessageStatus, 'streaming'>;
  error?: { code: string; message: string } | null;
  finishReason?: MessageFinishReason | null;
  finishDetail?: string | null;
  /** The model's id, or its name where it came from. */
  modelId?: string | null;
  usage?: unknown;
};

/**
 * Inserts the messages of new conversations, in one statement. Returns how many: an id in use leaves its message out.
 */
export async function importMessages(trx: Queryable, messages: readonly ImportedMessage[]): Promise<number> {
  const { numAffectedRows } = await sql`
    insert into messages (id, chat_id, parent_id, role, parts, status, error_code, error_message, finish_reason,
      finish_detail, model_id, usage, search, created_at)
    select x.id, c.id, x."parentId", x.role, x.parts, coalesce(x.status, 'complete'), x.error->>'code', x.error->>'message',
      x."finishReason", x."finishDetail", x."modelId", x.usage,
      case when x.words <> '' then to_tsvector('simple', x.words) || array_to_tsvector(array[${sql.lit(ownerLexeme(''))} || c.owner_id]) end,
      coalesce(x."createdAt", now())
    from json_to_recordset(${JSON.stringify(messages)}::json) as x
      (n int, place int, id text, "chatId" text, "parentId" text, role text, parts text, words text, "createdAt" timestamptz,
        status text, error jsonb, "finishReason" text, "finishDetail" text, "modelId" text, usage jsonb)
    join chats c on c.id = x."chatId" order by x.n, x.place
    on conflict (id) do nothing`.execute(trx);
  return Number(numAffectedRows ?? 0n);
}

/**
 * Deletes the messages that an import added to a conversation, unless something was said since; the branch that is
 * shown ends before them then. Returns whether it did.
 */
export async function deleteImportedMessages(
  trx: Queryable,
  ownerId: string,
  { chatId, first, last }: { chatId: string; first: number; last: number },
): Promise<boolean> {
  const { rows } = await sql<{ touched: boolean }>`
    select exists (select from messages m where m.chat_id = c.id and m.seq > ${last})
      or exists (select from inputs i where i.chat_id = c.id and i.state = 'queued') as touched
    from chats c where c.id = ${chatId} and c.owner_id = ${ownerId} for update`.execute(trx);
  if (rows[0]?.touched !== false) return false;
  await sql`delete from messages where chat_id = ${chatId} and seq between ${first} and ${last}`.execute(trx);
  return true;
}
