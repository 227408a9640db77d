import { randomUUIDv7 } from 'node:crypto';
import { grantsScope } from '@homeport/contracts/accounts/token-scopes';
import type { endpoints } from '@homeport/contracts/endpoints';
import type { ApiError } from '@homeport/contracts/errors';
import { sql } from 'kysely';
import type { Deps } from '../../deps.ts';
import { validate } from '../../http/body/validate.ts';
import type { Actor, Handler, RequestFacts } from '../../http/handler.ts';
import { assertBudget, budgetResetsAt } from '../../usage/budget-rule.ts';
import type { ChatMessage } from '../model/provider-messages.ts';
import { type Answering, answerCall, type GatewayAnswer } from './answer-handlers.ts';
import { findAssistantModel } from './assistant/assistant-models.ts';
import { beginCall } from './call-handlers.ts';
import { countRequest, takePlace } from './call-limits.ts';
import { createChatWriter } from './chat/answer.ts';
import { parseChat } from './chat/request.ts';
import { embed } from './embeddings/embed.ts';
import { parseEmbeddings } from './embeddings/request.ts';
import type { AnswerHead } from './front.ts';
import { createMessagesWriter } from './messages/answer.ts';
import { anthropicNames, parseCount, parseMessages } from './messages/request.ts';
import { estimateRequest } from './model-call.ts';
import { anthropicModel, anthropicPage, listAll, listedModel, modelOf, openAiModel } from './models.ts';
import { keyOf, once } from './once-handlers.ts';
import { createResponsesWriter } from './responses/answer.ts';
import { parseResponses, responsesNames } from './responses/request.ts';

type Endpoints = typeof endpoints;
type Given = { actor: Actor; request: RequestFacts; body?: unknown };

/** GET /v1/models */
export const getGatewayModels: Handler<Deps, Endpoints['getGatewayModels']> = async (
  deps,
  { actor, query, request },
) => {
  admit(deps, { actor, request });
  const models = await listAll(deps, actor.id, grantsScope(actor.scopes ?? [], 'chats:write'));
  const { limit = 20, after_id: afterId, before_id: beforeId } = query;
  if (request.headers.has('anthropic-version')) return anthropicPage(models, { limit, afterId, beforeId });
  return { object: 'list', data: models.map(openAiModel) };
};

/** GET /v1/models/:model */
export const getGatewayModel: Handler<Deps, Endpoints['getGatewayModel']> = async (
  deps,
  { actor, params, request },
) => {
  admit(deps, { actor, request });
  const model = await listedModel(deps, actor.id, params.model);
  return request.headers.has('anthropic-version') ? anthropicModel(model) : openAiModel(model);
};

/** POST /v1/chat/completions */
export const postChatCompletion: Handler<Deps, Endpoints['postChatCompletion']> = async (deps, given) => {
  const { model, request, isStreamed, hasUsage } = parseChat(given.body, validate);
  return withAccess(deps, given, async (access) => {
    const { call, keep, modelName } = await beginCall(deps, given, { model, request, keeping: {} });
    const head = headOf(deps, 'chatcmpl-', modelName);
    const createWriter: Answering['createWriter'] = (_prepared, send) => createChatWriter(head, { send, hasUsage });
    return answerCall(call, { ...access, request: given.request, keep, isStreamed, createWriter });
  });
};

/** POST /v1/messages */
export const postGatewayMessage: Handler<Deps, Endpoints['postGatewayMessage']> = async (deps, given) => {
  const { model, request, isStreamed } = parseMessages(given.body, validate);
  return withAccess(deps, given, async (access) => {
    const asked = { model, request, names: anthropicNames, keeping: {} };
    const { call, keep, modelName } = await beginCall(deps, given, asked);
    const head = headOf(deps, 'msg_', modelName);
    const createWriter: Answering['createWriter'] = ({ inputTokens, sealer }, send) =>
      createMessagesWriter(head, { send, inputTokens, sealer, requestId: given.request.id });
    return answerCall(call, { ...access, request: given.request, keep, isStreamed, createWriter });
  });
};

