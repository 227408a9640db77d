import type { MessagePart } from '@homeport/contracts/frames';
import type { ChatMessage } from '../model/provider-messages.ts';
import { cutUserMessage, keepNewestSteps, shrinkToolResults } from './context-cut.ts';
import { parsePrompts, promptOf } from './prompt.ts';
import { estimateMessage, estimateMessages, messageTexts } from './token-estimate.ts';
import { type CountTokens, createUsageRatio, sampleRatio } from './token-ratio.ts';

/** A stored message as the context reads it; `parts` is looked at only when `prompt` is null. */
export type ContextMessage = {
  id: string;
  role: 'user' | 'assistant';
  prompt: string | null;
  promptTokens: number | null;
  parts: string | null;
  usage: { outputTokens: number; reasoningTokens?: number } | null;
};

export type ContextOptions = {
  /** Read only as far as the window takes; the newest user message is the first or follows its unfinished answer. */
  newestFirst: AsyncIterable<ContextMessage>;
  model: { contextWindow: number; maxOutputTokens: number };
  /** Estimated tokens of what is sent besides: instructions, tool definitions, messages of the turn itself. */
  fixedTokens: number;
  loadTokenizer: () => Promise<CountTokens>;
};

export type FittedContext = {
  /** JSON texts of the messages, oldest first, separated by commas: the `history` of `streamChatCompletion`. */
  history: string;
  /** What they and the fixed part are expected to cost at the provider. */
  tokens: number;
  /** What to ask for at most: the model's limit, but never more than half of the window. */
  maxOutputTokens: number;
  /** True when older messages, or part of one, were left out. */
  isCut: boolean;
  /** The oldest message that is sent, whole or in part; null: none. */
  oldestId: string | null;
  isOldestCut: boolean;
  /** Expected tokens of an estimated one. */
  ratio: number;
  /** Makes the messages of the turn itself fit behind the history (`fitMessages` of the turn loop). */
  fitTurn: (messages: ChatMessage[]) => ChatMessage[];
};

type Entry = { id: string | null; prompt: string; tokens: number; role: 'user' | 'assistant'; isPart?: boolean };

const marginShare = 0.03;
const minMargin = 256;
/** From this share of the room on, an estimate that nothing has confirmed is checked with the tokenizer. */
const nearLimit = 0.8;
const messagesToLearnFrom = 20;
const messagesBeforeUser = 20;
const unreadNote: Entry = {
  id: null,
  role: 'user',
  prompt: JSON.stringify({ role: 'user', content: '[Earlier messages are left out.]' }),
  tokens: 12,
};

/**
 * Chooses what the model sees of a conversation: newest first, until the window less the room for the answer and a margin
 * is full. Whole messages, except that the newest user message is cut in the middle when it alone is too long, and the
 * oldest answer may begin at a later step; a tool call never loses its result. Sizes are estimates, corrected by what the
 * provider counted of earlier answers or else, near the limit, by the tokenizer.
 */
export async function fitContext(options: ContextOptions): Promise<FittedContext> {
  const { contextWindow } = options.model;
  const maxOutputTokens = Math.max(1, Math.min(options.model.maxOutputTokens, Math.floor(contextWindow / 2)));
  const margin = Math.max(Math.ceil(contextWindow * marginShare), Math.min(minMargin, Math.floor(contextWindow / 10)));
  const selection = createSelection(options, Math.max(contextWindow - maxOutputTokens - margin, 0));
  for await (const message of options.newestFirst) {
    if (!(await selection.add(message))) break;
  }
  const { entries, isCut, ratio, tokens, room } = selection.finish();
  const oldestFirst = entries.toReversed();
  if (isCut && oldestFirst[0]?.role === 'assistant') oldestFirst.unshift(unreadNote);
  const sizes = new WeakMap<ChatMessage, number>();
  const tokensOf = (message: ChatMessage): number => {
    const known = sizes.get(message) ?? estimateMessage(message);
    sizes.set(message, known);
    return known;
  };
  return {
    history: oldestFirst.map((entry) => entry.prompt).join(','),
    tokens: Math.ceil(tokens * ratio),
    maxOutputTokens,
    isCut,
    oldestId: entries.at(-1)?.id ?? null,
    isOldestCut: entries.at(-1)?.isPart === true,
    ratio,
    fitTurn: (messages) => shrinkToolResults(messages, room, tokensOf),
  };
}

