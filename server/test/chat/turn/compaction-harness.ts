import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import type { Tool } from '../../../src/chat/tools/tool-run.ts';
import type { SignedIn } from '../../app.ts';
import type { FakeProvider } from '../../fakes/provider/provider.ts';
import {
  callTool,
  chunk,
  type FakeCall,
  type FakeChatBody,
  type FakeScript,
  type FakeStep,
  stream,
} from '../../fakes/provider/provider-scripts.ts';
import { answer, type Collected, createChat, submit } from '../chat-harness.ts';

/** Conversations that fill the window of a scripted model, which counts its requests with a tokenizer of its own. */

export type CountedRequest = { body: FakeChatBody; tokens: number; isSummary: boolean };

export type SmallModel = {
  id: string;
  name: string;
  window: number;
  /** Every request, in order. */
  asked: CountedRequest[];
  answers: CountedRequest[];
  summaries: CountedRequest[];
};

let models = 0;

/**
 * A model with a window of its own. `play` gives the script of an answer, `summarize` that of a summary; undefined: the
 * usual one.
 */
export async function addSmallModel(
  user: SignedIn,
  provider: FakeProvider,
  options: {
    window?: number;
    maxOutputTokens?: number;
    /** Its tokens for each of the tokenizer. */
    density?: number;
    play?: (call: FakeCall, request: CountedRequest) => FakeScript | undefined;
    summarize?: (call: FakeCall, request: CountedRequest) => FakeScript | undefined;
  } = {},
): Promise<SmallModel> {
  const { window = 4_000, maxOutputTokens = 1_000, density = 1 } = options;
  const name = `small-${++models}`;
  const model: SmallModel = { id: '', name, window, asked: [], answers: [], summaries: [] };
  provider.script(name, (call) => {
    const request = { body: call.body, tokens: countBody(call.body) * density, isSummary: isSummary(call.body) };
    model.asked.push(request);
    (request.isSummary ? model.summaries : model.answers).push(request);
    if (request.isSummary) {
      return options.summarize?.(call, request) ?? speak(call, `- Rules: summary ${model.summaries.length}.`);
    }
    return options.play?.(call, request) ?? speak(call, `Answer ${model.answers.length}.`);
  });
  const made = await user.call('POST /api/providers', { name, baseUrl: provider.url, apiKey: 'sk-test' });
  const { body } = await user.call('POST /api/models', {
    providerId: made.body.provider.id,
    providerModelId: name,
    displayName: name,
    tier: 1,
    contextWindow: window,
    maxOutputTokens,
  });
  model.id = body.model.id;
  return model;
}

function isSummary({ messages }: FakeChatBody): boolean {
  return String(messages?.[0]?.content).startsWith('You summarize a conversation');
}

/** An answer in one piece, with the usage that the tokenizer counts. */
export function speak(call: FakeCall, text: string, density = 1): FakeScript {
  return stream([chunk({ content: text }), ...end(call, countTokens(text), density)]);
}

export function useTool(call: FakeCall, name: string, input: object, density = 1): FakeScript {
  const args = JSON.stringify(input);
  return stream([
    ...callTool(0, `call_${call.count}`, name, args, args.length),
    ...end(call, countTokens(args) + 8, density, 'tool_calls'),
  ]);
}

/** The usual end, with the usage that this provider counts. */
function end(call: FakeCall, outputTokens: number, density: number, reason = 'stop'): FakeStep[] {
  const [prompt_tokens, completion_tokens] = [countBody(call.body), outputTokens].map((tokens) =>
    Math.ceil(tokens * density),
  );
  return [
    chunk({}, reason),
    { event: { choices: [], usage: { prompt_tokens, completion_tokens } } },
    { event: '[DONE]' },
  ];
}

/** The tokens of a request, as a provider counts them. */
function countBody(body: FakeChatBody): number {
  const messages = body.messages ?? [];
  const tools = body.tools === undefined ? 0 : countTokens(JSON.stringify(body.tools));
  return messages.reduce((sum, message) => {
    const { tool_calls: calls } = { tool_calls: undefined, ...message };
    return (
      sum + 4 + countTokens(textOf(message.content)) + (calls === undefined ? 0 : countTokens(JSON.stringify(calls)))
    );
  }, tools);
}

/** The messages of a request behind the system message. */
export function messagesOf(request: CountedRequest | undefined): NonNullable<FakeChatBody['messages']> {
  return request?.body.messages?.filter(({ role }) => role !== 'system') ?? [];
}

export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return content === null || content === undefined ? '' : JSON.stringify(content);
}

/** All text of a request. */
export function textsOf(body: FakeChatBody): string {
  return (body.messages ?? []).map(({ content }) => textOf(content)).join('\n');
}

export async function startConversation(user: SignedIn, model: SmallModel) {
  const chatId = await createChat(user);
  return {
    chatId,
    async say(text: string, extra: object = {}): Promise<Collected> {
      const messageId = await submit(user, chatId, text, { modelId: model.id, modelPinned: true, ...extra });
      return answer(user, chatId, messageId);
    },
  };
}

/** About so many tokens of prose, different for each seed. */
export function prose(tokens: number, seed = 1): string {
  const next = random(seed);
  const words = Array.from(
    { length: Math.max(1, Math.round(tokens * 0.9)) },
    () => vocabulary[next(vocabulary.length)],
  );
  return words.join(' ');
}

const vocabulary =
  'the harbour light was kept by two sisters who wrote down every ship and each change of wind in a long blue book'.split(
    ' ',
  );

/** Whole numbers below the bound, the same for the same seed. */
export function random(seed: number): (bound: number) => number {
  let state = seed >>> 0;
  return (bound) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
}

/** A tool that returns text of about as many tokens as it is asked for. */
export const reader: Tool = {
  name: 'read',
  description: 'Reads a file',
  inputSchema: { type: 'object', properties: { tokens: { type: 'number' } } },
  execute: async ({ tokens }) => prose(Number(tokens), Number(tokens)),
};
