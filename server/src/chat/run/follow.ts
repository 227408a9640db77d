import type { Frame } from '@homeport/contracts/chat/frames';
import { framesOfParts } from '@homeport/contracts/chat/part-frames';
import { readMessage } from '../../conversations/messages.ts';
import type { Database } from '../../db/pool.ts';
import type { Platform } from '../../platform.ts';
import { isContinuedText } from '../ledger/handover.ts';
import { doneEvent, parseLines, sequence, toEvent, unseen } from '../log/frame-sequence.ts';
import type { FollowerSink } from '../log/response-log.ts';
import type { Signal } from '../log/signals.ts';
import { errorFrame } from './message-error.ts';
import type { RunningResponses } from './running-responses.ts';

/** Receiver of a response's events, with its connection state. */
export type Follower = FollowerSink & { readonly closed: boolean };

type Following = Pick<Platform, 'db' | 'clock'> & { responses: RunningResponses };

/** A lost signal costs a follower at most this long. */
const pollMs = 1_000;
const rowsPerRead = 200;

/**
 * Sends the response's frames after `after` until it ends: from this replica's memory if it runs here, otherwise from
 * the log in the database. Resolves once the follower is attached or, for another replica's response, when it ends.
 * `leave` stops only this follower.
 */
export async function followResponse(
  deps: Following,
  responseId: string,
  after: number,
  follower: Follower,
  left: AbortSignal,
): Promise<void> {
  if (left.aborted) return;
  const run = deps.responses.find(responseId);
  if (run !== undefined && !run.log.isCut) {
    const leave = run.log.follow(follower, after);
    left.addEventListener('abort', leave, { once: true });
    return;
  }
  await followStored(deps, responseId, after, follower, left);
}

type StoredResponse = {
  state: string;
  is_continued: boolean;
  generation: number;
  last_seq: number;
  end_frames: string | null;
};

async function followStored(
  deps: Following,
  responseId: string,
  after: number,
  follower: Follower,
  left: AbortSignal,
): Promise<void> {
  let seen = after;
  const wake = new Wake(deps, responseId, left);
  try {
    // A stopping replica cuts the stream between two events, so that followers miss none when they reconnect elsewhere.
    while (!left.aborted && !deps.responses.draining) {
      const woken = wake.next();
      // Read before the rows: these are complete once the state says that the response has ended.
      const response = await readResponse(deps.db, responseId);
      if (response === undefined) break;
      const sent = await sendRows(deps.db, responseId, response.generation, seen, follower);
      seen = sent.seen;
      if (sent.more) continue;
      if (response.state !== 'running' && !response.is_continued) {
        follower.end(endEvents(response, seen) + doneEvent);
        return;
      }
      await woken;
    }
    follower.end('');
  } finally {
    wake.stop();
  }
}

async function readResponse(db: Database, id: string): Promise<StoredResponse | undefined> {
  const { rows } = await db.pool.query<StoredResponse>({
    name: 'follow-response',
    text: `select state, generation, last_seq, end_frames, ${isContinuedText} as is_continued from responses where id = $1`,
    values: [id],
  });
  return rows[0];
}

async function sendRows(
  db: Database,
  id: string,
  generation: number,
  after: number,
  follower: Follower,
): Promise<{ seen: number; more: boolean }> {
  const { rows } = await db.pool.query<{ seq_from: number; seq_to: number; frames: string }>({
    name: 'follow-frames',
    text: `select seq_from, seq_to, frames from response_frames
      where response_id = $1 and generation = $2 and seq_to > $3 order by seq_from limit ${rowsPerRead}`,
    values: [id, generation, after],
  });
  let events = '';
  let seen = after;
  for (const row of rows) {
    for (const entry of sequence(parseLines(row.frames), row.seq_from)) {
      const rest = unseen(entry, after);
      if (rest !== undefined) events += toEvent(rest.frame, rest.to);
    }
    seen = row.seq_to;
  }
  if (events !== '') follower.write(events);
  return { seen, more: rows.length === rowsPerRead };
}

function endEvents(response: StoredResponse, after: number): string {
  const frames = parseLines(response.end_frames ?? '');
  const length = sequence(frames, 0).at(-1)?.to ?? 0;
  return sequence(frames, response.last_seq - length)
    .map((entry) => unseen(entry, after))
    .map((rest) => (rest === undefined ? '' : toEvent(rest.frame, rest.to)))
    .join('');
}

/** Wakes a follower on signals about its response, on disconnecting, and once a second. */
class Wake {
  readonly #deps: Following;
  readonly #left: AbortSignal;
  readonly #off: () => void;
  #resolve: (() => void) | undefined;

  constructor(deps: Following, responseId: string, left: AbortSignal) {
    this.#deps = deps;
    this.#left = left;
    this.#off = deps.responses.signals.on((signal: Signal) => {
      if ((signal.kind === 'frames' || signal.kind === 'ended') && signal.ids.includes(responseId)) this.#resolve?.();
    });
  }

  /** Armed before the read, so that a signal during it is not lost. */
  next(): Promise<void> {
    const cancel = new AbortController();
    const signalled = new Promise<void>((resolve) => {
      this.#resolve = resolve;
    });
    const timeout = this.#deps.clock.sleep(pollMs, AbortSignal.any([this.#left, cancel.signal])).catch(() => undefined);
    return Promise.race([signalled, timeout]).then(() => cancel.abort());
  }

  stop(): void {
    this.#off();
    this.#resolve?.();
  }
}

/** The whole stream of an ended response, from its message. */
export async function readReplay(deps: Pick<Platform, 'db'>, messageId: string): Promise<string> {
  const message = await readMessage(deps.db.kysely, messageId);
  const frames: Frame[] = [{ type: 'start', messageId }, ...framesOfParts(message.parts)];
  if (message.status === 'stopped') frames.push({ type: 'abort', reason: 'stopped' });
  if (message.error !== undefined) frames.push(errorFrame(message.error));
  frames.push({
    type: 'finish',
    finishReason: message.error === undefined ? 'stop' : 'error',
    messageMetadata: {
      status: message.status,
      modelId: message.modelId,
      usage: message.usage,
      assistant: message.assistant,
      error: message.error,
      finishReason: message.finish.reason,
      finishDetail: message.finish.detail,
    },
  });
  const events = sequence(frames, 0).map((entry) => toEvent(entry.frame, entry.to));
  return events.join('') + doneEvent;
}
