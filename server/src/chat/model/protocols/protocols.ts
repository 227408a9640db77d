import type { ProviderKind } from '@homeport/contracts/catalogue/provider-kinds';
import type { Protocol } from '../protocol.ts';
import { createAnthropicParser } from './anthropic-events.ts';
import { createAnthropicWriter } from './anthropic-request.ts';
import { createGeminiParser } from './gemini-events.ts';
import { createGeminiWriter, geminiPath } from './gemini-request.ts';
import { createCompletionParser } from './openai-events.ts';
import { openAiBody } from './openai-request.ts';
import { createResponsesParser } from './responses-events.ts';
import { createResponsesWriter } from './responses-request.ts';

/** The protocols by name; each is created for one turn, since it remembers the translated history. */
export const protocols: Record<ProviderKind, () => Protocol> = {
  openai: () => ({ path: () => '/chat/completions', body: openAiBody, createParser: createCompletionParser }),
  'openai-responses': () => ({
    path: () => '/responses',
    body: createResponsesWriter(),
    createParser: createResponsesParser,
  }),
  anthropic: () => ({ path: () => '/messages', body: createAnthropicWriter(), createParser: createAnthropicParser }),
  gemini: () => ({ path: geminiPath, body: createGeminiWriter(), createParser: createGeminiParser }),
};
