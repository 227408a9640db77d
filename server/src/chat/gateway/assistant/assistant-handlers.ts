import { randomUUIDv7 } from 'node:crypto';
import type { NamedAssistant } from '../../../assistants/named-assistants.ts';
import type { Deps } from '../../../deps.ts';
import type { Actor, RequestFacts } from '../../../http/handler.ts';
import { estimateMessages } from '../../turn/token-estimate.ts';
import type { Answering } from '../answer-handlers.ts';
import type { PreparableCall } from '../front.ts';
import type { GatewayRequest } from '../gateway-request.ts';
import { insertStoredResponse } from '../kept/stored-responses.ts';
import { assertMayWrite, conversationHeader, type Keeping, placeOf } from '../kept-handlers.ts';
import { fetchPictures } from '../pictures.ts';
import { assertForAssistant, toAssistantRequest } from './history.ts';
import { type AssistantPlace, placeIn, runAssistantTurn } from './turn.ts';

export type BegunCall = { call: PreparableCall; keep: Answering['keep'] };

/**
 * A call of an assistant. Its tools act for the person, so that the token needs `chats:write`. Throws
 * `insufficient_scope`, `not_found`, `conversation_archived`, `response_running` and `invalid_request`.
 */
export async function beginAssistantCall(
  deps: Deps,
  { actor, request: facts }: { actor: Actor; request: RequestFacts },
  assistant: NamedAssistant,
  asked: GatewayRequest,
  { isStored = false, previousId }: Keeping,
): Promise<BegunCall> {
  assertMayWrite(actor);
  assertForAssistant(asked);
  const ownerId = actor.id;
  const request = toAssistantRequest(asked.messages);
  const named = facts.headers.get(conversationHeader);
  const isKept = named !== null || isStored || previousId !== undefined;
  const found = await placeOf(deps, ownerId, named, previousId);
  const place: AssistantPlace =
    found === undefined
      ? { chatId: randomUUIDv7(), isNew: true, isKept }
      : await placeIn(deps, ownerId, assistant, found, request);
  if (isKept) facts.outgoing.setHeader(conversationHeader, place.chatId);
  let messageId: string | undefined;
  return {
    call: {
      messages: asked.messages,
      async prepare(signal) {
        const messages = await fetchPictures(deps.egress, asked.messages, signal);
        const turn = {
          ownerId,
          assistant,
          place,
          request: toAssistantRequest(messages),
          parameters: parametersOf(asked),
        };
        return {
          inputTokens: estimateMessages(asked.messages),
          async ask(sink, leaves) {
            const { messageId: answerId, ...ended } = await runAssistantTurn(deps, turn, sink, leaves);
            messageId = answerId;
            return ended;
          },
        };
      },
    },
    keep: async ({ whole }) => {
      if (!isStored || messageId === undefined) return;
      await insertStoredResponse(deps.db.kysely, ownerId, { chatId: place.chatId, messageId }, whole);
    },
  };
}

function parametersOf({ parameters, maxOutputTokens }: GatewayRequest): GatewayRequest['parameters'] {
  return maxOutputTokens === undefined ? parameters : { ...parameters, maxOutputTokens };
}
