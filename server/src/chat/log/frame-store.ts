import { type RawBuilder, sql } from 'kysely';
import { asyncCommit } from '../../db/async-commit.ts';
import type { Platform } from '../../platform.ts';
import type { PendingRow } from './response-log.ts';
import { idsPerSignal, signalChannel } from './signals.ts';

/**
 * The frames of running responses in the database. Every write is fenced by generation and state. Only this file writes
 * `response_frames`.
 */

/** A write whose acknowledgement was lost is repeated with what came since: the longer row is the complete one. */
const keepLonger = `on conflict (response_id, generation, seq_from)
  do update set seq_to = excluded.seq_to, frames = excluded.frames where excluded.seq_to > stored.seq_to`;

/** Together with the statement that it is part of. */
export function insertingFrames(
  response: { id: string; generation: number },
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
  ), ${asyncCommit},
  mine as (
    select b.* from batch b, settings,
      lateral (select generation, state from responses where responses.id = b.response_id limit 1) r
    where r.generation = b.generation and r.state = 'running'
  ), stored as (
    insert into response_frames as stored select * from mine ${keepLonger}
  )`;
const storing = { name: 'store-frames', text: `${mine} select response_id from mine` };
const storingAndTelling = {
  name: 'store-and-tell-frames',
  text: `${mine}, signaled as (
      select pg_notify('${signalChannel}', 'frames:' || string_agg(response_id, ','))
      from (select response_id, (row_number() over () - 1) / ${idsPerSignal} as part from mine) as numbered group by part
    )
    select response_id, (select count(*) from signaled) from mine`,
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
