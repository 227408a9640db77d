import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { limits } from '../limits.ts';

/**
 * The gateway: a person's models in the APIs of OpenAI, Open Responses (2026-04-24) and Anthropic (2023-06-01), for
 * clients that know those. Bodies, answers and errors have the shapes of these APIs; see docs/gateway.md.
 */

const anyObject = z.record(z.string().max(limits.clientIdMax), z.unknown());
/** The server reads the members; unknown ones are ignored. */
export const gatewayBody = anyObject.meta({ maxProperties: limits.gatewayMembersMax });
const modelId = z.string().min(1).max(limits.gatewayModelMax);
const errors = [
  'insufficient_scope',
  'conversation_archived',
  'response_running',
  'input_conflict',
  'not_found',
  'rate_limited',
  'model_unavailable',
  'blocked_destination',
  'budget_exhausted',
  'answer_too_long',
  'provider_error',
  'provider_unreachable',
] as const;

const stored = z.object({ response: z.string().min(1).max(limits.clientIdMax) });

const call = {
  method: 'POST',
  access: 'token',
  scope: 'models',
  bodyBytes: limits.gatewayBodyBytes,
  body: gatewayBody,
  response: anyObject,
  errors,
} as const;

export const gatewayEndpoints = {
  getGatewayModels: endpoint({
    method: 'GET',
    path: '/v1/models',
    access: 'token',
    scope: 'models',
    errorsAs: 'openai',
    summary: "The person's models, as OpenAI lists them; with the header `anthropic-version` as Anthropic does",
    query: z.object({
      limit: z.coerce.number().int().min(1).max(1000).optional(),
      after_id: modelId.optional(),
      before_id: modelId.optional(),
    }),
    response: anyObject,
    errors: ['rate_limited'],
  }),
  getGatewayModel: endpoint({
    method: 'GET',
    path: '/v1/models/:model',
    access: 'token',
    scope: 'models',
    errorsAs: 'openai',
    summary: 'One model; its id may contain slashes',
    params: z.object({ model: modelId }),
    response: anyObject,
    errors: ['not_found', 'model_unavailable', 'rate_limited'],
  }),
  postChatCompletion: endpoint({
    ...call,
    path: '/v1/chat/completions',
    errorsAs: 'openai',
    summary: "One answer of a model, as OpenAI's chat completions; with `stream` as server-sent events",
    fileTypes: ['text/event-stream'],
  }),
  postGatewayResponse: endpoint({
    ...call,
    path: '/v1/responses',
    errorsAs: 'openai',
    summary: 'One answer of a model, as Open Responses; with `stream` as server-sent events',
    fileTypes: ['text/event-stream'],
  }),
  getGatewayResponse: endpoint({
    method: 'GET',
    path: '/v1/responses/:response',
    access: 'token',
    scope: 'chats:read',
    errorsAs: 'openai',
    summary: 'A response that was stored with `store: true`',
    params: stored,
    response: anyObject,
    errors: ['not_found'],
  }),
  deleteGatewayResponse: endpoint({
    method: 'DELETE',
    path: '/v1/responses/:response',
    access: 'token',
    scope: 'chats:write',
    errorsAs: 'openai',
    summary: 'Deletes a stored response; its conversation stays',
    params: stored,
    response: z.object({ id: z.string(), object: z.string(), deleted: z.literal(true) }),
    errors: ['not_found'],
  }),
  postGatewayResponseCancel: endpoint({
    method: 'POST',
    path: '/v1/responses/:response/cancel',
    access: 'token',
    scope: 'chats:write',
    errorsAs: 'openai',
    summary: 'Returns a stored response, which has always ended: a running one ends when its client disconnects',
    params: stored,
    response: anyObject,
    errors: ['not_found'],
  }),
  postGatewayMessage: endpoint({
    ...call,
    path: '/v1/messages',
    errorsAs: 'anthropic',
    summary: "One answer of a model, as Anthropic's messages; with `stream` as server-sent events",
    fileTypes: ['text/event-stream'],
  }),
  postCountTokens: endpoint({
    ...call,
    path: '/v1/messages/count_tokens',
    errorsAs: 'anthropic',
    summary: 'The estimated tokens of a request for a message',
    response: z.object({ input_tokens: z.number().int() }),
  }),
  postEmbeddings: endpoint({
    ...call,
    path: '/v1/embeddings',
    errorsAs: 'openai',
    summary: "Embeddings of texts, as OpenAI's",
  }),
} as const;
