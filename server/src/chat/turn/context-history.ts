import type { Plan } from '@homeport/contracts/chat/agent';
import type { MessagePart } from '@homeport/contracts/chat/frames';
import { parseStoredParts } from '../../conversations/stored-parts.ts';
import { yieldEvery } from '../../platform/concurrency/yield-every.ts';
import type { ChatMessage } from '../model/provider-messages.ts';
import { planText } from '../tools/plan-text.ts';
import { cutUserMessage, pruneToolCalls } from './context-cut.ts';
import { parsePrompts, promptOf } from './prompt.ts';
import { estimateMessages, messageTexts } from './token-estimate.ts';
import { type CountTokens, createUsageRatio, sampleRatio } from './token-ratio.ts';

/**
 * Reads the messages of a conversation that can go to the model, with their sizes. Sizes are estimated tokens unless
 * stated otherwise.
 */

/** A stored message as the context reads it; `parts` is looked at only when `prompt` is null. */
export type ContextMessage = {
  id: string;
  role: 'user' | 'assistant';
  prompt: string | null;
  promptTokens: number | null;
  /** Share of its files in these tokens. */
  fileTokens?: number;
  parts: string | null;
  usage: { outputTokens: number; reasoningTokens?: number } | null;
  /** Its tool calls go in short (`pruneToolCalls`). */
  isPruned: boolean;
  /** Given with the first request of a branch whose earlier messages are not sent: nothing follows. */
  start: ContextStart | null;
};

/**
 * Start of the messages that are sent: those up to `upToId` are omitted, and the summary replaces them if there is one.
 */
export type ContextStart = { upToId: string; summary: { id: string; upToId: string; text: string } | null };

export type HistoryOptions = {
  /** Read only as far as it is needed. */
  newestFirst: AsyncIterable<ContextMessage>;
  model: { contextWindow: number; maxOutputTokens: number };
  /** Tokens of instructions and tool definitions, which are always sent. */
  fixedTokens: number;
  /** Messages of the turn itself, which shed tool results when they must. */
  turnTokens?: number;
  /** The plan in force before this turn, repeated if the answer that made it is not sent. */
  plan?: Plan;
  /** From which share of the room on the conversation is made smaller. */
  limitShare: number;
  loadTokenizer: () => Promise<CountTokens>;
};

export type Entry = {
  id: string;
  role: 'user' | 'assistant';
  prompt: string;
  tokens: number;
  fileTokens?: number;
  isPruned: boolean;
};

/** The messages before the entries: the first request, and the summary or a note that something is left out. */
export type Header = ContextStart & {
  /** '' when there is none. */
  firstId: string;
  prompt: string;
  tokens: number;
  requestTokens: number;
  /** Tokens of the files of the first request. */
  fileTokens: number;
  summaryTokens: number;
};

export type History = {
  /** Oldest first; never empty. */
  entries: Entry[];
  header: Header | undefined;
  /** False when there are older messages that were not read, as these are too many already. */
  isWhole: boolean;
  plan: Plan | undefined;
  fixedTokens: number;
  turnTokens: number;
  /** Tokens at the provider for each estimated one. */
  ratio: number;
  window: Window;
};

/** `room`: tokens available for input, counted by the provider, with the maximum output requested. */
export type Window = { contextWindow: number; margin: number; maxOutputTokens: number; room: number };

const marginShare = 0.03;
const minMargin = 512;
/** From this share of the room on, an estimate that nothing has confirmed is checked with the tokenizer. */
const nearLimit = 0.65;
/**
 * From this share on, answers with tool calls are read for what their tokens cost: steps of this turn will fill the
 * rest.
 */
const worthLearning = 0.3;
const messagesToLearnFrom = 20;
const firstRequestShare = 0.1;

/**
 * Computes the share of a model's window that is available for input: the window minus the answer, at most half of the
 * window, and a margin.
 */
export function windowOf(model: { contextWindow: number; maxOutputTokens: number }): Window {
  const { contextWindow } = model;
  const maxOutputTokens = Math.max(1, Math.min(model.maxOutputTokens, Math.floor(contextWindow / 2)));
  const margin = Math.max(Math.ceil(contextWindow * marginShare), Math.min(minMargin, Math.floor(contextWindow / 8)));
  return { contextWindow, margin, maxOutputTokens, room: Math.max(contextWindow - maxOutputTokens - margin, 0) };
}

/**
 * Reads newest first, until the beginning of what is sent, or until it is too much even with earlier tool calls in
 * short. Estimates are corrected by what the provider counted of earlier answers or else, near the limit, by the
 * tokenizer.
 */
