import { randomUUIDv7 } from 'node:crypto';
import { ApiError } from '@homeport/contracts/errors';
import { type Selectable, sql } from 'kysely';
import {
  conversationNotFound,
  pinModel,
  setActiveMessage,
  showingMessage,
  type TurnContext,
} from '../../conversations/chats.ts';
import {
  fitting,
  insertAssistantMessage,
  insertingExchange,
  insertUserMessage,
  restartMessage,
} from '../../conversations/messages.ts';
import { parseStoredParts } from '../../conversations/stored-parts.ts';
import { bound, inTransaction, lastly, type Queryable, together } from '../../db/pool.ts';
import type { Decision, ResponsesTable } from '../../db/tables/tables.ts';
import type { Platform } from '../../platform.ts';
import { projectArchived } from '../../projects/projects.ts';
import { assertBudget } from '../../usage/budget-rule.ts';
import { instantTitle } from '../turn/title.ts';
import { isContinued } from './handover.ts';
import { applying, type InputRow, nextInput, overriddenBy, overrideDecision, readingQueue } from './inputs.ts';
import { assertIdle, assertNotArchived, type LockedChat, lockChat, lockingChat, lockingChatOf } from './locked-chat.ts';
import { answerTogether, takenWith } from './steering.ts';
import { storeMessage } from './stored-message.ts';

/**
 * How a response begins: from the next input in its conversation, by regenerating, or by resuming. Each is one
 * transaction that locks the chat row, so that a conversation has at most one running response (contract.md section 6).
 * Besides this file, running-state.ts, response-end.ts, frame-store.ts and pruning.ts write the table `responses`.
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

function tooMany(): ApiError {
  const message = 'Too many answers of this account are being written. Try again when one is done.';
  return new ApiError('rate_limited', message, { retryAfter: 5 });
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

/** The running response of a conversation, if any. */
async function findRunning(db: Queryable, chatId: string): Promise<ResponseRow | undefined> {
  return db
    .selectFrom('responses')
    .selectAll()
    .where('chat_id', '=', chatId)
    .where('state', '=', 'running')
    .executeTakeFirst();
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

/** When a lease taken now expires, by the database's clock. */
function leaseUntil(maker: Maker) {
  return sql<Date>`now() + ${maker.leaseMs} * interval '1 millisecond'`;
}

async function outcomeOfApplied(trx: Queryable, input: InputRow): Promise<ClaimOutcome> {
  const assistantId = input.answered_by ?? input.assistant_id;
  const found = trx.selectFrom('responses').selectAll().where('id', '=', assistantId);
  const response = await found.where((eb) => eb.or([eb('state', '=', 'running'), isContinued])).executeTakeFirst();
  // A complete response is removed after some days; its message stays.
  return response === undefined ? { kind: 'ended', assistantId } : { kind: 'running', response };
}

/**
 * Turns input and response into messages in one statement, built from each table's own file, and commits with it if
 * nothing is left to do: a person is waiting for the first token. The transaction's last work. Inputs that are
 * delivered together become adjacent messages with one answer.
 */
async function applyInput(
  trx: Queryable,
  chat: LockedChat,
  first: InputRow,
  override: Decision,
  maker: Maker,
): Promise<ResponseRow> {
  const { parent_given: isGiven, taken_by: takenBy, assistant_id: assistantId } = first;
  const branchId = isGiven && takenBy === null ? first.parent_id : chat.active_message_id;
  const { input, parentId, admitted } = await applyNeighbours(trx, chat, first, branchId);
  const parts = parseStoredParts(input.parts);
  const user = { id: input.id, chatId: chat.id, parentId, ...(await storeMessage('user', parts)) };
  const decision = overriddenBy(override, admitted);
  const title = chat.title_source === 'none' ? instantTitle(parts) : undefined;
  const statement = sql<ResponseRow>`
    with applied as (${applying(input.id, fitting(user))}),
    exchange as (${insertingExchange(user, assistantId, sql`exists (select from applied)`)}),
    shown as (${showingMessage(chat.id, assistantId, title, sql`exists (select from exchange)`)})
    insert into responses (id, chat_id, message_id, owner_id, state, replica, lease_until, decision)
    select ${assistantId}, ${chat.id}, ${input.id}, ${chat.owner_id}, 'running', ${maker.replica},
      ${leaseUntil(maker)}, ${JSON.stringify(decision)}::jsonb
    from applied where exists (select from exchange)
    returning *`;
  const pin = newPin(chat, decision);
  const [response] = pin === undefined ? await lastly(trx, bound(trx, statement)) : (await statement.execute(trx)).rows;
  // No row: the input was canceled concurrently, and nothing was written.
  if (response === undefined) throw cancelled();
  if (pin !== undefined) await pinModel(trx, chat.id, pin.modelId);
  return response;
}

/** Applies all inputs delivered with `first` except the last; usually `first` is the only one. */
async function applyNeighbours(trx: Queryable, chat: LockedChat, first: InputRow, branchId: string | null) {
  const together = [first, ...(await takenWith(trx, first))];
  const input = together.at(-1) ?? first;
  const others = together.slice(0, -1);
  let parentId = branchId;
  for (const { id, parts } of others) {
    const stored = await storeMessage('user', parseStoredParts(parts));
    await insertUserMessage(trx, { id, chatId: chat.id, parentId, ...stored });
    parentId = id;
  }
  if (others.length > 0) await answerTogether(trx, together);
  return {
    input,
    parentId,
    admitted: together.map(({ decision }) => decision).reduce((all, one) => overriddenBy(one, all)),
  };
}

function claimed(chat: LockedChat, response: ResponseRow, maker: Maker): Claimed {
  const { context_start_message_id: contextStartMessageId, model_pinned: modelPinned, model_id: modelId } = chat;
  const { mcp_server_ids: mcpServerIds, auto_compaction: autoCompaction, assistant_id: assistantId } = chat;
  const { web } = chat;
  const context = { contextStartMessageId, modelPinned, modelId, mcpServerIds, web, autoCompaction, assistantId };
  return { kind: 'claimed', response, context, leasedAt: maker.requestedAt };
}

async function insertResponse(
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

async function applyPin(trx: Queryable, chat: LockedChat, decision: Decision): Promise<void> {
  const pin = newPin(chat, decision);
  if (pin !== undefined) await pinModel(trx, chat.id, pin.modelId);
}

/** How the decision changes the pinned model; undefined: not at all. */
function newPin(chat: LockedChat, decision: Decision): { modelId: string | null } | undefined {
  if (decision.modelPinned === undefined) return undefined;
  const modelId = decision.modelPinned ? (decision.modelId ?? null) : null;
  return chat.model_pinned === decision.modelPinned && chat.model_id === modelId ? undefined : { modelId };
}

function cancelled(): ApiError {
  return new ApiError('input_conflict', 'This input was cancelled');
}
