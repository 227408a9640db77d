import type { Frame, MessagePart, Usage } from '@homeport/contracts/frames';
import { createMessageAssembler, finishParts, type MessageAssembler } from '@homeport/contracts/message-assembly';
import { type RawBuilder, sql } from 'kysely';
import { touchingChat } from '../../conversations/chats.ts';
import { finishingMessage, readParts, savingParts } from '../../conversations/messages.ts';
import { bound, inTransaction, lastly, type Queryable, togetherLastly } from '../../db/pool.ts';
import type { ResponseState } from '../../db/tables.ts';
import type { Platform } from '../../platform.ts';
import { budgetResetsAt } from '../../usage/budget-rule.ts';
import { countingCalls, type LedgerRow } from '../../usage/ledger.ts';
import { promptOf } from '../turn/prompt.ts';
import { waitingCalls } from '../turn/waiting-calls.ts';
import { dropQuestionsBut, voidingApprovals } from './approvals.ts';
import type { Maker, ResponseRow } from './claims.ts';
import { parseLines, sequence, toLines } from './frame-sequence.ts';
import { dropCopiesStatement, findingNext, startingAtOnce } from './inputs.ts';
import { interruptedCall } from './interrupted-call.ts';
import type { PendingRow } from './response-log.ts';
import { idsPerSignal, notify, signalChannel, telling } from './signals.ts';

/**
 * How responses live and end in the database. Every write is fenced by generation and state: a replica that lost its
 * lease changes nothing. Only this file writes `response_frames`.
 */

export type EndState = Exclude<ResponseState, 'running'>;

export type ResponseEnd = {
  state: EndState;
  /** Undefined: what is stored stays. */
  parts: MessagePart[] | undefined;
  error?: { code: string; message: string } | undefined;
  usage?: Usage | undefined;
  modelId?: string | undefined;
  /** The frames that end the stream, without `data-next`. */
  frames: Frame[];
  /** The sequence number before those frames, and the rows up to there that are not yet stored. */
  seq: number;
  pending?: PendingRow | undefined;
  /** Calls of models that are not counted yet. */
  calls?: readonly LedgerRow[] | undefined;
  /** Another replica goes on with it. */
  handsOver?: boolean | undefined;
};

export type EndedResponse = { endFrames: Frame[]; next: { messageId: string; assistantId: string } | undefined };

/** Ends a running response with message, usage and state in one transaction; undefined if it is no longer ours. */
export async function endResponse(
  deps: Pick<Platform, 'db'>,
  response: Pick<ResponseRow, 'id' | 'chat_id' | 'generation'>,
  end: ResponseEnd,
): Promise<EndedResponse | undefined> {
  return inTransaction(deps.db, async (trx) => {
    // If it is missing, the conversation was deleted, and the response with it.
    const locking = trx.selectFrom('chats').select('id').where('id', '=', response.chat_id).forNoKeyUpdate();
    if (end.parts !== undefined) {
      const statement = bound(trx, ending(deps, response, { ...end, parts: end.parts }));
      const [, rows] = await togetherLastly(trx, [locking, statement]);
      return endedBy(rows, end);
    }
    await locking.execute();
    return endLocked(deps, trx, response, end);
  });
}