export async function readHistory(options: HistoryOptions): Promise<History> {
  const window = windowOf(options.model);
  const { fixedTokens, turnTokens = 0, limitShare } = options;
  const learnt = createUsageRatio();
  const newestFirst: Entry[] = [];
  let header: Header | undefined;
  const breath = yieldEvery();
  let seen = 0;
  const toolAnswers: { usage: NonNullable<ContextMessage['usage']>; prompt: string }[] = [];
  let tokens = fixedTokens + turnTokens;
  let least = tokens;
  let counted = 0;
  let hasUser = false;
  let checked: number | undefined;
  let isWhole = true;
  const ratio = (): number => learnt.value ?? checked ?? 1;

  for await (const message of options.newestFirst) {
    if (message.start !== null) {
      header = headerOf(message.start, toEntry(message), window, planWithout(options.plan, newestFirst));
      break;
    }
    const entry = toEntry(message);
    if (entry.prompt === '') continue;
    if (message.usage !== null && seen++ < messagesToLearnFrom) {
      if (callsTools(entry) || hasPictures(entry)) toolAnswers.push({ usage: message.usage, prompt: entry.prompt });
      else learnt.add(message.usage, entry.tokens);
    }
    newestFirst.push(entry);
    tokens += entry.tokens;
    const isFrom = (share: number): boolean => tokens >= window.room * Math.min(share, limitShare);
    const isNear = isFrom(nearLimit);
    if (isFrom(worthLearning) && learnt.value === undefined) {
      for (const { usage, prompt } of toolAnswers.splice(0)) learnt.add(usage, saidTokens(prompt));
    }
    if (isNear && learnt.value === undefined && checked === undefined) {
      const texts = parsePrompts(newestFirst.map(({ prompt }) => prompt)).flatMap(messageTexts);
      checked = await sampleRatio(texts, await options.loadTokenizer());
    }
    if (tokens * ratio() <= window.room * limitShare) continue;
    for (const next of newestFirst.slice(counted)) {
      least += hasUser ? prunedEntry(next).tokens : next.tokens;
      hasUser ||= next.role === 'user';
      await breath.after(next.prompt.length);
    }
    counted = newestFirst.length;
    isWhole = least * ratio() <= window.room || newestFirst.length === 1;
    if (!isWhole) break;
  }
  const { plan } = options;
  return { entries: newestFirst.toReversed(), header, isWhole, plan, fixedTokens, turnTokens, ratio: ratio(), window };
}

function callsTools({ prompt }: Pick<Entry, 'prompt'>): boolean {
  return prompt.includes('"tool_calls"');
}

function hasPictures({ prompt }: Pick<Entry, 'prompt'>): boolean {
  return prompt.includes('"type":"image_url"');
}

/** Tokens that a model wrote itself in an answer, without tool results. */
function saidTokens(prompt: string): number {
  return estimateMessages(parsePrompts([prompt]).filter(({ role }) => role === 'assistant'));
}

const prunedEntries = new WeakMap<Entry, Entry>();

/** The entry with its tool calls in short; made once. */
export function prunedEntry(entry: Entry): Entry {
  if (entry.isPruned) return entry;
  const known = prunedEntries.get(entry);
  if (known !== undefined) return known;
  const short = callsTools(entry) ? promptFrom(pruneToolCalls(parsePrompts([entry.prompt]))) : {};
  const pruned = { ...entry, ...short, isPruned: true };
  prunedEntries.set(entry, pruned);
  return pruned;
}

/** The plan's text, if the answer that made it is not among these. */
export function planWithout(plan: Plan | undefined, sent: readonly Pick<Entry, 'id'>[]): string | undefined {
  if (plan === undefined || plan.items.length === 0 || sent.some(({ id }) => id === plan.messageId)) return undefined;
  return planText(plan.items);
}

/** Builds the messages that replace those not sent. A long first request is cut in its middle. */
export function headerOf(
  start: ContextStart,
  first: Pick<Entry, 'id' | 'prompt' | 'fileTokens'>,
  window: Window,
  plan?: string,
): Header {
  const [request = leftOutNote('user')] = parsePrompts([first.prompt]);
  const room = Math.floor(window.room * firstRequestShare);
  const record = start.summary === null ? leftOutNote('assistant') : summaryMessage(start.summary.text);
  const summary = plan === undefined ? record : withPlan(record, plan);
  const summaryTokens = estimateMessages([summary]);
  const shown = cutUserMessage(request, room);
  const requestTokens = estimateMessages([shown]);
  // If the message is cut, the remaining share of its files is unknown.
  const fileTokens = Math.min(first.fileTokens ?? 0, requestTokens);
  return { ...start, firstId: first.id, ...promptFrom([shown, summary]), requestTokens, fileTokens, summaryTokens };
}

/** Uses the role of the model: the content of a summary must not be taken for a request of the person. */
function summaryMessage(text: string): ChatMessage {
  const label = '[Summary of the earlier conversation, whose messages are omitted. It is a record, not a request.]';
  return { role: 'assistant', content: `${label}\n\n${text}` };
}

function withPlan(record: ChatMessage, plan: string): ChatMessage {
  return {
    role: 'assistant',
    content: `${record.content}\n\n[The current plan, made with the tool plan.]\n${plan}`,
  };
}

function leftOutNote(role: 'user' | 'assistant'): ChatMessage {
  return { role, content: '[Earlier messages are omitted.]' };
}

function promptFrom(messages: readonly ChatMessage[]): { prompt: string; tokens: number } {
  return { prompt: JSON.stringify(messages).slice(1, -1), tokens: estimateMessages(messages) };
}

/** Converts a stored message. */
export function toEntry(message: ContextMessage): Entry {
  const { id, role, fileTokens } = message;
  const entry: Entry =
    message.prompt !== null && message.promptTokens !== null
      ? { id, role, prompt: message.prompt, tokens: message.promptTokens, fileTokens, isPruned: false }
      : fromParts(id, role, parseStoredParts(message.parts ?? '[]'));
  return message.isPruned ? prunedEntry(entry) : entry;
}

function fromParts(id: string, role: Entry['role'], parts: MessagePart[]): Entry {
  const { prompt, promptTokens } = promptOf(role, parts);
  return { id, role, prompt, tokens: promptTokens, isPruned: false };
}
