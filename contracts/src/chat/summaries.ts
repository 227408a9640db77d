import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import * as fields from '../fields.ts';
import { limits } from '../limits.ts';

/** Summaries that replace earlier messages of a conversation (contract.md section 11, "Compaction"). */

/** It applies to every branch that contains its last message. */
export const summary = z.object({
  id: fields.id,
  upToMessageId: fields.id,
  text: z.string(),
  createdAt: fields.timestamp,
});
export type Summary = z.infer<typeof summary>;

export const summaryEndpoints = {
  postChatCompact: endpoint({
    method: 'POST',
    path: '/api/chats/compact',
    access: 'session',
    scope: 'chats:write',
    summary:
      'Begins to summarize the earlier messages, or makes the newest summary again; the stream tells when it is done',
    takesMessage: true,
    body: z.object({
      id: fields.id,
      /** Focus of the summary. */
      focus: z.string().trim().min(1).max(limits.summaryFocusMax).optional(),
    }),
    response: z.object({ admitted: z.literal(true), assistantId: fields.id }),
    status: 202,
    errors: [
      'not_found',
      'response_running',
      'conversation_archived',
      'project_archived',
      'rate_limited',
      'budget_exhausted',
      'model_unavailable',
      'credentials_unreadable',
      'blocked_destination',
      'provider_error',
      'provider_unreachable',
    ],
  }),
  patchSummary: endpoint({
    method: 'PATCH',
    path: '/api/chats/summaries',
    access: 'session',
    scope: 'chats:write',
    summary: 'Changes the text of a summary, from the next turn on',
    body: z.object({ chatId: fields.id, id: fields.id, text: z.string().trim().min(1).max(limits.summaryTextMax) }),
    response: z.object({ summary }),
    errors: ['not_found'],
  }),
  deleteSummary: endpoint({
    method: 'DELETE',
    path: '/api/chats/summaries',
    access: 'session',
    scope: 'chats:write',
    summary: 'Undoes a summary: its messages are sent again; automatic summaries stop until one is requested',
    query: z.object({ chatId: fields.id, id: fields.id }),
    response: fields.ok,
    errors: ['not_found'],
  }),
} as const;