function createSelection(options: ContextOptions, budget: number) {
  const learnt = createUsageRatio();
  const entries: Entry[] = [];
  const beforeUser: Entry[] = [];
  let seen = 0;
  let checked: number | undefined;
  let hasUser = false;
  let isCut = false;
  let tokens = options.fixedTokens;

  const ratio = (): number => learnt.value ?? checked ?? 1;
  const room = (): number => Math.floor(budget / ratio()) - tokens;

  /** Estimates that no usage has confirmed are checked once, when it begins to matter. */
  async function checkNearLimit(next: Entry): Promise<void> {
    if (learnt.value !== undefined || checked !== undefined || tokens + next.tokens < budget * nearLimit) return;
    const count = await options.loadTokenizer();
    checked = await sampleRatio(
      parsePrompts([next, ...entries].map((entry) => entry.prompt)).flatMap(messageTexts),
      count,
    );
  }

  function keep(entry: Entry): void {
    entries.push(entry);
    tokens += entry.tokens;
  }

  function keepCut(entry: Entry, messages: ChatMessage[]): void {
    isCut = true;
    if (messages.length === 0) return;
    const prompt = JSON.stringify(messages).slice(1, -1);
    keep({ id: entry.id, role: entry.role, prompt, tokens: estimateMessages(messages), isPart: true });
  }

  /** True while there is room for more. */
  function addOlder(entry: Entry): boolean {
    if (entry.tokens <= room()) {
      keep(entry);
      return true;
    }
    if (entry.role === 'assistant') keepCut(entry, keepNewestSteps(parsePrompts([entry.prompt]), room()));
    isCut = true;
    return false;
  }

  /** The newest user message has its place first; what was answered to it so far takes what is left. */
  function addUser(entry: Entry): boolean {
    hasUser = true;
    const fits = entry.tokens <= room();
    const [message] = fits ? [] : parsePrompts([entry.prompt]);
    const user = message === undefined ? entry : cutEntry(entry, message, room());
    isCut ||= !fits;
    tokens += user.tokens;
    const allFit = beforeUser.every((newer) => addOlder(newer));
    entries.push(user);
    return fits && allFit;
  }

  return {
    /** Takes the next older message; false when no more is wanted. */
    async add(message: ContextMessage): Promise<boolean> {
      const entry = toEntry(message);
      if (entry.prompt === '') return true;
      if (message.usage !== null && seen++ < messagesToLearnFrom) learnt.add(message.usage, entry.tokens);
      await checkNearLimit(entry);
      if (hasUser) return addOlder(entry);
      if (entry.role === 'user') return addUser(entry);
      beforeUser.push(entry);
      return beforeUser.length < messagesBeforeUser;
    },
    finish() {
      if (!hasUser) beforeUser.every((entry) => addOlder(entry));
      // What was learnt on the way may have made earlier messages larger than they seemed.
      while (room() < 0 && entries.length > 1 && !endsWithNewestUser(entries)) {
        tokens -= entries.pop()?.tokens ?? 0;
        isCut = true;
      }
      return { entries, isCut, ratio: ratio(), tokens, room: Math.max(room(), 0) };
    },
  };
}

/** True when the oldest entry is the only user message there is. */
function endsWithNewestUser(entries: readonly Entry[]): boolean {
  return entries.findIndex((entry) => entry.role === 'user') === entries.length - 1;
}

function cutEntry(entry: Entry, message: ChatMessage, room: number): Entry {
  const cut = cutUserMessage(message, Math.max(room, 0));
  return { ...entry, prompt: JSON.stringify(cut), tokens: estimateMessage(cut), isPart: true };
}

function toEntry(message: ContextMessage): Entry {
  const { id, role } = message;
  if (message.prompt !== null && message.promptTokens !== null) {
    return { id, role, prompt: message.prompt, tokens: message.promptTokens };
  }
  const { prompt, promptTokens } = promptOf(role, parseStoredParts(message.parts ?? '[]'));
  return { id, role, prompt, tokens: promptTokens };
}

function parseStoredParts(json: string): MessagePart[] {
  return JSON.parse(json);
}
