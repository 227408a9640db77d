import { ApiError } from '@homeport/contracts/errors';
import { type Selectable, sql } from 'kysely';
import { pinModel, type TurnContext } from '../../conversations/chats.ts';
import type { Queryable } from '../../db/pool.ts';
import type { Decision, ResponsesTable } from '../../db/tables/chat.ts';
import type { LockedChat } from './locked-chat.ts';

/**
 * The row of a response that begins. Besides this file, apply-input.ts, resumptions.ts, running-state.ts, response-end.ts,
 * frame-store.ts and pruning.ts write the table `responses`.
 */

export type ResponseRow = Selectable<ResponsesTable>;

/**
 * The replica that makes the response, and how long its lease lasts without a heartbeat; `requestedAt`: when it was
 * requested, by `performance.now`.
 */
export type Maker = { replica: string; leaseMs: number; requestedAt: number };

/**
 * Claim of a request in a conversation. With `isFull`, the owner has reached the limit of running answers on this
 * replica: the request only joins a running response, an input stays in the queue, and anything else throws
 * `rate_limited`.
 */
export type Claim = { chatId: string; ownerId: string; decision: Decision; isFull: boolean };

/** A response that has just begun, with what its turn needs from the locked conversation. */
export type Claimed = {
  kind: 'claimed';
  response: ResponseRow;
  context: TurnContext;
  leasedAt: number;
  /** True if the text at the end of the answer is continued in its own part. */
  extendsText?: true;
};

export type ClaimOutcome =
  | Claimed
  | { kind: 'running'; response: ResponseRow }
  | { kind: 'ended'; assistantId: string }
  | { kind: 'waiting'; assistantId: string }
  | { kind: 'nothing' };

export async function insertResponse(
  trx: Queryable,
  chat: LockedChat,
  begin: Pick<ResponseRow, 'id' | 'kind' | 'decision'> & { messageId: string; generation?: number },
  maker: Maker,
): Promise<ResponseRow> {
  return trx
    .insertInto('responses')
    .values({
      id: begin.id,
      chat_id: chat.id,
      message_id: begin.messageId,
      kind: begin.kind,
      owner_id: chat.owner_id,
      state: 'running',
      replica: maker.replica,
      lease_until: leaseUntil(maker),
      decision: JSON.stringify(begin.decision),
      ...(begin.generation === undefined ? {} : { generation: begin.generation }),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export function claimed(chat: LockedChat, response: ResponseRow, maker: Maker): Claimed {
  const { context_start_message_id: contextStartMessageId, model_pinned: modelPinned, model_id: modelId } = chat;
  const { mcp_server_ids: mcpServerIds, auto_compaction: autoCompaction, assistant_id: assistantId } = chat;
  const { web } = chat;
  const context = { contextStartMessageId, modelPinned, modelId, mcpServerIds, web, autoCompaction, assistantId };
  return { kind: 'claimed', response, context, leasedAt: maker.requestedAt };
}

/** The running response of a conversation, if any. */
export async function findRunning(db: Queryable, chatId: string): Promise<ResponseRow | undefined> {
  return db
    .selectFrom('responses')
    .selectAll()
    .where('chat_id', '=', chatId)
    .where('state', '=', 'running')
    .executeTakeFirst();
}

/** When a lease taken now expires, by the database's clock. */
export function leaseUntil(maker: Maker) {
  return sql<Date>`now() + ${maker.leaseMs} * interval '1 millisecond'`;
}

export async function applyPin(trx: Queryable, chat: LockedChat, decision: Decision): Promise<void> {
  const pin = newPin(chat, decision);
  if (pin !== undefined) await pinModel(trx, chat.id, pin.modelId);
}

/** How the decision changes the pinned model; undefined: not at all. */
export function newPin(chat: LockedChat, decision: Decision): { modelId: string | null } | undefined {
  if (decision.modelPinned === undefined) return undefined;
  const modelId = decision.modelPinned ? (decision.modelId ?? null) : null;
  return chat.model_pinned === decision.modelPinned && chat.model_id === modelId ? undefined : { modelId };
}

export function tooMany(): ApiError {
  const message = 'Too many answers of this account are being written. Try again when one is done.';
  return new ApiError('rate_limited', message, { retryAfter: 5 });
}

export function cancelled(): ApiError {
  return new ApiError('input_conflict', 'This input was cancelled');
}
