import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import * as fields from '../fields.ts';
import { limits } from '../limits.ts';
import { givenAnswers } from './agent.ts';
import { input, submittedMessage } from './conversations.ts';
import { parameters } from './parameters.ts';

/** Submitting inputs, the response stream, Stop (contract.md section 6). */

/**
 * Which model answers (control-plane-api.md "POST /api/chat"): `modelPinned: true` with `modelId` pins it to the
 * conversation, `modelPinned: false` follows the current default, `modelId` alone counts for this turn.
 */
const modelDecision = {
  modelPinned: z.boolean().optional(),
  modelId: fields.id.nullable().optional(),
  mcpServerIds: z.array(fields.id).max(limits.mcpServersPerChat).nullable().optional(),
  /** Whether models may use the web in this turn; null follows the settings. Absent: as the conversation says. */
  web: z.boolean().nullable().optional(),
  /** For this turn; they come before those of the conversation and the model. */
  parameters: parameters.optional(),
};
const needsModelId = (body: { modelPinned?: boolean; modelId?: string | null }) =>
  body.modelPinned !== true || typeof body.modelId === 'string';
const modelIdMissing = { message: 'Needed when modelPinned is true', path: ['modelId'] };

const submission = z
  .object({
    chatId: fields.id,
    message: submittedMessage,
    /** The message that this one follows. Absent: the newest of the active branch. Null: a new root. */
    parentId: fields.id.nullable().optional(),
    ...modelDecision,
  })
  .refine(needsModelId, modelIdMissing);
export type Submission = z.infer<typeof submission>;

const chatBody = z
  .object({
    chatId: fields.id,
    messageId: fields.id.optional(),
    resume: z.literal(true).optional(),
    regenerate: z.boolean().optional(),
    detach: z.boolean().optional(),
    ...modelDecision,
  })
  .refine((body) => (body.messageId === undefined) === (body.resume === true), {
    message: 'Give either messageId or resume: true',
    path: ['messageId'],
  })
  .refine(needsModelId, modelIdMissing);
export type ChatBody = z.infer<typeof chatBody>;

const chatParams = z.object({ chatId: fields.id });
const admissionFailures = [
  ...(['not_found', 'input_conflict', 'conversation_archived', 'project_archived', 'rate_limited'] as const),
  'budget_exhausted',
] as const;
const startFailures = [
  'not_found',
  'input_conflict',
  'conversation_archived',
  'project_archived',
  'response_running',
  'rate_limited',
  'budget_exhausted',
  'model_unavailable',
  'payload_too_large',
  'credentials_unreadable',
  'blocked_destination',
  'provider_error',
  'provider_unreachable',
] as const;

export const chatEndpoints = {
  postChatStart: endpoint({
    method: 'POST',
    path: '/api/chat/start',
    access: 'session',
    scope: 'chats:write',
    summary: 'Saves and enqueues an input; sending the same id with the same content again is safe',
    takesMessage: true,
    body: submission,
    bodyBytes: limits.jsonBodyBytes,
    response: z.object({ messageId: fields.id }),
    status: 201,
    errors: admissionFailures,
  }),
  postTurnInput: endpoint({
    method: 'POST',
    path: '/api/chat/turn-inputs',
    access: 'session',
    scope: 'chats:write',
    summary: 'Saves a queued input (201; 200 for a repeated one)',
    takesMessage: true,
    body: submission,
    bodyBytes: limits.jsonBodyBytes,
    response: z.object({ input }),
    status: 201,
    others: { 200: z.object({ input }) },
    errors: admissionFailures,
  }),
  getTurnInputs: endpoint({
    method: 'GET',
    path: '/api/chat/turn-inputs',
    access: 'session',
    scope: 'chats:read',
    summary: 'The inputs still queued, in the order they will be applied',
    query: z.object({ chatId: fields.id }),
    response: z.object({ inputs: z.array(input) }),
    errors: ['not_found'],
  }),
  patchTurnInput: endpoint({
    method: 'PATCH',
    path: '/api/chat/turn-inputs',
    access: 'session',
    scope: 'chats:write',
    summary:
      'Sends a queued input now: the running answer gets it after its current step; doing it twice changes nothing',
    body: z.object({ chatId: fields.id, id: fields.id, steer: z.literal(true) }),
    response: z.object({ input }),
    errors: ['not_found', 'input_applied'],
  }),
  deleteTurnInput: endpoint({
    method: 'DELETE',
    path: '/api/chat/turn-inputs',
    access: 'session',
    scope: 'chats:write',
    summary: 'Cancels a queued input',
    query: z.object({ chatId: fields.id, id: fields.id }),
    response: z.object({ ok: z.literal(true), input }),
    errors: ['not_found', 'input_applied'],
  }),
  postChatResponse: endpoint({
    method: 'POST',
    path: '/api/chat',
    access: 'session',
    scope: 'chats:write',
    summary:
      'Starts, joins, regenerates or resumes a response and streams it; 202 {admitted, assistantId} when detached',
    body: chatBody,
    response: 'stream',
    others: { 202: z.object({ admitted: z.literal(true), assistantId: fields.id }) },
    errors: startFailures,
  }),
  getChatStream: endpoint({
    method: 'GET',
    path: '/api/chat/:chatId/stream',
    access: 'session',
    scope: 'chats:read',
    summary: 'Follows the running response from its beginning or after a sequence number; 204 when none is running',
    params: chatParams,
    query: z.object({
      after: z
        .string()
        .regex(/^\d{1,15}$/)
        .transform(Number)
        .optional(),
    }),
    response: 'stream',
    others: { 204: 'empty' },
    errors: ['not_found', 'rate_limited'],
  }),
  getChatActivity: endpoint({
    method: 'GET',
    path: '/api/chats/activity',
    access: 'session',
    scope: 'chats:read',
    summary: 'Streams changes of own conversations: one event {chatId} for each',
    response: 'events',
    errors: ['rate_limited'],
  }),
  postChatStop: endpoint({
    method: 'POST',
    path: '/api/chat/:chatId/stop',
    access: 'session',
    scope: 'chats:write',
    summary: 'Stops the running response; with assistantId never a later one',
    params: chatParams,
    body: z.object({ assistantId: fields.id.optional() }).optional(),
    response: z.object({ stopped: z.boolean(), assistantId: fields.id.nullable() }),
    errors: ['not_found'],
  }),
  postChatApproval: endpoint({
    method: 'POST',
    path: '/api/chat/:chatId/approvals',
    access: 'session',
    summary: 'Answers a tool that waits for approval, once',
    params: chatParams,
    body: z.object({
      approvalId: fields.id,
      approved: z.boolean(),
      reason: z.string().trim().max(limits.approvalReasonMax).optional(),
      /**
       * With `approved`: also allows this tool, or this very command, in this conversation or in all of the person's.
       */
      remember: z.enum(['conversation', 'person']).optional(),
    }),
    response: fields.ok,
    errors: ['not_found', 'input_applied'],
  }),
  postChatAnswers: endpoint({
    method: 'POST',
    path: '/api/chat/:chatId/answers',
    access: 'session',
    summary: 'Answers the questions that a response waits for, once',
    params: chatParams,
    body: z.object({
      questionId: fields.id,
      answers: givenAnswers,
      /** `decline`: refuses to answer a question of an MCP server. */
      action: z.enum(['accept', 'decline']).optional(),
    }),
    response: fields.ok,
    errors: ['not_found', 'input_applied'],
  }),
} as const;
