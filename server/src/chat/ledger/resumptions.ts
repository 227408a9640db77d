import { ApiError } from '@homeport/contracts/errors';
import { restartMessage } from '../../conversations/messages.ts';
import { inTransaction, type Queryable } from '../../db/pool.ts';
import type { Decision } from '../../db/tables/chat.ts';
import type { Platform } from '../../platform.ts';
import { assertBudget } from '../../usage/budget-rule.ts';
import { isContinued } from './handover.ts';
import { overriddenBy } from './inputs.ts';
import { assertNotArchived, type LockedChat, lockChat, lockingChat } from './locked-chat.ts';
import {
  applyPin,
  type Claim,
  type Claimed,
  type ClaimOutcome,
  claimed,
  findRunning,
  insertResponse,
  leaseUntil,
  type Maker,
  type ResponseRow,
  tooMany,
} from './response-start.ts';

/**
 * Joins the running response, or continues the last one of the active branch if it was cut off, also by the output
 * limit.
 */
export async function claimResumption(deps: Pick<Platform, 'db'>, request: Claim, maker: Maker): Promise<ClaimOutcome> {
  return inTransaction(deps.db, async (trx) => {
    const chat = await lockChat(trx, request.chatId, request.ownerId);
    const running = await findRunning(trx, chat.id);
    if (running !== undefined) return { kind: 'running', response: running };
    assertNotArchived(chat);
    const last = await trx
      .selectFrom('responses')
      .selectAll()
      .where('id', '=', chat.active_message_id ?? '')
      .where('chat_id', '=', chat.id)
      .where('state', 'in', ['interrupted', 'stopped', 'failed'])
      .executeTakeFirst();
    const cut = last === undefined ? await findCutAnswer(trx, chat) : undefined;
    if (request.isFull) throw tooMany();
    assertBudget(chat.budget_resets_at);
    await applyPin(trx, chat, request.decision);
    if (cut !== undefined) return { ...(await claimCut(trx, chat, cut, request, maker)), extendsText: true };
    if (last === undefined) return { kind: 'nothing' };
    return claimed(chat, await restart(trx, last, overriddenBy(request.decision, last.decision), maker), maker);
  });
}

type CutAnswer = { id: string; parentId: string; response: ResponseRow | undefined };

/** Begins the continuation of an answer that was cut; its response is made again if it is no longer kept. */
async function claimCut(
  trx: Queryable,
  chat: LockedChat,
  { id, parentId, response }: CutAnswer,
  { decision }: Claim,
  maker: Maker,
): Promise<Claimed> {
  if (response !== undefined) {
    return claimed(chat, await restart(trx, response, overriddenBy(decision, response.decision), maker), maker);
  }
  await restartMessage(trx, id);
  const begin = { id, messageId: parentId, kind: 'answer', decision, generation: 2 } as const;
  return claimed(chat, await insertResponse(trx, chat, begin, maker), maker);
}

/**
 * The last answer of the active branch, which must have been cut at the output limit. A complete response is removed
 * after some days, and an imported answer has none. Throws `not_found` without an answer, `input_conflict` if it was not
 * cut.
 */
async function findCutAnswer(trx: Queryable, chat: LockedChat): Promise<CutAnswer> {
  const message = await trx
    .selectFrom('messages')
    .select(['id', 'parent_id', 'role', 'status', 'finish_reason'])
    .where('id', '=', chat.active_message_id ?? '')
    .where('chat_id', '=', chat.id)
    .executeTakeFirst();
  if (message?.role !== 'assistant' || message.parent_id === null) {
    throw new ApiError('not_found', 'There is no answer to continue');
  }
  if (message.status !== 'complete' || message.finish_reason !== 'length') {
    throw new ApiError('input_conflict', 'The last answer was not cut off, so there is nothing to continue');
  }
  const found = trx.selectFrom('responses').selectAll().where('id', '=', message.id).forUpdate();
  return { id: message.id, parentId: message.parent_id, response: await found.executeTakeFirst() };
}

/**
 * Continues the last response of the conversation if a stopping replica handed it over, or if it was interrupted while
 * waiting for approval and now has its answer.
 */
export async function claimAnswered(deps: Pick<Platform, 'db'>, chatId: string, maker: Maker): Promise<ClaimOutcome> {
  return inTransaction(deps.db, async (trx) => {
    const chat = await lockingChat(trx, chatId)
      .where('archived', '=', false)
      .where('owner_id', 'in', trx.selectFrom('users').select('id').where('enabled', '=', true))
      .executeTakeFirst();
    if (chat === undefined || (await findRunning(trx, chat.id)) !== undefined) return { kind: 'nothing' };
    const last = await trx
      .selectFrom('responses')
      .selectAll()
      .where('id', '=', chat.active_message_id ?? '')
      .where('chat_id', '=', chat.id)
      .where('state', '=', 'interrupted')
      .where((eb) => eb.or([isContinued, eb('id', 'in', answeredResponses(trx))]))
      .executeTakeFirst();
    if (last === undefined) return { kind: 'nothing' };
    return claimed(chat, await restart(trx, last, last.decision, maker), maker);
  });
}

function answeredResponses(trx: Queryable) {
  return trx
    .selectFrom('tool_approvals')
    .select('response_id')
    .where('answered_at', 'is not', null)
    .where('live', '=', false)
    .where('settled_at', 'is', null);
}

async function restart(trx: Queryable, last: ResponseRow, decision: Decision, maker: Maker): Promise<ResponseRow> {
  await restartMessage(trx, last.id);
  return trx
    .updateTable('responses')
    .set({
      state: 'running',
      replica: maker.replica,
      generation: last.generation + 1,
      first_seq: last.last_seq,
      lease_until: leaseUntil(maker),
      stop_requested: false,
      handed_over: false,
      end_frames: null,
      ended_at: null,
      decision: JSON.stringify(decision),
    })
    .where('id', '=', last.id)
    .returningAll()
    .executeTakeFirstOrThrow();
}
