import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { limits } from '../limits.ts';

/**
 * Models of a person for programs in their workspace, in OpenAI's API format. Inside, the daemon serves it at
 * OPENAI_BASE_URL (daemon.ts). Fields that can't be passed on to every provider are rejected, not ignored.
 */

const text = z.string().max(limits.programTextMax);
const textPart = z.object({ type: z.literal('text'), text });
const imagePart = z.object({
  type: z.literal('image_url'),
  image_url: z.object({ url: text.regex(/^data:image\//, 'Images are given as data: URLs') }),
});
const plain = z.union([text, z.array(textPart).max(limits.programPartsMax)]);
const toolName = z
  .string()
  .min(1)
  .max(limits.mcpToolNameMax)
  .regex(/^[A-Za-z0-9_.-]+$/, 'Letters, digits, and _ . -');
const callId = z.string().min(1).max(limits.clientIdMax);
const toolCall = z.object({
  id: callId,
  type: z.literal('function'),
  function: z.object({ name: toolName, arguments: text }),
});
const message = z.discriminatedUnion('role', [
  z.object({ role: z.literal('system'), content: plain }),
  z.object({ role: z.literal('developer'), content: plain }),
  z.object({
    role: z.literal('user'),
    content: z.union([text, z.array(z.discriminatedUnion('type', [textPart, imagePart])).max(limits.programPartsMax)]),
  }),
  z.object({
    role: z.literal('assistant'),
    content: plain.nullish(),
    tool_calls: z.array(toolCall).max(limits.programToolsMax).nullish(),
  }),
  z.object({ role: z.literal('tool'), tool_call_id: callId, content: plain }),
]);
export type ProgramMessage = z.infer<typeof message>;

const tool = z.object({
  type: z.literal('function'),
  function: z.object({
    name: toolName,
    description: text.optional(),
    parameters: z.record(z.string().max(limits.clientIdMax), z.unknown()).optional(),
  }),
});
const outputTokens = z.number().int().min(1).max(limits.contextWindowMax).optional();

const completionRequest = z.object({
  /** A model's id or one of its names, as the list has them; `default` is the person's default. */
  model: z.string().min(1).max(limits.providerModelIdMax).default('default'),
  messages: z.array(message).min(1).max(limits.programMessagesMax),
  stream: z.boolean().optional(),
  stream_options: z.object({ include_usage: z.boolean().optional() }).optional(),
  max_tokens: outputTokens,
  max_completion_tokens: outputTokens,
  temperature: z.number().min(0).max(2).optional(),
  top_p: z.number().min(0).max(1).optional(),
  stop: z
    .union([
      z.string().min(1).max(limits.stopTextMax),
      z.array(z.string().min(1).max(limits.stopTextMax)).max(limits.stopTextsMax),
    ])
    .optional(),
  seed: z.number().int().min(Number.MIN_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER).optional(),
  reasoning_effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).optional(),
  tools: z.array(tool).max(limits.programToolsMax).optional(),
  tool_choice: z.enum(['auto', 'none'], { error: 'Only auto and none are supported' }).optional(),
  n: z.literal(1, { error: 'Only one answer is made' }).optional(),
  logprobs: z.literal(false, { error: 'Probabilities are not available' }).optional(),
  response_format: z
    .object({ type: z.literal('text', { error: 'Only text is supported; ask for JSON in the message' }) })
    .optional(),
});
export type CompletionRequest = z.infer<typeof completionRequest>;

const completion = z.object({
  id: z.string(),
  object: z.literal('chat.completion'),
  created: z.number().int(),
  model: z.string(),
  choices: z.array(
    z.object({
      index: z.literal(0),
      message: z.object({
        role: z.literal('assistant'),
        content: z.string().nullable(),
        reasoning_content: z.string().optional(),
        tool_calls: z.array(toolCall).optional(),
      }),
      finish_reason: z.enum(['stop', 'length', 'content_filter', 'tool_calls']),
    }),
  ),
  usage: z.object({
    prompt_tokens: z.number().int(),
    completion_tokens: z.number().int(),
    total_tokens: z.number().int(),
  }),
});
export type Completion = z.infer<typeof completion>;

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
    body: completionRequest,
    response: completion,
    fileTypes: ['text/event-stream'],
    errors: [
      ...refusals,
      'not_found',
      'model_unavailable',
      'budget_exhausted',
      'answer_too_long',
      'provider_error',
      'provider_unreachable',
    ],
  }),
} as const;
