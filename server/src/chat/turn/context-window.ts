import { ApiError } from '@homeport/contracts/errors';
import type { ChatMessage } from '../model/provider-messages.ts';
import { shrinkToolResults } from './context-cut.ts';
import { type Entry, type Header, type History, prunedEntry, type Window } from './context-history.ts';
import { estimateMessage } from './token-estimate.ts';

/** Chooses the part of a conversation that the model gets. Sizes are estimated tokens unless stated otherwise. */

/** Part of a history to send: the entries from `keepFrom` on, those before `pruneBefore` with shortened tool calls. */
export type Choice = { keepFrom: number; pruneBefore: number };

export type FittedContext = {
  /** JSON texts of the messages, oldest first, separated by commas: the `history` of a `ModelRequest`. */
  history: string;
  /** Expected tokens of the messages and the fixed part, as the provider counts them. */
  tokens: number;
  /** Maximum output to request: the model's limit, but never more than half of the window. */
  maxOutputTokens: number;
  header: Header | undefined;
  /** The messages that go besides the header, oldest first. */
  sent: { id: string; isPruned: boolean }[];
  /** Messages with files: their expected tokens in total, and of their files alone. */
  withFiles: { id: string; tokens: number; files: number }[];
  /** Expected tokens of an estimated one. */
  ratio: number;
  /** Makes the messages of the turn itself fit behind the history (`fitMessages` of the turn loop). */
  fitTurn: (messages: ChatMessage[], counted: number | undefined) => ChatMessage[];
};

/**
 * Cutting and summarizing reduce the context to this share of the room, so that its beginning then stays the same for
 * long.
 */
const targetShare = 0.6;
/** Maximum share of the first request in that, alone and together with a summary. */
const headerShares = { cut: 0.1, summary: 0.2 };
/** Less than this share of the room is not worth a summary. */
const worthShare = 0.1;
/** An answer may have this share of the window even when a long message takes its room. */
const leastOutputShare = 1 / 8;
/** A provider that counts more than this for an estimated token counts something else. */
const mostPerToken = 3;
/** Turns at the end that stay as they are while there is room: the message that is asked for, and two before it. */
const keptTurns = 3;

export const keepAll: Choice = { keepFrom: 0, pruneBefore: 0 };

/** True when a history needs nothing done to it. */
export function isWithin(history: History, share: number): boolean {
  return history.isWhole && costOf(history, keepAll) <= history.window.room * share;
}

/** Earlier tool calls in short, when that alone makes enough room. */
export function choosePruning(history: History): Choice | undefined {
  const pruneBefore = turnStarts(history.entries).at(-keptTurns) ?? 0;
  const choice = { keepFrom: 0, pruneBefore };
  const isEnough = history.isWhole && costOf(history, choice) <= history.window.room * targetShare;
  return isEnough && pruneBefore > 0 ? choice : undefined;
}

/** The last turns, at most so many, for a summary of what is before them; undefined when nothing is. */
export function chooseTail(history: History, turns = keptTurns): Choice | undefined {
  const starts = turnStarts(history.entries).slice(-turns);
  const choice = keepFirstThatFits(history, starts, headerShares.summary);
  return choice.keepFrom === 0 ? undefined : choice;
}

/** True when the choice omits much, or must omit something. */
export function isWorthSummary(history: History, { keepFrom }: Choice): boolean {
  const left = sumOf(history.entries.slice(0, keepFrom)) * history.ratio;
  return left >= history.window.room * worthShare || !isWithin(history, 1);
}

/** Keeps as many turns at the end as the target allows and omits everything before. */
export function chooseCut(history: History): Choice {
  return keepFirstThatFits(history, turnStarts(history.entries), headerShares.cut);
}

/** From the first of these turns with which the rest is within the target; else the last answer in short, or none. */
function keepFirstThatFits(history: History, starts: readonly number[], headerShare: number): Choice {
  const { entries, window, fixedTokens, turnTokens, ratio } = history;
  const limit = (window.room * (targetShare - headerShare)) / ratio - fixedTokens - turnTokens;
  const sizes = sizesFrom(entries);
  const newest = starts.at(-1) ?? 0;
  const from = starts.find((start) => (sizes[start] ?? 0) <= limit);
  if (from !== undefined && from < newest) return { keepFrom: from, pruneBefore: from };
  const before = starts.at(-2);
  const inShort = { keepFrom: before ?? newest, pruneBefore: newest };
  const isEnough = before !== undefined && sumOf(chosen(history, inShort)) <= limit;
  return isEnough ? inShort : { keepFrom: newest, pruneBefore: newest };
}