/** With the chat row locked; the transaction's last work. */
async function endLocked(
  deps: Pick<Platform, 'db'>,
  trx: Queryable,
  response: Ending,
  end: ResponseEnd,
): Promise<EndedResponse | undefined> {
  const parts =
    end.parts ?? finishParts(await readParts(trx, response.id), { keepsApprovals: end.state === 'interrupted' });
  return endedBy(await lastly(trx, bound(trx, ending(deps, response, { ...end, parts }))), end);
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
  end: ResponseEnd & { parts: MessagePart[] },
): RawBuilder<EndedRow> {
  const { parts } = end;
  const sequenced = sequence(end.frames, end.seq);
  const keepsApprovals = end.state === 'interrupted';
  const message = {
    id: response.id,
    chatId: response.chat_id,
    parts: JSON.stringify(parts),
    status: end.state,
    error: end.error,
    usage: end.usage,
    modelId: end.modelId,
    ...promptOf('assistant', parts),
  };
  const isEnded = sql`exists (select from ended)`;
  // `data-next` comes last and advances the sequence by one, as every frame that is no delta.
  return sql<EndedRow>`
    with next as (${findingNext(response.chat_id)}), ended as (
      update responses set state = ${end.state}, ended_at = now(), handed_over = ${end.handsOver === true},
        echoes = ${end.state === 'complete' ? sql`null` : sql`echoes`},
        last_seq = ${sequenced.at(-1)?.to ?? end.seq}::bigint + (select count(*) from next),
        end_frames = ${toLines(sequenced)}::text || coalesce((select E'\n' || json_build_object('type', 'data-next', 'transient', true,
          'data', json_build_object('messageId', next.id, 'assistantId', next.assistant_id)) from next), '')
      where id = ${response.id} and generation = ${response.generation} and state = 'running' returning id
    ), logged as (${insertingFrames(response, end.pending, isEnded)}),
    finished as (${finishingMessage(message, isEnded)}),
    voided as (${voidingApprovals(response.id, keepsApprovals ? sql`live and ${isEnded}` : isEnded)}),
    touched as (${touchingChat(response.chat_id, isEnded)}),
    begun as (${startingAtOnce(isEnded)}), ${countingCalls(end.calls ?? [])}
    select ${telling(deps.db, 'ended', response.id)}, next.id, next.assistant_id from ended left join next on true`;
}

/** A write whose acknowledgement was lost is repeated with what came since: the longer row is the complete one. */
const keepLonger = `on conflict (response_id, generation, seq_from)
  do update set seq_to = excluded.seq_to, frames = excluded.frames where excluded.seq_to > stored.seq_to`;

function insertingFrames(
  response: Pick<ResponseRow, 'id' | 'generation'>,
  row: PendingRow | undefined,
  condition: RawBuilder<unknown>,
): RawBuilder<unknown> {
  if (row === undefined) return sql`select 1`;
  return sql`
    insert into response_frames as stored (response_id, generation, seq_from, seq_to, frames)
    select ${response.id}, ${response.generation}::int, ${row.seqFrom}::bigint, ${row.seqTo}::bigint, ${row.frames}
    where ${condition} ${sql.raw(keepLonger)}`;
}

const mine = `with batch as (
    select * from unnest($1::text[], $2::int[], $3::bigint[], $4::bigint[], $5::text[])
      as b (response_id, generation, seq_from, seq_to, frames)
  ), settings as (select set_config('synchronous_commit', 'off', true)),
  mine as (
    select b.* from batch b, settings
    join responses r on true
    where r.id = b.response_id and r.generation = b.generation and r.state = 'running'
  ), stored as (
    insert into response_frames as stored select * from mine ${keepLonger}
  )`;
const storing = { name: 'store-frames', text: `${mine} select response_id from mine` };
const storingAndTelling = {
  name: 'store-and-tell-frames',
  text: `${mine}, told as (
      select pg_notify('${signalChannel}', 'frames:' || string_agg(response_id, ','))
      from (select response_id, (row_number() over () - 1) / ${idsPerSignal} as part from mine) as numbered group by part
    )
    select response_id, (select count(*) from told) from mine`,
};

export type LogBatch = { id: string; generation: number; row: PendingRow };

/**
 * Stores what all running responses of this replica have produced since the last tick, in one statement. Resolves with
 * the ids that are still this replica's; the others have lost their lease. A crash of the database may cost one tick of
 * frames, so the commit does not wait for the disk.
 */
export async function storeFrames(deps: Pick<Platform, 'db'>, batch: readonly LogBatch[]): Promise<Set<string>> {
  const { rows } = await deps.db.pool.query<{ response_id: string }>({
    ...(deps.db.alone ? storing : storingAndTelling),
    values: [
      batch.map((entry) => entry.id),
      batch.map((entry) => entry.generation),
      batch.map((entry) => entry.row.seqFrom),
      batch.map((entry) => entry.row.seqTo),
      batch.map((entry) => entry.row.frames),
    ],
  });
  return new Set(rows.map((row) => row.response_id));
}

/**
 * Stores a running message's complete parts and counts calls; a replica that lost its lease stores no parts. Resolves with
 * until when the owner's budget is used up by what was counted before.
 */