/** POST /v1/messages/count_tokens */
export const postCountTokens: Handler<Deps, Endpoints['postCountTokens']> = async (deps, { actor, body, request }) => {
  const { model, request: asked } = parseCount(body, validate);
  admit(deps, { actor, request });
  if ((await findAssistantModel(deps, actor.id, model)) === undefined) await modelOf(deps, actor.id, model);
  const messages = asked.messages.map((message): ChatMessage => {
    if (message.role !== 'assistant') return message;
    const { items: _, ...plain } = message;
    return plain;
  });
  return { input_tokens: estimateRequest(messages, asked) };
};

/** POST /v1/responses */
export const postGatewayResponse: Handler<Deps, Endpoints['postGatewayResponse']> = async (deps, given) => {
  const asked = parseResponses(given.body, validate);
  const { model, request, isStreamed } = asked;
  return withAccess(deps, given, async (access) => {
    const begun = await beginCall(deps, given, { model, request, names: responsesNames, keeping: asked });
    const { call, keep, modelName } = begun;
    const head = headOf(deps, 'resp_', modelName);
    const createWriter: Answering['createWriter'] = ({ sealer }, send) =>
      createResponsesWriter(head, {
        ...asked,
        send,
        sealer,
        createId: randomUUIDv7,
        now: () => Math.floor(deps.clock.now() / 1000),
      });
    return answerCall(call, { ...access, request: given.request, keep, isStreamed, createWriter });
  });
};

/** POST /v1/embeddings */
export const postEmbeddings: Handler<Deps, Endpoints['postEmbeddings']> = async (deps, given) => {
  const asked = parseEmbeddings(given.body, validate);
  return withAccess(deps, given, async (access) => {
    const resolved = await modelOf(deps, given.actor.id, asked.model);
    return embed(deps, { ownerId: given.actor.id, resolved, asked }, access.signal);
  });
};

/** Counts the request for its token, and says in headers how many are left. */
function admit(deps: Deps, { actor, request }: Given): void {
  const headers = countRequest(actor.sessionId, deps.clock.now());
  for (const [name, value] of Object.entries(headers)) request.outgoing.setHeader(name, value);
}

/** Access to a model while a call runs. */
type Access = Pick<Answering, 'signal' | 'record'>;

/**
 * Runs a call of a model while the token holds one of its places and is valid; once for each `idempotency-key`. Throws
 * `rate_limited` or `budget_exhausted`.
 */
async function withAccess(
  deps: Deps,
  given: Given,
  work: (access: Access) => Promise<GatewayAnswer>,
): Promise<GatewayAnswer> {
  const { request } = given;
  admit(deps, given);
  const keyed = keyOf(given.actor.id, request, given.body);
  if (keyed === undefined) return runCall(deps, given.actor, (signal) => work({ signal }), request.signal);
  return once(deps, keyed, request, (record) => runCall(deps, given.actor, (signal) => work({ signal, record })));
}

async function runCall(
  deps: Deps,
  actor: Actor,
  work: (signal: AbortSignal) => Promise<GatewayAnswer>,
  leaves?: AbortSignal,
): Promise<GatewayAnswer> {
  const release = takePlace(actor.sessionId);
  const revoked = new AbortController();
  const end = (reason: ApiError) => revoked.abort(reason);
  const unwatch = deps.sessions.watch(actor.sessionId, end, { endsUnchecked: false });
  try {
    await assertWithinBudget(deps, actor.id);
    return await work(leaves === undefined ? revoked.signal : AbortSignal.any([leaves, revoked.signal]));
  } finally {
    unwatch();
    release();
  }
}

async function assertWithinBudget({ db }: Deps, ownerId: string): Promise<void> {
  const { rows } = await sql<{ resetsAt: Date | null }>`
    select ${sql.raw(budgetResetsAt('u.id'))} as "resetsAt" from users u where u.id = ${ownerId}`.execute(db.kysely);
  assertBudget(rows[0]?.resetsAt ?? null);
}

function headOf(deps: Deps, prefix: string, model: string): AnswerHead {
  return { id: `${prefix}${randomUUIDv7()}`, created: Math.floor(deps.clock.now() / 1000), model };
}