/** Returns the indexes at which turns begin: the messages of a person. */
function turnStarts(entries: readonly Entry[]): number[] {
  return entries.flatMap(({ role }, index) => (role === 'user' ? [index] : []));
}

/** For each entry, the tokens from it to the end. */
function sizesFrom(entries: readonly Entry[]): number[] {
  let sum = 0;
  const sizes = entries.toReversed().map(({ tokens }) => (sum += tokens));
  return sizes.toReversed();
}

function sumOf(entries: readonly Entry[]): number {
  return entries.reduce((sum, { tokens }) => sum + tokens, 0);
}

function chosen({ entries }: History, { keepFrom, pruneBefore }: Choice): Entry[] {
  return entries.slice(keepFrom).map((entry, index) => (keepFrom + index < pruneBefore ? prunedEntry(entry) : entry));
}

/** In the provider's tokens. */
function costOf(history: History, choice: Choice): number {
  const { fixedTokens, turnTokens, header, ratio } = history;
  return (fixedTokens + turnTokens + (header?.tokens ?? 0) + sumOf(chosen(history, choice))) * ratio;
}

/**
 * Throws `payload_too_large` when the parts that are never omitted exceed the window: instructions, tools, summary, and
 * the newest message.
 */
export function assertFits(history: History): void {
  windowFor(history);
}

/** The chosen messages as they are sent. Throws as `assertFits`. */
export function fitChoice(history: History, choice: Choice): FittedContext {
  const { header, fixedTokens, ratio } = history;
  const entries = chosen(history, choice);
  const window = windowFor(history);
  const first = header === undefined ? [] : [header];
  const tokens = [...first, ...entries].reduce((sum, entry) => sum + entry.tokens, fixedTokens);
  let actual = ratio;
  let asked = 0;
  const sizes = new WeakMap<ChatMessage, number>();
  const tokensOf = (message: ChatMessage): number => {
    const known = sizes.get(message) ?? estimateMessage(message);
    sizes.set(message, known);
    return known;
  };
  return {
    history: [...first, ...entries].map((entry) => entry.prompt).join(','),
    tokens: Math.ceil(tokens * ratio),
    maxOutputTokens: window.maxOutputTokens,
    header,
    sent: entries.map(({ id, isPruned }) => ({ id, isPruned })),
    withFiles: withFiles(header, entries, ratio),
    ratio,
    fitTurn(messages, counted) {
      // Corrects the ratio by the provider's count of the last request if that is higher than expected.
      if (counted !== undefined && asked > 0) actual = Math.max(actual, Math.min(counted / asked, mostPerToken));
      const room = Math.max(Math.floor(window.room / actual) - tokens, 0);
      const fitted = shrinkToolResults(messages, room, tokensOf);
      asked = fitted.reduce((sum, message) => sum + tokensOf(message), tokens);
      return fitted;
    },
  };
}

function withFiles(header: Header | undefined, entries: readonly Entry[], ratio: number): FittedContext['withFiles'] {
  const request = header && { id: header.firstId, tokens: header.requestTokens, fileTokens: header.fileTokens };
  return [...(request ? [request] : []), ...entries].flatMap(({ id, tokens, fileTokens = 0 }) =>
    fileTokens > 0 ? [{ id, tokens: Math.ceil(tokens * ratio), files: Math.ceil(fileTokens * ratio) }] : [],
  );
}

/** Shrinks the answer for a long message, down to a share of the window. */
function windowFor({ entries, window, fixedTokens, header, ratio }: History): Window {
  const message = (entries.at(-1)?.tokens ?? 0) * ratio;
  const needed = Math.ceil((fixedTokens + (header?.tokens ?? 0)) * ratio + message);
  if (needed <= window.room) return window;
  const { contextWindow, margin } = window;
  const leastOutput = Math.min(window.maxOutputTokens, Math.ceil(contextWindow * leastOutputShare));
  const most = contextWindow - margin - leastOutput;
  if (needed <= most) return { ...window, room: needed, maxOutputTokens: contextWindow - margin - needed };
  throw tooLong(Math.ceil(message), Math.max(Math.floor(most - (needed - message)), 0));
}

function tooLong(tokens: number, room: number): ApiError {
  const what =
    room === 0
      ? 'The instructions and tools take up the whole context window of this model. Use fewer tools, shorten the instructions'
      : `This message has about ${tokens} tokens with its files, and this model has room for ${room}. Shorten it`;
  return new ApiError('payload_too_large', `${what}, or choose a model with a larger context window.`, {
    details: { reason: 'context_window', tokens, room },
  });
}
