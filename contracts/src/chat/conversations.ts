import { z } from 'zod';
import { servedBy } from '../catalogue/catalogue.ts';
import { endpoint } from '../endpoint.ts';
import * as fields from '../fields.ts';
import { limits } from '../limits.ts';
import { line } from '../text/line.ts';
import { plan } from './agent.ts';
import { finishDetailMax, messageFinishReasons } from './finish-reasons.ts';
import type { MessagePart } from './frames.ts';
import { givenParameters, parameters } from './parameters.ts';
import { summary } from './summaries.ts';
import { givenToolRules, toolRules } from './tool-rules.ts';

/** Conversations and their messages (contract.md section 5). */

export const chat = z.object({
  id: fields.id,
  title: z.string(),
  archived: z.boolean(),
  projectId: fields.id.nullable(),
  modelPinned: z.boolean(),
  modelId: fields.id.nullable(),
  mcpServerIds: z.array(fields.id).nullable(),
  /** Whether models may use the web here; null follows the settings of web search. */
  web: z.boolean().nullable(),
  contextStartMessageId: fields.id.nullable(),
  /** The assistant that answers (contract.md section 11), not the answering message. */
  assistantId: fields.id.nullable(),
  /** Earlier messages are summarized when the window is almost full. */
  autoCompaction: z.boolean(),
  instructions: fields.instructions,
  parameters,
  /** Tool permissions in this conversation; null: the person's own rules apply. */
  toolRules: toolRules.nullable(),
  /** Not listed or searched, and deleted a day after its last use. */
  temporary: z.boolean(),
  running: z.boolean(),
  /** A tool is waiting for approval, or for answers to its questions. */
  waiting: z.boolean(),
  /** The status of the newest message of the active branch; null without one. */
  lastStatus: z.enum(['complete', 'streaming', 'stopped', 'failed', 'interrupted']).nullable(),
  createdAt: fields.timestamp,
  updatedAt: fields.timestamp,
});
export type Chat = z.infer<typeof chat>;

/** A message part as stored and sent: validated loosely here, typed by `MessagePart`. */
const storedPart = z.custom<MessagePart>((value) => typeof value === 'object' && value !== null && 'type' in value);

const message = z.object({
  id: fields.id,
  chatId: fields.id,
  parentId: fields.id.nullable(),
  siblingIds: z.array(fields.id),
  role: z.enum(['user', 'assistant']),
  parts: z.array(storedPart),
  status: z.enum(['complete', 'streaming', 'stopped', 'failed', 'interrupted']),
  error: z
    .object({
      code: z.string(),
      message: z.string(),
      details: z
        .object({
          reason: z.string().optional(),
          phase: z.string().optional(),
          status: z.number().optional(),
          values: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
          /** First sentence of the provider's own message. */
          providerMessage: z.string().optional(),
        })
        .optional(),
    })
    .optional(),
  /** The model that answered. */
  modelId: fields.id.optional(),
  /** Present if a stand-in answered instead of the chosen model. */
  servedBy: servedBy.optional(),
  usage: z
    .object({
      inputTokens: z.number().int(),
      outputTokens: z.number().int(),
      reasoningTokens: z.number().int().optional(),
      /** Parts of the input: read from the provider's cache, and written to it. */
      cachedInputTokens: z.number().int().optional(),
      cacheWriteTokens: z.number().int().optional(),
      /** In millionths of a US dollar; null: a price is not known. */
      cost: z.number().int().nullable().optional(),
      /**
       * Of answers that were more than one question to the model: the first one's input, and the last one's input and
       * output.
       */
      promptTokens: z.number().int().optional(),
      contextTokens: z.number().int().optional(),
    })
    .optional(),
  /** How the answer ended: null while it runs, for messages of people and for answers whose end is not known. */
  finishReason: z.enum(messageFinishReasons).nullable(),
  /** The maker's explanation of the end, as plain text. */
  finishDetail: z.string().max(finishDetailMax).nullable(),
  /** Which assistant answered; it may no longer exist. */
  assistant: z.object({ id: fields.id, name: z.string(), version: z.number().int() }).optional(),
  createdAt: fields.timestamp,
});
export type Message = z.infer<typeof message>;

/** Part of a submitted message: text, or a file by `artifact://` or `data:` reference. */
const submittedPart = z.union([
  z.object({ type: z.literal('text'), text: z.string().max(limits.messageTextMax) }),
  z.object({
    type: z.literal('file'),
    mediaType: z.string().min(1).max(255),
    filename: z.string().max(255).optional(),
    url: z
      .string()
      .min(1)
      .max(limits.jsonBodyBytes)
      .regex(/^(?:artifact:\/\/|data:)/i, 'An address that begins with artifact:// or data:'),
  }),
]);
export const submittedMessage = z.object({
  id: fields.clientId,
  role: z.literal('user').optional(),
  parts: z
    .array(submittedPart)
    .min(1)
    .max(limits.partsPerMessage)
    .refine((parts) => parts.some((part) => part.type === 'file' || part.text.trim() !== ''), {
      message: 'A message needs text or a file',
    }),
});
export type SubmittedMessage = z.infer<typeof submittedMessage>;

