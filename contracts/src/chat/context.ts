import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import * as fields from '../fields.ts';
import { parameters } from './parameters.ts';

/** Prompt context of one response (contract.md section 11). */

/** In sending order: stable layers come first, so that the provider can cache the prefix. */
const instructionLayers = [
  'installation',
  'assistant',
  'project',
  'person',
  'conversation',
  'moment',
  'skills',
] as const;
export type InstructionLayer = (typeof instructionLayers)[number];

const tokens = z.number().int();

const answerContext = z.object({
  model: z.object({ providerName: z.string(), providerModelId: z.string() }),
  parameters,
  /** The texts as sent, with variables filled in. */
  instructions: z.array(z.object({ layer: z.enum(instructionLayers), text: z.string(), tokens })),
  /** All of them together: the system message, byte for byte. */
  system: z.string(),
  tools: z.array(z.object({ name: z.string(), tokens })),
  /** From the branch before the answer, oldest first; `reason`: the reason for which a message was omitted or shortened. */
  messages: z.array(
    z.object({
      id: fields.id,
      state: z.enum(['sent', 'summarized', 'omitted']),
      reason: z.string().optional(),
      tokens,
      /** The share of its files in these tokens. */
      files: tokens.optional(),
    }),
  ),
  /** How many older messages of the branch are not in `messages`. */
  earlierMessages: z.number().int(),
  summary: z.object({ text: z.string(), upToMessageId: fields.id, tokens }).nullable(),
  tokens: z.object({
    total: tokens,
    window: tokens,
    /** Tokens reserved for the response. */
    answerRoom: tokens,
    /** Tokens of the sent messages without their files. */
    messages: tokens,
    /** Tokens of attached files; null if not recorded, and then included in `messages`. */
    files: tokens.nullable(),
    /** True if `total` is the provider's count; the other numbers are always estimates. */
    counted: z.boolean(),
  }),
});
export type AnswerContext = z.infer<typeof answerContext>;

export const contextEndpoints = {
  getChatContext: endpoint({
    method: 'GET',
    path: '/api/chats/context',
    access: 'session',
    scope: 'chats:read',
    summary: 'The prompt context of one response: instructions, parameters, tools and messages',
    query: z.object({ chatId: fields.id, messageId: fields.id }),
    response: answerContext,
    errors: ['not_found'],
  }),
} as const;
