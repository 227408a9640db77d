import { grantsScope } from '@homeport/contracts/accounts/token-scopes';
import type { endpoints } from '@homeport/contracts/endpoints';
import { ApiError } from '@homeport/contracts/errors';
import type { ResolvedModel } from '../../catalogue/model-choice.ts';
import type { Deps } from '../../deps.ts';
import type { Actor, Handler, RequestFacts } from '../../http/handler.ts';
import type { Answering } from './answer-handlers.ts';
import type { GatewayRequest } from './gateway-request.ts';
import { invalidMember } from './gateway-request.ts';
import { beginKeptTurn, commitKeptTurn } from './kept/conversation.ts';
import { deleteStoredResponse, getStoredResponse } from './kept/stored-responses.ts';

type Endpoints = typeof endpoints;

export const conversationHeader = 'x-homeport-conversation';
const chatIdPattern = /^[A-Za-z0-9_-]{1,128}$/;

/** Members of a request that ask to keep its turn. */
export type Keeping = { isStored?: boolean; previousId?: string | undefined };

type Kept = { request: GatewayRequest; keep?: Answering['keep'] };

/**
 * The request with the history of its conversation, and a function that stores the turn; the request unchanged if nothing
 * is to be kept. Throws `insufficient_scope`, `not_found`, `conversation_archived`, `response_running` and
 * `invalid_request`.
 */
export async function keptRequest(
  deps: Deps,
  { actor, request: facts }: { actor: Actor; request: RequestFacts },
  { resolved, request }: { resolved: ResolvedModel; request: GatewayRequest },
  { isStored = false, previousId }: Keeping,
): Promise<Kept> {
  const named = facts.headers.get(conversationHeader);
  if (named === null && !isStored && previousId === undefined) return { request };
  const ownerId = actor.id;
  assertMayWrite(actor);
  const turn = await beginKeptTurn(deps, ownerId, await placeOf(deps, ownerId, named, previousId), request.messages);
  facts.outgoing.setHeader(conversationHeader, turn.chatId);
  return {
    request: { ...request, messages: turn.messages },
    keep: ({ written, ended, whole }) => {
      const response = isStored ? { response: whole } : {};
      return commitKeptTurn(deps, ownerId, turn, { written, ended, modelId: resolved.model.id, ...response });
    },
  };
}

/** Throws `insufficient_scope`. */
export function assertMayWrite({ scopes = [] }: Actor): void {
  if (grantsScope(scopes, 'chats:write')) return;
  const message = 'This needs an access token with chats:write';
  throw new ApiError('insufficient_scope', message, { details: { scope: 'chats:write' } });
}

/** The conversation that a request names; undefined for a new one. */
export async function placeOf(
  deps: Deps,
  ownerId: string,
  named: string | null,
  previousId: string | undefined,
): Promise<{ chatId: string; messageId?: string } | undefined> {
  if (previousId !== undefined) {
    if (named !== null) throw invalidMember(conversationHeader, 'The previous response has a conversation already');
    return getStoredResponse(deps.db.kysely, ownerId, previousId, 'previous_response_id');
  }
  if (named === null || named === 'new') return undefined;
  if (!chatIdPattern.test(named)) throw invalidMember(conversationHeader, 'The id of a conversation, or new');
  return { chatId: named };
}

/** GET /v1/responses/:response */
export const getGatewayResponse: Handler<Deps, Endpoints['getGatewayResponse']> = async (deps, { actor, params }) => {
  const stored = await getStoredResponse(deps.db.kysely, actor.id, params.response, 'response_id');
  return stored.response;
};

/** DELETE /v1/responses/:response */
export const deleteGatewayResponse: Handler<Deps, Endpoints['deleteGatewayResponse']> = async (
  deps,
  { actor, params },
) => {
  await deleteStoredResponse(deps.db.kysely, actor.id, params.response);
  return { id: params.response, object: 'response', deleted: true as const };
};

/** POST /v1/responses/:response/cancel: a stored response has ended, so that it stays as it is. */
export const postGatewayResponseCancel: Handler<Deps, Endpoints['postGatewayResponseCancel']> = async (
  deps,
  { actor, params },
) => {
  const stored = await getStoredResponse(deps.db.kysely, actor.id, params.response, 'response_id');
  return stored.response;
};
