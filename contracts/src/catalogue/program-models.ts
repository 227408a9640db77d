import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { limits } from '../limits.ts';
import { gatewayBody } from './gateway.ts';

/**
 * Models of a person for programs in their workspace, in OpenAI's API format: the gateway (gateway.ts) with the token
 * of the workspace. Inside, the daemon serves it at OPENAI_BASE_URL (daemon.ts).
 */

const refusals = ['forbidden', 'rate_limited'] as const;

export const programModelEndpoints = {
  getInternalModels: endpoint({
    method: 'GET',
    path: '/api/internal/v1/models',
    access: 'workspace',
    modelToken: true,
    summary: "The models for programs of the workspace: those that are enabled for the workspace's user",
    response: z.object({
      object: z.literal('list'),
      data: z.array(
        z.object({ id: z.string(), object: z.literal('model'), created: z.number().int(), owned_by: z.string() }),
      ),
    }),
    errors: refusals,
  }),
  postInternalCompletion: endpoint({
    method: 'POST',
    path: '/api/internal/v1/chat/completions',
    access: 'workspace',
    modelToken: true,
    bodyBytes: limits.programRequestBytes,
    summary: "One answer of a model, as OpenAI's chat completions; with `stream` as server-sent events",
    body: gatewayBody,
    response: z.record(z.string(), z.unknown()),
    fileTypes: ['text/event-stream'],
    errors: [
      ...refusals,
      'not_found',
      'model_unavailable',
      'blocked_destination',
      'budget_exhausted',
      'answer_too_long',
      'provider_error',
      'provider_unreachable',
    ],
  }),
} as const;
