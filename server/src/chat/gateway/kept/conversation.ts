import { randomUUIDv7 } from 'node:crypto';
import type { FilePart, MessagePart } from '@homeport/contracts/chat/frames';
import { ApiError } from '@homeport/contracts/errors';
import { sql } from 'kysely';
import { readBranchNewestFirst } from '../../../conversations/branches.ts';
import { runningColumn } from '../../../conversations/chat-view.ts';
import { createChat, getOwnedChat, setActiveMessage } from '../../../conversations/chats.ts';
import { importMessages, replaceParts, wordsOf } from '../../../conversations/messages.ts';
import { parseStoredParts } from '../../../conversations/stored-parts.ts';
import { inTransaction, type Queryable } from '../../../db/pool.ts';
import type { ChatMessage, ContentPart } from '../../model/provider-messages.ts';
import { argumentsObject } from '../../model/request-parts.ts';
import type { TurnDeps } from '../../run/model-call.ts';
import { parsePrompts, promptOf } from '../../turn/prompt.ts';
import type { Ended } from '../front.ts';
import { type GatewayMessage, invalidMember } from '../gateway-request.ts';
import { insertStoredResponse } from './stored-responses.ts';

/** Turns of clients that are kept in a conversation of the person. */

type Leaf = { id: string; role: 'user' | 'assistant'; parts: MessagePart[] };

/** A turn that will be kept: its conversation, which is created with it if it is new, and the person's new message. */
export type KeptTurn = {
  chatId: string;
  isNew: boolean;
  leaf: Leaf | undefined;
  /** Parts of the person's message; empty if the turn brings only results of tools. */
  userParts: MessagePart[];
  /** The messages for the model. */
  messages: GatewayMessage[];
};

const pageSize = 100;

/**
 * Reads the conversation, which is the history of the turn, and adds the request's messages after the last one of the
 * assistant. Throws `not_found`, `conversation_archived`, `response_running` and `invalid_request`.
 */
export async function beginKeptTurn(
  deps: TurnDeps,
  ownerId: string,
  place: { chatId: string; messageId?: string } | undefined,
  given: readonly GatewayMessage[],
): Promise<KeptTurn> {
  const added = given.slice(given.findLastIndex(({ role }) => role === 'assistant') + 1);
  const userParts = added.flatMap((message) => (message.role === 'user' ? partsOf(message.content) : []));
  const results = added.flatMap((message) => (message.role === 'tool' ? [message] : []));
  if (userParts.length === 0 && results.length === 0) {
    throw invalidMember('messages', 'A kept turn needs a message after the last answer');
  }
  if (place === undefined) {
    if (userParts.length === 0) throw invalidMember('messages', 'A new conversation needs a message of its user');
    return { chatId: randomUUIDv7(), isNew: true, leaf: undefined, userParts, messages: [...given] };
  }
  const chat = await getOwnedChat(deps.db.kysely, ownerId, place.chatId);
  if (chat.archived) throw new ApiError('conversation_archived', 'This conversation is archived');
  if (chat.running) throw conversationRuns();
  const branch = await readBranch(deps, chat.id, place.messageId, chat.contextStartMessageId);
  const leaf = withResults(branch.leaf, results);
  const system = given.filter(({ role }) => role === 'system');
  const last = leaf === undefined ? [] : parsePrompts([promptOf(leaf.role, leaf.parts).prompt]);
  const users = added.filter(({ role }) => role === 'user');
  return {
    chatId: chat.id,
    isNew: false,
    leaf,
    userParts,
    messages: [...system, ...[...branch.history, ...last].map(withoutFiles), ...users],
  };
}

export function conversationRuns(): ApiError {
  return new ApiError('response_running', 'An answer is running in this conversation. Wait for its end.');
}

async function readBranch(
  deps: TurnDeps,
  chatId: string,
  messageId: string | undefined,
  stopBeforeId: string | null,
): Promise<{ leaf: Leaf | undefined; history: ChatMessage[] }> {
  const { rows } = await sql<{ id: string; role: Leaf['role']; parts: string }>`
    select m.id, m.role, m.parts from chats c
    join messages m on m.chat_id = c.id and m.id = coalesce(${messageId ?? null}, c.active_message_id)
    where c.id = ${chatId}`.execute(deps.db.kysely);
  const [row] = rows;
  if (row === undefined) return { leaf: undefined, history: [] };
  const prompts: string[] = [];
  for await (const each of readBranchNewestFirst(deps.db, { chatId, leafId: row.id, stopBeforeId, pageSize })) {
    const { start } = each;
    if (each.id !== row.id) {
      prompts.push(each.prompt ?? promptOf(each.role, parseStoredParts(each.parts ?? '[]')).prompt);
    }
    if (start?.summary != null) prompts.push(JSON.stringify({ role: 'system', content: start.summary.text }));
  }
  return { leaf: { ...row, parts: parseStoredParts(row.parts) }, history: parsePrompts(prompts.toReversed()) };
}

