import type { Platform } from '../../platform.ts';
import { dropCopiesStatement } from './inputs.ts';

/** Deletion of ended responses and their inputs once no client can request them. */

const pruneBatch = 500;
/** Days that a complete response is kept; it cannot be continued, and replays use its message. */
const keptCompleteDays = 7;

/** Removes complete responses. Any others can be continued, and stay with their conversation. */
export const pruneStatement = `
  delete from responses where ctid = any(array(select ctid from responses
    where state = 'complete' and end_frames is null and ended_at < now() - ${keptCompleteDays} * interval '1 day'
    order by ended_at limit ${pruneBatch} for update skip locked))`;

/** Deletes rows that no client can request any more, a batch at a time; simultaneous replicas take different rows. */
export async function pruneEnded(deps: Pick<Platform, 'db'>): Promise<void> {
  await deps.db.pool.query(pruneStatement);
  await deps.db.pool.query(dropCopiesStatement);
}