export const input = z.object({
  id: fields.id,
  chatId: fields.id,
  /** `steering`: goes before those that are `queued`, to the running answer between two steps, or else next. */
  state: z.enum(['queued', 'steering', 'applied', 'cancelled']),
  message: z.object({ id: fields.id, role: z.literal('user'), parts: z.array(storedPart) }),
  createdAt: fields.timestamp,
});
export type QueuedInput = z.infer<typeof input>;

const runningResponse = z.object({
  assistantId: fields.id,
  messageId: fields.id,
  startedAt: fields.timestamp,
  /** `compaction`: a summary requested by a person, without a message. */
  kind: z.enum(['answer', 'compaction']),
});

const mcpServerIds = z.array(fields.id).max(limits.mcpServersPerChat).nullable();
export const title = line(1, limits.titleMax);

const chatDetail = z.object({
  chat,
  messages: z.array(message),
  /** Pass it as `before` to get the page of older messages; null at the beginning of the conversation. */
  nextBefore: fields.id.nullable(),
  inputs: z.array(input),
  response: runningResponse.nullable(),
  /** Summaries of the active branch, oldest first. */
  summaries: z.array(summary),
  /** The newest plan of the active branch. */
  plan: plan.nullable(),
});
export type ChatDetail = z.infer<typeof chatDetail>;

const snippet = z.object({
  text: z.string(),
  hits: z.array(z.object({ start: z.number().int(), end: z.number().int() })),
});
/** With `q`, `snippet` is a line of the newest matching message; `hits` are positions in it, in UTF-16 units. */
const listedChat = chat.extend({ snippet: snippet.optional() });
export type ListedChat = z.infer<typeof listedChat>;
const chatList = z.object({ chats: z.array(listedChat), nextCursor: z.string().nullable() });
export type ChatList = z.infer<typeof chatList>;

export const conversationEndpoints = {
  getChats: endpoint({
    method: 'GET',
    path: '/api/chats',
    access: 'session',
    scope: 'chats:read',
    summary: 'The list of conversations, newest activity first; or with ?id= one with its newest messages',
    query: z.object({
      id: fields.id.optional(),
      before: fields.id.optional(),
      archived: fields.booleanFlag.optional(),
      projectId: fields.id.optional(),
      q: z.string().trim().max(limits.searchMax).optional(),
      limit: fields.pageLimit,
      cursor: fields.cursor,
    }),
    response: z.union([chatDetail, chatList]),
    errors: ['not_found'],
  }),
  postChat: endpoint({
    method: 'POST',
    path: '/api/chats',
    access: 'session',
    scope: 'chats:write',
    closedToTokens: ['toolRules'],
    summary: 'Creates a conversation',
    body: z.object({
      id: fields.clientId.optional(),
      title: title.optional(),
      projectId: fields.id.nullable().optional(),
      assistantId: fields.id.nullable().optional(),
      instructions: fields.instructions.optional(),
      parameters: givenParameters.optional(),
      toolRules: givenToolRules.nullable().optional(),
      web: z.boolean().nullable().optional(),
      temporary: z.boolean().optional(),
    }),
    response: z.object({ chat }),
    status: 201,
    errors: ['id_taken', 'not_found', 'project_archived'],
  }),
  patchChat: endpoint({
    method: 'PATCH',
    path: '/api/chats',
    access: 'session',
    scope: 'chats:write',
    closedToTokens: ['toolRules'],
    summary:
      'Renames, archives, restores, moves; pins a model; selects a branch; starts a fresh context; sets instructions',
    body: z
      .object({
        id: fields.id,
        title: title.optional(),
        archived: z.boolean().optional(),
        projectId: fields.id.nullable().optional(),
        freshContext: z.literal(true).optional(),
        autoCompaction: z.boolean().optional(),
        activeMessageId: fields.id.optional(),
        modelPinned: z.boolean().optional(),
        modelId: fields.id.nullable().optional(),
        mcpServerIds: mcpServerIds.optional(),
        web: z.boolean().nullable().optional(),
        assistantId: fields.id.nullable().optional(),
        instructions: fields.instructions.optional(),
        parameters: givenParameters.optional(),
        toolRules: givenToolRules.nullable().optional(),
        /** Makes a temporary conversation permanent. */
        temporary: z.literal(false).optional(),
      })
      .refine((body) => body.modelPinned !== true || body.modelId !== null, {
        message: 'Needed when modelPinned is true',
        path: ['modelId'],
      }),
    response: z.object({ chat, movedArtifacts: z.number().int(), artifactFolder: z.string().nullable() }),
    errors: ['not_found', 'response_running', 'project_archived'],
  }),
  deleteChat: endpoint({
    method: 'DELETE',
    path: '/api/chats',
    access: 'session',
    scope: 'chats:write',
    summary: 'Deletes a conversation and its messages; stops its running response first',
    query: z.object({ id: fields.id }),
    response: fields.ok,
    errors: ['not_found'],
  }),
  exportChat: endpoint({
    method: 'GET',
    path: '/api/chats/export',
    access: 'session',
    scope: 'chats:read',
    summary: 'Downloads one conversation',
    query: z.object({ id: fields.id, format: z.enum(['markdown', 'json']) }),
    response: 'file',
    errors: ['not_found'],
  }),
} as const;

/** Members of a new conversation, validated. */
export type NewChat = z.output<typeof conversationEndpoints.postChat.body>;
/** Changes of a conversation, validated. */
export type ChatChange = Omit<z.output<typeof conversationEndpoints.patchChat.body>, 'id'>;