/** The answer with the results of its open calls. Throws `invalid_request` for a result without its call. */
function withResults(
  leaf: Leaf | undefined,
  results: readonly Extract<GatewayMessage, { role: 'tool' }>[],
): Leaf | undefined {
  const open = new Map(results.map(({ tool_call_id: id, content }) => [id, content]));
  const parts = leaf?.parts.map((part): MessagePart => {
    if (part.type !== 'dynamic-tool') return part;
    const output = open.get(part.toolCallId);
    if (output === undefined || part.state !== 'input-available') return part;
    open.delete(part.toolCallId);
    return { ...part, state: 'output-available', output };
  });
  if (open.size > 0) throw invalidMember('messages', 'A result needs an open call in the last answer');
  return leaf === undefined || parts === undefined ? undefined : { ...leaf, parts };
}

/** Files of a conversation stay there. */
function withoutFiles(message: ChatMessage): ChatMessage {
  if (message.role !== 'user' || typeof message.content === 'string') return message;
  const content = message.content.map(
    (part): ContentPart =>
      part.type === 'image_url' && /^artifact:/i.test(part.image_url.url)
        ? { type: 'text', text: '[A file of the conversation is not included]' }
        : part,
  );
  return { role: 'user', content };
}

export function partsOf(content: string | ContentPart[]): MessagePart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return content.map((part): MessagePart => {
    if (part.type === 'text') return { type: 'text', text: part.text };
    if (part.type === 'file') return filePart(part.file.file_data, part.file.filename);
    return filePart(part.image_url.url, 'picture');
  });
}

function filePart(url: string, filename: string): FilePart {
  return { type: 'file', mediaType: /^data:([^;,]+)/.exec(url)?.[1] ?? 'image/png', filename, url };
}

/** Text and reasoning of an answer. */
export type Written = { text: string; reasoning: string };

function answerParts({ text, reasoning }: Written, { toolCalls }: Pick<Ended, 'toolCalls'>): MessagePart[] {
  return [
    { type: 'step-start' },
    ...(reasoning === '' ? [] : [{ type: 'reasoning' as const, text: reasoning, state: 'done' as const }]),
    ...(text === '' ? [] : [{ type: 'text' as const, text, state: 'done' as const }]),
    ...toolCalls.map(
      ({ id, name, arguments: json }): MessagePart => ({
        type: 'dynamic-tool',
        toolCallId: id,
        toolName: name,
        state: 'input-available',
        input: argumentsObject(json),
      }),
    ),
  ];
}

export type FinishedTurn = { written: Written; ended: Ended; modelId: string; response?: Record<string, unknown> };

/** Stores a turn that has ended. */
export async function commitKeptTurn(
  deps: TurnDeps,
  ownerId: string,
  turn: KeptTurn,
  { written, ended, modelId, response }: FinishedTurn,
): Promise<void> {
  const parts = answerParts(written, ended);
  const { chatId } = turn;
  if (turn.isNew) await createChat(deps, ownerId, { id: chatId });
  await inTransaction(deps.db, async (trx) => {
    await lockIdleChat(trx, ownerId, chatId);
    const continued = turn.userParts.length === 0 ? turn.leaf : undefined;
    if (turn.leaf !== undefined) {
      const all = continued === undefined ? turn.leaf.parts : [...turn.leaf.parts, ...parts];
      const { id, role } = turn.leaf;
      if (role === 'assistant') await replaceParts(trx, { id, chatId, parts: all });
    }
    const userId = randomUUIDv7();
    const messageId = continued?.id ?? randomUUIDv7();
    const shared = { n: 0, chatId, createdAt: null };
    if (continued === undefined) {
      const parentId = turn.leaf?.id ?? null;
      const user = { id: userId, place: 0, parentId, role: 'user' as const, ...stored(turn.userParts) };
      const answer = { id: messageId, place: 1, parentId: userId, role: 'assistant' as const, ...stored(parts) };
      await importMessages(trx, [
        { ...shared, ...user },
        { ...shared, ...answer, modelId, usage: ended.usage },
      ]);
    }
    const title = turn.isNew ? titleOf(turn.userParts) : undefined;
    await setActiveMessage(trx, chatId, messageId, title);
    if (response !== undefined) await insertStoredResponse(trx, ownerId, { chatId, messageId }, response);
  });
}

function stored(parts: MessagePart[]): { parts: string; words: string } {
  return { parts: JSON.stringify(parts), words: wordsOf(parts) };
}

export function titleOf(parts: readonly MessagePart[]): string {
  const text = parts.find((part) => part.type === 'text')?.text ?? '';
  return text.trim().split('\n', 1)[0]?.slice(0, 80).toWellFormed() ?? '';
}

/** Locks a conversation in which nothing runs. Returns the id of its newest message. */
export async function lockIdleChat(trx: Queryable, ownerId: string, chatId: string): Promise<string | null> {
  const { rows } = await sql<{ running: boolean; leafId: string | null }>`
    select ${sql.raw(runningColumn)} as running, c.active_message_id as "leafId" from chats c
    where c.id = ${chatId} and c.owner_id = ${ownerId} for update of c`.execute(trx);
  const [chat] = rows;
  if (chat === undefined) throw new ApiError('not_found', 'Conversation not found');
  if (chat.running) throw conversationRuns();
  return chat.leafId;
}
