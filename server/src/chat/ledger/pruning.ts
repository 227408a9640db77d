import type { Platform } from '../../platform.ts';
import { dropCopiesStatement } from './inputs.ts';

/** Rows of ended responses and their inputs that nobody can ask for any more. */

const pruneBatch = 500;
/** How long a complete response is kept; nobody can continue it, and its message is what is replayed. */
const keptCompleteDays = 7;

/** Removes complete responses. Any others can be continued, and stay with their conversation. */
export const pruneStatement = `
  delete from responses where ctid = any(array(select ctid from responses
    where state = 'complete' and end_frames is null and ended_at < now() - ${keptCompleteDays} * interval '1 day'
    order by ended_at limit ${pruneBatch} for update skip locked))`;

/** Removes what nobody can ask for any more, a batch at a time; simultaneous replicas take different rows. */
export async function pruneEnded(deps: Pick<Platform, 'db'>): Promise<void> {
  await deps.db.pool.query(pruneStatement);
  await deps.db.pool.query(dropCopiesStatement);
}