export async function saveCheckpoint(
  deps: Pick<Platform, 'db'>,
  response: Pick<ResponseRow, 'id' | 'generation'>,
  { parts, calls }: { parts: readonly MessagePart[]; calls: readonly LedgerRow[] },
): Promise<{ budgetResetsAt: Date | null }> {
  const message = { id: response.id, generation: response.generation, parts: JSON.stringify(parts) };
  const { rows } = await sql<{ budgetResetsAt: Date | null }>`
    with saved as (${savingParts(message)}), ${countingCalls(calls)}
    select ${sql.raw(budgetResetsAt('r.owner_id'))} as "budgetResetsAt" from responses r where r.id = ${response.id}`.execute(
    deps.db.kysely,
  );
  return rows[0] ?? { budgetResetsAt: null };
}

/** Stores what the model wants back of a running response. */
export async function saveEchoes(
  deps: Pick<Platform, 'db'>,
  response: Pick<ResponseRow, 'id' | 'generation'>,
  echoes: string,
): Promise<void> {
  await deps.db.kysely
    .updateTable('responses')
    .set({ echoes })
    .where('id', '=', response.id)
    .where('generation', '=', response.generation)
    .where('state', '=', 'running')
    .execute();
}

/** Renews leases; resolves with the generations that are still held. */
export async function renewLeases(
  deps: Pick<Platform, 'db'>,
  ids: readonly string[],
  maker: Maker,
): Promise<Map<string, number>> {
  const { rows } = await deps.db.pool.query<{ id: string; generation: number }>({
    name: 'renew-leases',
    text: `update responses set lease_until = now() + $3 * interval '1 millisecond'
      where id = any($1) and replica = $2 and state = 'running' returning id, generation`,
    values: [ids, maker.replica, maker.leaseMs],
  });
  return new Map(rows.map((row) => [row.id, row.generation]));
}

/**
 * Which of a replica's responses must stop, with their generations: by request, or because the owner's account was
 * disabled. One whose conversation was deleted has none.
 */
export async function findToStop(
  deps: Pick<Platform, 'db'>,
  replica: string,
  ids: readonly string[],
): Promise<Map<string, number | null>> {
  const { rows } = await deps.db.pool.query<{ id: string; generation: number | null }>({
    name: 'find-to-stop',
    text: `select made.id, r.generation from unnest($2::text[]) made (id)
      left join responses r on r.id = made.id left join users u on u.id = r.owner_id
      where r.id is null or r.state = 'running' and r.replica = $1 and (r.stop_requested or not u.enabled)`,
    values: [replica, ids],
  });
  return new Map(rows.map((row) => [row.id, row.generation]));
}

/**
 * Asks the replica that makes the running response to stop; resolves with its id. With `assistantId` it stops no other.
 */
export async function requestStop(
  deps: Pick<Platform, 'db'>,
  chatId: string,
  assistantId: string | undefined,
): Promise<string | undefined> {
  return inTransaction(deps.db, async (trx) => {
    const query = trx
      .updateTable('responses')
      .set({ stop_requested: true })
      .where('chat_id', '=', chatId)
      .where('state', '=', 'running');
    const row = await (assistantId === undefined ? query : query.where('id', '=', assistantId))
      .returning('id')
      .executeTakeFirst();
    if (row === undefined) return undefined;
    await notify(trx, 'stop', [row.id]);
    return row.id;
  });
}

/** Why a response that waits for approval has ended for now. */
export const parkedError = {
  code: 'interrupted',
  message: 'This answer is waiting for you to allow or deny a tool.',
};

export const questionError = { ...parkedError, message: 'This answer is waiting for your answer to its questions.' };

export const interruptedError = {
  code: 'interrupted',
  message: 'The answer was interrupted because the service stopped. Continue it, or ask again.',
};

/**
 * Ends abandoned responses as `interrupted`: those whose lease has expired. `orphans` means all running ones, when an
 * installation with a single replica starts; `but` is what the caller still holds. Resolves with the conversations
 * concerned; one failure does not block the others, and is thrown at the end.
 */
