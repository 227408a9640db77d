import type { Usage } from '@homeport/contracts/chat/frames';
import { ApiError } from '@homeport/contracts/errors';
import type { BlobStore } from '../../artifacts/blob-store.ts';
import type { Pictures } from '../../artifacts/pictures/pictures.ts';
import { readBranchNewestFirst } from '../../conversations/branches.ts';
import type { Documents } from '../../documents/documents.ts';
import { yieldEvery } from '../../platform/concurrency/yield-every.ts';
import { estimateTokens } from '../../platform/text-tokens.ts';
import { within } from '../../platform/waits.ts';
import type { Platform } from '../../platform.ts';
import type { Claimed } from '../ledger/response-start.ts';
import { standInReasonOf } from '../model/failures/stand-in-reason.ts';
import type { CompletionResult } from '../model/protocol.ts';
import {
  linesOfPrompt,
  piecesOf,
  type SummaryRequest,
  sourceTokens,
  summaryOf,
  summaryRequest,
} from '../turn/compaction.ts';
import {
  type ContextMessage,
  type Header,
  type History,
  headerOf,
  planWithout,
  toEntry,
} from '../turn/context-history.ts';
import {
  assertFits,
  type Choice,
  chooseCut,
  choosePruning,
  chooseTail,
  type FittedContext,
  fitChoice,
  isWithin,
  isWorthSummary,
  keepAll,
} from '../turn/context-window.ts';
import { documentRoom, noDocumentRoom } from './prepare/attached-documents.ts';
import { withAttachments } from './prepare/attachments.ts';
import { countFailure, type WrittenStart, writePruning, writeStart } from './summaries.ts';

/**
 * Before an answer: shrinks a conversation that fills the window, and stores how, so that its beginning stays the same.
 */

type Needs = Pick<Platform, 'clock' | 'config' | 'db' | 'log'> & {
  artifactStore: BlobStore;
  documents: Documents;
  pictures: Pictures;
};
export type Turn = Pick<Claimed, 'response' | 'context'>;

export type ContextHooks = {
  /** Asks the model of the turn, without tools. */
  ask: (request: SummaryRequest, signal: AbortSignal) => Promise<Pick<CompletionResult, 'usage'> & { text: string }>;
  /** A stand-in answers if this model cannot be asked, so its failure ends the turn instead of shortening the context. */
  isReplaceable?: boolean;
  /** Called when a summary starts, and with its outcome. */
  onStep: (state: 'started' | 'done' | 'failed') => void;
  /** Called with a summary's token counts. */
  onUsage: (usage: Usage) => void;
};

const branchPageSize = 50;
const askTimeoutMs = 300_000;
/** Turns that stay unchanged when a person asks for a summary. */
const askedTurns = 2;

/** The share of the room above which a conversation is shrunk. */
export function limitShareOf({ config }: Pick<Platform, 'config'>, { context }: Pick<Turn, 'context'>): number {
  return isOn(config, context) ? config.compactionAt / 100 : 1;
}

function isOn({ compactionAt }: Platform['config'], { autoCompaction }: Turn['context']): boolean {
  return autoCompaction && compactionAt > 0;
}

/** Which part of the history the model gets. Throws if what must be sent does not fit, or if it was stopped. */
export async function chooseContext(
  deps: Needs,
  turn: Turn,
  history: History,
  hooks: ContextHooks,
  signal: AbortSignal,
): Promise<FittedContext> {
  assertFits(history);
  if (isWithin(history, limitShareOf(deps, turn))) return fitChoice(history, keepAll);
  if (isOn(deps.config, turn.context)) {
    const smaller = (await pruned(deps, turn, history)) ?? (await compacted(deps, turn, history, hooks, signal));
    if (smaller !== undefined) return smaller;
  }
  return isWithin(history, 1) ? fitChoice(history, keepAll) : cut(deps, turn, history, signal);
}

async function pruned(deps: Needs, { response }: Turn, history: History): Promise<FittedContext | undefined> {
  const choice = choosePruning(history);
  const upToId = choice === undefined ? undefined : idBefore(history, choice.pruneBefore);
  if (choice === undefined || upToId === undefined) return undefined;
  if (!(await writePruning(deps.db.kysely, response, upToId))) throw leaseLost();
  return fitChoice(history, choice);
}

