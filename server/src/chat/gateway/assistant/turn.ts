import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import type { NamedAssistant } from '../../../assistants/named-assistants.ts';
import { createChat, deleteOwnedChat, getOwnedChat, setActiveMessage } from '../../../conversations/chats.ts';
import { importMessages } from '../../../conversations/messages.ts';
import { inTransaction } from '../../../db/pool.ts';
import type { Platform } from '../../../platform.ts';
import { claimRegeneration } from '../../ledger/claims.ts';
import { requestStop } from '../../ledger/running-state.ts';
import type { CompletionSink } from '../../model/protocol.ts';
import type { RunningResponses } from '../../run/running-responses.ts';
import type { Ended } from '../front.ts';
import { type GatewayRequest, invalidMember } from '../gateway-request.ts';
import { conversationRuns, lockIdleChat, titleOf } from '../kept/conversation.ts';
import { followTurn } from './follow-turn.ts';
import { AnswerReader } from './frames.ts';
import { type AssistantRequest, rowsOf } from './history.ts';

/**
 * A turn of an assistant for a client: an ordinary turn of a conversation, with its tools, rules and knowledge. Calls
 * that need approval are refused, because a client has no way to give it.
 */

type Deps = Pick<Platform, 'db' | 'clock'> & { responses: RunningResponses };

export type AssistantPlace = {
  chatId: string;
  /** The turn creates it. */
  isNew: boolean;
  /** The message that the turn follows; undefined for the newest one. */
  parentId?: string;
  /** The conversation stays. Otherwise it is deleted with the end of the answer. */
  isKept: boolean;
};

/** The place of a turn in a conversation. Throws `not_found`, `conversation_archived` and `invalid_request`. */
export async function placeIn(
  deps: Deps,
  ownerId: string,
  assistant: NamedAssistant,
  place: { chatId: string; messageId?: string },
  { instructions }: AssistantRequest,
): Promise<AssistantPlace> {
  const chat = await getOwnedChat(deps.db.kysely, ownerId, place.chatId);
  if (chat.archived) throw new ApiError('conversation_archived', 'This conversation is archived');
  if (chat.running) throw conversationRuns();
  if (chat.assistantId !== assistant.id) throw invalidMember('model', 'The conversation has another assistant');
  if (instructions !== '' && instructions !== chat.instructions) {
    throw invalidMember('messages', 'The conversation has other instructions');
  }
  const { messageId } = place;
  return { chatId: chat.id, isNew: false, isKept: true, ...(messageId === undefined ? {} : { parentId: messageId }) };
}

export type AssistantTurn = {
  ownerId: string;
  assistant: NamedAssistant;
  place: AssistantPlace;
  request: AssistantRequest;
  parameters: GatewayRequest['parameters'];
};

/** Makes the answer, and passes it to the sink. Returns its end, and the id of its message. */
export async function runAssistantTurn(
  deps: Deps,
  turn: AssistantTurn,
  sink: CompletionSink,
  leaves: AbortSignal,
): Promise<Ended & { messageId: string }> {
  const { ownerId, place } = turn;
  const tooLong = AbortSignal.timeout(limits.programCallMinutes * 60_000);
  const signal = AbortSignal.any([leaves, tooLong]);
  const messageId = await storeQuestion(deps, turn);
  try {
    const responseId = await begin(deps, turn, messageId);
    const reader = new AnswerReader(sink);
    try {
      await followTurn(deps, responseId, (frame) => reader.read(frame), signal);
    } catch (error) {
      await stop(deps, place.chatId, responseId);
      throw error;
    }
    return { ...reader.end(), messageId: responseId };
  } finally {
    if (!place.isKept) {
      await deleteOwnedChat(deps, ownerId, place.chatId);
      deps.responses.notifyActivity(ownerId, place.chatId);
    }
  }
}

/** Stores the messages of the client, and creates their conversation if need be. Returns the id of the last one. */
async function storeQuestion(deps: Deps, { ownerId, assistant, place, request }: AssistantTurn): Promise<string> {
  const { chatId, isNew, parentId, isKept } = place;
  const turns = isNew ? request.turns : request.turns.slice(-1);
  if (isNew) {
    const { instructions } = request;
    await createChat(deps, ownerId, {
      id: chatId,
      assistantId: assistant.id,
      temporary: !isKept,
      ...(instructions === '' ? {} : { instructions }),
    });
  }
  return inTransaction(deps.db, async (trx) => {
    const newest = await lockIdleChat(trx, ownerId, chatId);
    const rows = rowsOf(chatId, parentId ?? newest, turns, isKept);
    const lastId = rows.at(-1)?.id ?? '';
    await importMessages(trx, rows);
    await setActiveMessage(trx, chatId, lastId, isNew ? titleOf(turns.at(-1)?.parts ?? []) : undefined);
    return lastId;
  });
}

/** Starts the answer. Throws what keeps it from beginning. */
async function begin(deps: Deps, { ownerId, place, parameters }: AssistantTurn, messageId: string): Promise<string> {
  if (deps.responses.draining) throw new ApiError('provider_unreachable', 'The server is restarting. Try again.');
  const run = await deps.responses.answers.during(ownerId, async (isFull) => {
    const decision = { isUnattended: true, parameters };
    const claim = { chatId: place.chatId, ownerId, messageId, decision, isFull };
    return deps.responses.adopt(await claimRegeneration(deps, claim, deps.responses.maker));
  });
  if (run === undefined) throw conversationRuns();
  const failure = await run.begun;
  if (failure !== undefined) throw failure;
  return run.response.id;
}

async function stop(deps: Deps, chatId: string, responseId: string): Promise<void> {
  await requestStop(deps, chatId, responseId);
  const run = deps.responses.find(responseId);
  deps.responses.stopLocally(responseId);
  await run?.done;
}
