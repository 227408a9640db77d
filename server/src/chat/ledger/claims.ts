import { randomUUIDv7 } from 'node:crypto';
import { ApiError } from '@homeport/contracts/errors';
import { conversationNotFound, setActiveMessage } from '../../conversations/chats.ts';
import { insertAssistantMessage } from '../../conversations/messages.ts';
import { inTransaction, type Queryable, together } from '../../db/pool.ts';
import type { Platform } from '../../platform.ts';
import { projectArchived } from '../../projects/projects.ts';
import { assertBudget } from '../../usage/budget-rule.ts';
import { applyInput } from './apply-input.ts';
import { isContinued } from './handover.ts';
import { type InputRow, nextInput, overrideDecision, readingQueue } from './inputs.ts';
import { assertIdle, lockChat, lockingChat, lockingChatOf } from './locked-chat.ts';
import {
  applyPin,
  type Claim,
  type Claimed,
  type ClaimOutcome,
  cancelled,
  claimed,
  findRunning,
  insertResponse,
  type Maker,
  tooMany,
} from './response-start.ts';

/**
 * A response begins from the next input in its conversation, by regenerating, or by resuming (resumptions.ts). Each is one
 * transaction that locks the chat row, so that a conversation has at most one running response (contract.md section 6).
 */

/** Claims the input, or returns its outcome. `decision` overrides the admitted one until the response begins. */
export async function claimInput(
  deps: Pick<Platform, 'db'>,
  request: Claim & { messageId: string },
  maker: Maker,
): Promise<ClaimOutcome> {
  return inTransaction(deps.db, async (trx) => {
    const locking = lockingChatOf(trx, request.chatId, request.ownerId);
    const [[chat], [input]] = await together(trx, [locking, readingQueue(trx, request.chatId, request.messageId)]);
    if (chat === undefined) throw conversationNotFound();
    if (input === undefined) throw new ApiError('not_found', 'Message not found');
    if (input.state === 'cancelled') throw cancelled();
    if (input.state === 'applied') return outcomeOfApplied(trx, input);
    if (input.is_running || input.next_id !== input.id || request.isFull) {
      await overrideDecision(trx, input, request.decision);
      return { kind: 'waiting', assistantId: input.assistant_id };
    }
    if (chat.project_archived) throw projectArchived();
    return claimed(chat, await applyInput(trx, chat, input, request.decision, maker), maker);
  });
}

/** An input's outcome, without claiming it: a stopping replica leaves that to others. */
export async function findOutcome(
  deps: Pick<Platform, 'db'>,
  request: { chatId: string; ownerId: string; messageId: string },
): Promise<ClaimOutcome> {
  const input = await deps.db.kysely
    .selectFrom('inputs')
    .selectAll()
    .where('id', '=', request.messageId)
    .where('chat_id', '=', request.chatId)
    .where('owner_id', '=', request.ownerId)
    .executeTakeFirst();
  if (input === undefined) throw new ApiError('not_found', 'Message not found');
  if (input.state === 'cancelled') throw cancelled();
  if (input.state === 'applied') return outcomeOfApplied(deps.db.kysely, input);
  return { kind: 'waiting', assistantId: input.assistant_id };
}

/**
 * Claims the next due input of the conversation, unless its owner's account is disabled. Called when a response has
 * ended, and by the dispatcher.
 */
export async function claimNext(deps: Pick<Platform, 'db'>, chatId: string, maker: Maker): Promise<ClaimOutcome> {
  return inTransaction(deps.db, async (trx) => {
    const chat = await lockingChat(trx, chatId)
      .where('owner_id', 'in', trx.selectFrom('users').select('id').where('enabled', '=', true))
      .executeTakeFirst();
    // In an archived project inputs wait until it is restored.
    if (chat === undefined || chat.project_archived) return { kind: 'nothing' };
    if ((await findRunning(trx, chat.id)) !== undefined) return { kind: 'nothing' };
    const next = await nextInput(trx, chat.id);
    if (next === undefined || !next.due) return { kind: 'nothing' };
    return claimed(chat, await applyInput(trx, chat, next, {}, maker), maker);
  });
}

/**
 * Answers an earlier input again, as a sibling of the earlier answers. If the same regeneration is already running,
 * joins it.
 */
export async function claimRegeneration(
  deps: Pick<Platform, 'db'>,
  request: Claim & { messageId: string },
  maker: Maker,
): Promise<ClaimOutcome> {
  return inTransaction(deps.db, async (trx) => {
    const chat = await lockChat(trx, request.chatId, request.ownerId);
    const message = await trx
      .selectFrom('messages')
      .select(['id'])
      .where('id', '=', request.messageId)
      .where('chat_id', '=', chat.id)
      .where('role', '=', 'user')
      .executeTakeFirst();
    if (message === undefined) throw new ApiError('not_found', 'Message not found');
    const running = await findRunning(trx, chat.id);
    if (running?.kind === 'answer' && running.message_id === message.id) return { kind: 'running', response: running };
    assertIdle(chat, running);
    if (request.isFull) throw tooMany();
    assertBudget(chat.budget_resets_at);
    const begin = { id: randomUUIDv7(), messageId: message.id, decision: request.decision, kind: 'answer' } as const;
    await insertAssistantMessage(trx, { id: begin.id, chatId: chat.id, parentId: message.id });
    await setActiveMessage(trx, chat.id, begin.id);
    await applyPin(trx, chat, begin.decision);
    return claimed(chat, await insertResponse(trx, chat, begin, maker), maker);
  });
}

/** Begins a summary that a person asked for; it blocks the conversation like an answer. */
export async function claimCompaction(
  deps: Pick<Platform, 'db'>,
  request: Omit<Claim, 'decision'> & { focus: string | undefined },
  maker: Maker,
): Promise<Claimed> {
  return inTransaction(deps.db, async (trx) => {
    const chat = await lockChat(trx, request.chatId, request.ownerId);
    assertIdle(chat, await findRunning(trx, chat.id));
    if (request.isFull) throw tooMany();
    assertBudget(chat.budget_resets_at);
    const decision = request.focus === undefined ? {} : { focus: request.focus };
    const messageId = chat.active_message_id ?? '';
    const begin = { id: randomUUIDv7(), messageId, decision, kind: 'compaction' } as const;
    return claimed(chat, await insertResponse(trx, chat, begin, maker), maker);
  });
}

/** True if the request only joins: its input was already applied, or the response it wants is running. */
export async function hasBegun(
  db: Queryable,
  ownerId: string,
  request: { chatId: string; messageId?: string; regenerate?: boolean },
): Promise<boolean> {
  const { chatId, messageId } = request;
  if (messageId !== undefined && request.regenerate !== true) {
    const input = db.selectFrom('inputs').select('id').where('id', '=', messageId).where('chat_id', '=', chatId);
    return (
      (await input.where('owner_id', '=', ownerId).where('state', '=', 'applied').executeTakeFirst()) !== undefined
    );
  }
  const running = await findRunning(db, chatId);
  if (running?.owner_id !== ownerId || running.kind !== 'answer') return false;
  return messageId === undefined || running.message_id === messageId;
}

async function outcomeOfApplied(trx: Queryable, input: InputRow): Promise<ClaimOutcome> {
  const assistantId = input.answered_by ?? input.assistant_id;
  const found = trx.selectFrom('responses').selectAll().where('id', '=', assistantId);
  const response = await found.where((eb) => eb.or([eb('state', '=', 'running'), isContinued])).executeTakeFirst();
  // A complete response is removed after some days; its message stays.
  return response === undefined ? { kind: 'ended', assistantId } : { kind: 'running', response };
}