async function compacted(
  deps: Needs,
  turn: Turn,
  history: History,
  hooks: ContextHooks,
  signal: AbortSignal,
): Promise<FittedContext | undefined> {
  const tail = chooseTail(history);
  const upToId = tail === undefined ? undefined : idBefore(history, tail.keepFrom);
  if (tail === undefined || upToId === undefined || !isWorthSummary(history, tail)) return undefined;
  hooks.onStep('started');
  let text: string;
  try {
    text = await summarize(deps, turn, { upToId, history }, hooks, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (hooks.isReplaceable === true && error instanceof ApiError && standInReasonOf(error) !== undefined) throw error;
    deps.log.warn({ cause: error, chatId: turn.response.chat_id }, 'failed to summarize a conversation');
    await countFailure(deps.db.kysely, turn.response);
    hooks.onStep('failed');
    return undefined;
  }
  const smaller = await begunAt(deps, turn, history, { choice: tail, upToId, text }, signal);
  hooks.onStep('done');
  return smaller;
}

/**
 * Summarizes everything before the last turns because a person asked for it; if there is nothing, the newest summary is
 * made again. Throws `invalid_request` if there is none.
 */
export async function compactRequested(
  deps: Needs,
  turn: Turn,
  history: History,
  hooks: ContextHooks,
  signal: AbortSignal,
): Promise<void> {
  const { header } = history;
  const last = header?.summary ?? undefined;
  const tail = chooseTail(history, askedTurns) ?? (last === undefined ? chooseTail(history, 1) : undefined);
  const upToId = tail === undefined ? last?.upToId : idBefore(history, tail.keepFrom);
  if (upToId === undefined) throw nothingToSummarize();
  hooks.onStep('started');
  const again = tail === undefined ? last?.id : undefined;
  const { focus } = turn.response.decision;
  const text = await summarize(deps, turn, { upToId, history, again, focus }, hooks, signal);
  const written = await writeStart(deps.db.kysely, turn.response, {
    upToId,
    text,
    firstId: header === undefined || header.firstId === '' ? undefined : header.firstId,
    contextStartId: turn.context.contextStartMessageId,
    isRequested: true,
  });
  if (written === undefined) throw leaseLost();
  hooks.onStep('done');
}

function nothingToSummarize(): ApiError {
  const message = 'This conversation is too short to be summarized.';
  return new ApiError('invalid_request', message, { details: [{ path: 'id', message }] });
}

async function cut(deps: Needs, turn: Turn, history: History, signal: AbortSignal): Promise<FittedContext> {
  const choice = chooseCut(history);
  const upToId = idBefore(history, choice.keepFrom);
  if (upToId === undefined) return fitChoice(history, choice);
  return begunAt(deps, turn, history, { choice, upToId }, signal);
}

/** Stores that the context begins after that message, and returns what is sent then. */
async function begunAt(
  deps: Needs,
  turn: Turn,
  history: History,
  { choice, upToId, text }: { choice: Choice; upToId: string; text?: string },
  signal: AbortSignal,
): Promise<FittedContext> {
  const { header } = history;
  const written = await writeStart(deps.db.kysely, turn.response, {
    upToId,
    text,
    baseId: text === undefined ? header?.summary?.id : undefined,
    firstId: header === undefined || header.firstId === '' ? undefined : header.firstId,
    pruneUpToId: choice.pruneBefore > choice.keepFrom ? idBefore(history, choice.pruneBefore) : undefined,
    contextStartId: turn.context.contextStartMessageId,
  });
  if (written === undefined) throw leaseLost();
  const summary = text === undefined ? (header?.summary ?? null) : { id: written.id, upToId, text: written.text };
  const begun: Header = headerOf(
    { upToId, summary },
    await firstOf(deps, turn, written.first, history.window.room, signal),
    history.window,
    planWithout(history.plan, history.entries.slice(choice.keepFrom)),
  );
  return fitChoice({ ...history, header: begun }, choice);
}

/** The first request with its files, as later turns read it. */
async function firstOf(
  deps: Needs,
  { response }: Turn,
  first: WrittenStart['first'],
  room: number,
  signal: AbortSignal,
): Promise<{ id: string; prompt: string }> {
  if (first === null) return { id: '', prompt: '' };
  const message: ContextMessage = { ...first, role: 'user', usage: null, isPruned: false, start: null };
  const filled = withAttachments(
    deps,
    response.owner_id,
    ReadableStream.from([message]),
    signal,
    documentRoom(room, false),
  );
  for await (const read of filled) return toEntry(read);
  return { id: '', prompt: '' };
}

/** The text that replaces the messages up to that one, and the summary before them. */
async function summarize(
  deps: Needs,
  { response, context }: Turn,
  what: { upToId: string; history: History; again?: string; focus?: string },
  hooks: Pick<ContextHooks, 'ask' | 'onUsage'>,
  signal: AbortSignal,
): Promise<string> {
  const { window, ratio } = what.history;
  const branch = readBranchNewestFirst(deps.db, {
    chatId: response.chat_id,
    leafId: what.upToId,
    stopBeforeId: context.contextStartMessageId,
    pageSize: branchPageSize,
    forSummary: { again: what.again ?? null },
  });
  const newestFirst: string[][] = [];
  const breath = yieldEvery();
  let summary: string | undefined;
  let tokens = 0;
  for await (const message of withAttachments(deps, response.owner_id, branch, signal, noDocumentRoom(), 0)) {
    summary = message.start?.summary?.text;
    if (message.start !== null) break;
    const entry = toEntry(message);
    const lines = linesOfPrompt(entry.prompt);
    newestFirst.push(lines);
    tokens += lines.reduce((sum, line) => sum + estimateTokens(line), 0);
    await breath.after(entry.prompt.length);
    if (tokens > sourceTokens(window)) break;
  }
  for (const piece of piecesOf(newestFirst.toReversed().flat(), what.focus, window, ratio)) {
    const request = summaryRequest(piece, summary, what.focus, window);
    const limit = {
      clock: deps.clock,
      milliseconds: askTimeoutMs,
      signal,
      tooLate: noSummary,
    };
    const answer = await within(limit, (own) => hooks.ask(request, own));
    if (answer.usage !== undefined) hooks.onUsage(answer.usage);
    summary = summaryOf(answer.text, window);
    if (summary === undefined) throw noSummary();
  }
  if (summary === undefined) throw noSummary();
  return summary;
}

function noSummary(): ApiError {
  return new ApiError('provider_error', 'The model wrote no summary. Try again, or choose another model.');
}

function idBefore({ entries }: History, index: number): string | undefined {
  return entries[index - 1]?.id;
}

/** Another replica has the response now, so the output of this one is discarded. */
function leaseLost(): Error {
  return new Error('the response is made elsewhere');
}
