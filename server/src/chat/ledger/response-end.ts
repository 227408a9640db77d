import type { Frame, MessagePart, Usage } from '@homeport/contracts/chat/frames';
import { finishParts } from '@homeport/contracts/chat/message-assembly';
import { type RawBuilder, sql } from 'kysely';
import { touchingChat } from '../../conversations/chats.ts';
import { finishingMessage, readParts } from '../../conversations/messages.ts';
import { bound, inTransaction, lastly, type Queryable, togetherLastly } from '../../db/pool.ts';
import { onFoundRow } from '../../db/row-lookup.ts';
import type { ResponseState } from '../../db/tables/chat.ts';
import type { Platform } from '../../platform.ts';
import { countingCalls, type LedgerRow } from '../../usage/ledger.ts';
import { sequence, toLines } from '../log/frame-sequence.ts';
import { insertingFrames } from '../log/frame-store.ts';
import type { PendingRow } from '../log/response-log.ts';
import { notifying } from '../log/signals.ts';
import type { HistoryState } from '../model/reasoning-state.ts';
import type { AnswerEnd } from '../turn/answer-end.ts';
import { voidingApprovals } from './approvals.ts';
import { findingNext, startingAtOnce } from './inputs.ts';
import type { ResponseRow } from './response-start.ts';
import { type StoredMessageColumns, storeMessage } from './stored-message.ts';

/**
 * How responses end in the database. Every write is fenced by generation and state: a replica that lost its lease
 * changes nothing.
 */

export type EndState = Exclude<ResponseState, 'running'>;

export type ResponseEnd = {
  state: EndState;
  /** Undefined: the stored parts stay. */
  parts: MessagePart[] | undefined;
  /** State of the steps that goes with the history. */
  historyState?: HistoryState | undefined;
  error?: { code: string; message: string } | undefined;
  finish?: AnswerEnd;
  usage?: Usage;
  modelId?: string;
  /** The frames that end the stream, without `data-next`. */
  frames: Frame[];
  /** The sequence number before those frames, and the rows up to there that are not yet stored. */
  seq: number;
  pending?: PendingRow;
  /** Calls of models that are not counted yet. */
  calls?: readonly LedgerRow[];
  /** True when another replica continues it. */
  handsOver?: boolean;
};

export type EndedResponse = { endFrames: Frame[]; next: { messageId: string; assistantId: string } | undefined };

/** Ends a running response with message, usage and state in one transaction; undefined if it is no longer ours. */
export async function endResponse(
  deps: Pick<Platform, 'db'>,
  response: Pick<ResponseRow, 'id' | 'chat_id' | 'generation'>,
  end: ResponseEnd,
): Promise<EndedResponse | undefined> {
  const stored = end.parts === undefined ? undefined : await storeMessage('assistant', end.parts, end.historyState);
  return inTransaction(deps.db, async (trx) => {
    // If it is missing, the conversation was deleted, and the response with it.
    const locking = trx.selectFrom('chats').select('id').where('id', '=', response.chat_id).forNoKeyUpdate();
    if (stored !== undefined) {
      const statement = bound(trx, ending(deps, response, { end, stored }));
      const [, rows] = await togetherLastly(trx, [locking, statement]);
      return endedBy(rows, end);
    }
    await locking.execute();
    return endLocked(deps, trx, response, end);
  });
}

/** With the chat row locked; the transaction's last work. */
export async function endLocked(
  deps: Pick<Platform, 'db'>,
  trx: Queryable,
  response: Ending,
  end: ResponseEnd,
): Promise<EndedResponse | undefined> {
  const parts =
    end.parts ?? finishParts(await readParts(trx, response.id), { keepsApprovals: end.state === 'interrupted' });
  const stored = await storeMessage('assistant', parts, end.historyState);
  return endedBy(await lastly(trx, bound(trx, ending(deps, response, { end, stored }))), end);
}

type Ending = Pick<ResponseRow, 'id' | 'chat_id' | 'generation'>;
type EndedRow = { id: string | null; assistant_id: string | null };

/** Undefined if it was no longer ours to end. */
function endedBy([row]: readonly EndedRow[], end: ResponseEnd): EndedResponse | undefined {
  if (row === undefined) return undefined;
  if (row.id === null || row.assistant_id === null) return { endFrames: end.frames, next: undefined };
  const next = { messageId: row.id, assistantId: row.assistant_id };
  return { endFrames: [...end.frames, { type: 'data-next', transient: true, data: next }], next };
}

/**
 * The statement that ends a response, with everything that belongs to it; it does nothing if the response is no longer
 * ours. It finds the next input, which a lock of the chat row before it guarantees.
 */
function ending(
  deps: Pick<Platform, 'db'>,
  response: Ending,
  { end, stored }: { end: ResponseEnd; stored: StoredMessageColumns },
): RawBuilder<EndedRow> {
  const sequenced = sequence(end.frames, end.seq);
  const keepsApprovals = end.state === 'interrupted';
  const message = {
    id: response.id,
    chatId: response.chat_id,
    ...stored,
    status: end.state,
    error: end.error,
    ...(end.finish === undefined ? {} : { finish: end.finish }),
    usage: end.usage,
    modelId: end.modelId,
  };
  const isEnded = sql`exists (select from ended)`;
  // `data-next` comes last and advances the sequence by one, as every frame except deltas.
  return sql<EndedRow>`
    with next as (${findingNext(response.chat_id)}), ended as (
      update responses set state = ${end.state}, ended_at = now(), handed_over = ${end.handsOver === true},
        echoes = ${canContinue(end) ? sql`echoes` : sql`null`},
        last_seq = ${sequenced.at(-1)?.to ?? end.seq}::bigint + (select count(*) from next),
        end_frames = ${toLines(sequenced)}::text || coalesce((select E'\n' || json_build_object('type', 'data-next', 'transient', true,
          'data', json_build_object('messageId', next.id, 'assistantId', next.assistant_id)) from next), '')
      where id = ${response.id} and generation = ${response.generation} and ${onFoundRow(sql`state = 'running'`)}
      returning id
    ), logged as (${insertingFrames(response, end.pending, isEnded)}),
    finished as (${finishingMessage(message, isEnded)}),
    voided as (${voidingApprovals(response.id, keepsApprovals ? sql`live and ${isEnded}` : isEnded)}),
    touched as (${touchingChat(response.chat_id, isEnded)}),
    begun as (${startingAtOnce(isEnded)}), ${countingCalls(end.calls ?? [])}
    select ${notifying(deps.db, 'ended', response.id)}, next.id, next.assistant_id from ended left join next on true`;
}

/** An answer that was cut can be continued, with the state that its model wants back. */
function canContinue({ state, finish }: ResponseEnd): boolean {
  return state !== 'complete' || finish?.reason === 'length';
}

/** Why a response that waits for approval has ended for now. */
export const parkedError = {
  code: 'interrupted',
  message: 'This answer is waiting for you to allow or deny a tool.',
};

export const questionError = { ...parkedError, message: 'This answer is waiting for your answer to its questions.' };