export async function interruptExpired(
  deps: Pick<Platform, 'db'>,
  where: { chatId?: string; orphans?: boolean; but?: readonly string[] } = {},
): Promise<string[]> {
  const orphans = where.orphans === true;
  let query = deps.db.kysely
    .selectFrom('responses')
    .select(['id', 'chat_id', 'owner_id', 'generation', 'first_seq'])
    .where('state', '=', 'running');
  if (!orphans) query = query.where('lease_until', '<', sql<Date>`now()`);
  if (where.chatId !== undefined) query = query.where('chat_id', '=', where.chatId);
  const but = where.but ?? [];
  if (but.length > 0) query = query.where(sql<boolean>`id <> all (${but}::text[])`);
  const expired = await query.execute();
  const failures: unknown[] = [];
  for (const response of expired) {
    await interruptFromLog(deps, response, orphans).catch((error) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
  return expired.map((response) => response.chat_id);
}

type Interruptible = Pick<ResponseRow, 'id' | 'chat_id' | 'owner_id' | 'generation' | 'first_seq'>;

async function interruptFromLog(deps: Pick<Platform, 'db'>, response: Interruptible, orphan: boolean): Promise<void> {
  await inTransaction(deps.db, async (trx) => {
    await trx.selectFrom('chats').select('id').where('id', '=', response.chat_id).forNoKeyUpdate().execute();
    const still = await trx
      .selectFrom('responses')
      .select('id')
      .where('id', '=', response.id)
      .where('generation', '=', response.generation)
      .where('state', '=', 'running')
      .where(orphan ? sql<boolean>`true` : sql<boolean>`lease_until < now()`)
      .forUpdate()
      .executeTakeFirst();
    if (still === undefined) return;
    const rows = await trx
      .selectFrom('response_frames')
      .select(['seq_to', 'frames'])
      .where('response_id', '=', response.id)
      .where('generation', '=', response.generation)
      .orderBy('seq_from')
      .execute();
    const logged = rows.length === 0 ? undefined : assemble(rows);
    const parts = finishParts(logged?.parts ?? (await readParts(trx, response.id)), { keepsApprovals: true });
    // A question that the crash left out of the answer can be answered by nobody: it is asked again.
    await dropQuestionsBut(
      trx,
      response.id,
      waitingCalls(parts).map(({ asked }) => asked.approvalId),
    );
    await endLocked(deps, trx, response, {
      state: 'interrupted',
      parts,
      error: interruptedError,
      frames: [...(logged?.closingFrames({ keepsApprovals: true }) ?? []), ...interruptedFrames()],
      seq: rows.at(-1)?.seq_to ?? response.first_seq,
      calls: await interruptedCall(trx, response, logged?.parts ?? []),
    });
  });
}

function assemble(rows: readonly { frames: string }[]): MessageAssembler {
  const assembler = createMessageAssembler();
  for (const row of rows) for (const frame of parseLines(row.frames)) assembler.apply(frame);
  return assembler;
}

/** The frames that end an interrupted response. */
function interruptedFrames(): Frame[] {
  return [
    { type: 'error', errorText: interruptedError.message },
    { type: 'finish', finishReason: 'error', messageMetadata: { status: 'interrupted', error: interruptedError } },
  ];
}

/** How many responses' frames are dropped at a time. */
const dropBatch = 500;

/** `end_frames` marks those that still have frames, so that the cost does not grow with all responses ever. */
export const dropStatement = `
  with old as (
    update responses set end_frames = null
    where id in (select id from responses
      where end_frames is not null and ended_at < now() - $1 * interval '1 millisecond' order by ended_at limit ${dropBatch})
    returning id
  )
  delete from response_frames where response_id in (select id from old)`;

/** Deletes the frames of responses that ended a while ago; their messages contain everything. */
export async function dropOldFrames(deps: Pick<Platform, 'db'>, keepMs: number): Promise<void> {
  await deps.db.pool.query(dropStatement, [keepMs]);
}

/** How long a complete response is kept; nobody can continue it, and its message is what is replayed. */
const keptCompleteDays = 7;

/** Removes complete responses. Any others can be continued, and stay with their conversation. */
export const pruneStatement = `
  delete from responses where ctid = any(array(select ctid from responses
    where state = 'complete' and end_frames is null and ended_at < now() - ${keptCompleteDays} * interval '1 day'
    order by ended_at limit ${dropBatch} for update skip locked))`;

/** Removes what nobody can ask for any more, a batch at a time; simultaneous replicas take different rows. */
export async function pruneEnded(deps: Pick<Platform, 'db'>): Promise<void> {
  await deps.db.pool.query(pruneStatement);
  await deps.db.pool.query(dropCopiesStatement);
}
