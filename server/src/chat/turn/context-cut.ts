import { parseForeignJson } from '../../platform/json/json-scan.ts';
import { estimateTokens } from '../../platform/text-tokens.ts';
import type { ChatMessage } from '../model/provider-messages.ts';
import { isRecord, storableText } from '../model/stream/storable-text.ts';
import { estimateMessage } from './token-estimate.ts';

/** How messages that are too long are made to fit. Room and sizes are estimated tokens. */

type AssistantMessage = Extract<ChatMessage, { role: 'assistant' }>;

const removedResult = '[This tool result was removed to save space. Call the tool again if you need it.]';
const minResultTokens = 64;
/**
 * A turn that has outgrown its room is cut to this share of it, so that its beginning stays the same for some steps.
 */
const shrunkShare = 0.6;
const shortResult = 200;
const shownOfResult = 100;
const shortArgument = 400;
const longState = 2_000;
const shownOfArgument = 120;

/**
 * Earlier tool calls in short: each result is one line, and long arguments are shortened. The same input always gives
 * the same text, so that a provider's cache of it holds.
 */
export function pruneToolCalls(messages: readonly ChatMessage[]): ChatMessage[] {
  return messages.map((message) => {
    if (message.role === 'tool') return { ...message, content: oneLine(message.content) };
    if (message.role !== 'assistant' || message.tool_calls === undefined) return message;
    const calls = message.tool_calls.map((call) => {
      const { name, arguments: text } = call.function;
      return { ...call, function: { name, arguments: shortArguments(text) } };
    });
    return { ...withoutLongState(message), tool_calls: calls };
  });
}

/** Reasoning that went back with a call is left out; signatures are short. */
function withoutLongState(message: AssistantMessage): AssistantMessage {
  if (message.stepState === undefined || JSON.stringify(message.stepState).length <= longState) return message;
  const { stepState: _, stateOf: __, ...plain } = message;
  return plain;
}

function oneLine(result: string): string {
  if (result.length <= shortResult) return result;
  const beginning = storableText(result.slice(0, shownOfResult)).replaceAll(/\s+/g, ' ').trim();
  return `[Tool result of ${result.length} characters, removed to save space. It began: ${beginning}]`;
}

function shortArguments(text: string): string {
  if (text.length <= shortArgument) return text;
  try {
    const input = parseForeignJson(text);
    return isRecord(input) ? JSON.stringify(input, (_key, value: unknown) => shortValue(value)) : '{}';
  } catch {
    return '{}';
  }
}

function shortValue(value: unknown): unknown {
  if (typeof value !== 'string' || value.length <= shortArgument) return value;
  const left = value.length - shownOfArgument;
  return storableText(`${value.slice(0, shownOfArgument)}[… ${left} characters omitted …]`);
}

/** A user message cut in the middle of its texts; images go when the text alone cannot make it fit. */
export function cutUserMessage(message: ChatMessage, available: number): ChatMessage {
  if (message.role !== 'user') return message;
  const whole = estimateMessage(message);
  if (whole <= available) return message;
  for (let share = (available / whole) * 0.95; share > 0.001; share *= 0.8) {
    const cut: ChatMessage = { role: 'user', content: cutContent(message.content, share) };
    if (estimateMessage(cut) <= available) return cut;
  }
  const text =
    typeof message.content === 'string' ? message.content : message.content.find((part) => part.type === 'text')?.text;
  return {
    role: 'user',
    content: cutToTokens(text ?? '[This message is too long for the model.]', Math.max(available, minResultTokens)),
  };
}

/**
 * Messages of a running turn that have outgrown `room`: results of earlier steps are removed, oldest first, until there
 * is room for more; when that is not enough, those of the last step are cut. The same array when it fits already.
 */
export function shrinkToolResults(
  messages: ChatMessage[],
  available: number,
  tokensOf: (message: ChatMessage) => number,
): ChatMessage[] {
  let total = messages.reduce((sum, message) => sum + tokensOf(message), 0);
  if (total <= available) return messages;
  const shrunk = [...messages];
  const lastStep = shrunk.findLastIndex((message) => message.role === 'assistant');
  const replace = (at: number, message: ChatMessage, content: string): void => {
    if (message.role !== 'tool') return;
    const { pictures: _, ...plain } = message;
    const smaller: ChatMessage = { ...plain, content };
    if (tokensOf(smaller) >= tokensOf(message)) return;
    total += tokensOf(smaller) - tokensOf(message);
    shrunk[at] = smaller;
  };
  const target = available * shrunkShare;
  for (const [at, message] of messages.entries()) {
    if (total > target && at < lastStep) replace(at, message, removedResult);
  }
  if (total <= available) return shrunk;
  const results = shrunk.slice(lastStep + 1);
  const size = results.reduce((sum, message) => sum + tokensOf(message), 0);
  const share = Math.max(minResultTokens, Math.floor((available - (total - size)) / Math.max(results.length, 1)));
  for (const [offset, message] of results.entries()) {
    if (message.role === 'tool' && tokensOf(message) > share) {
      replace(lastStep + 1 + offset, message, cutToTokens(message.content, share));
    }
  }
  return shrunk;
}

/** A text of at most so many tokens, its middle replaced by a note. */
export function cutToTokens(text: string, tokens: number): string {
  const whole = estimateTokens(text);
  if (whole <= tokens) return text;
  for (let share = (tokens / whole) * 0.95; share > 0.001; share *= 0.8) {
    const cut = cutMiddle(text, share);
    if (estimateTokens(cut) <= tokens) return cut;
  }
  return cutMiddle(text, 0);
}

function cutContent<Content extends Extract<ChatMessage, { role: 'user' }>['content']>(
  content: Content,
  share: number,
): Extract<ChatMessage, { role: 'user' }>['content'] {
  if (typeof content === 'string') return cutMiddle(content, share);
  return content.map((part) => (part.type === 'text' ? { ...part, text: cutMiddle(part.text, share) } : part));
}

function cutMiddle(text: string, share: number): string {
  const half = Math.floor((text.length * share) / 2);
  const left = text.length - 2 * half;
  return storableText(`${text.slice(0, half)}\n[… ${left} characters omitted …]\n${text.slice(text.length - half)}`);
}
