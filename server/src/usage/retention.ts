import { limits } from '@homeport/contracts/limits';
import { sql } from 'kysely';
import type { Database } from '../db/pool.ts';
import { hourly } from '../platform/hourly-tasks.ts';
import type { Platform } from '../platform.ts';

/** Calls are kept as long as a report can reach back. The sums of their days, which reports and budgets read, stay. */

const atOnce = 1_000;
/** Of one sweep: more than any installation makes in an hour, and little beside everything else. */
const batchesMax = 100;

/** Forgets old calls at the start and every hour; several replicas may do so at once. */
export function startUsageRetention(deps: Pick<Platform, 'db' | 'log'>): { stop(): Promise<void> } {
  return hourly(async (signal) => {
    try {
      const removed = await forgetOldCalls(deps, signal);
      if (removed > 0) deps.log.info({ removed }, 'removed old calls from the usage ledger');
    } catch (error) {
      deps.log.warn({ cause: error }, 'failed to delete old calls from the usage ledger; trying again later');
    }
  });
}

/** Removes the oldest calls, at most a hundred thousand. Resolves with their number. */
export async function forgetOldCalls(deps: { db: Pick<Database, 'kysely'> }, signal: AbortSignal): Promise<number> {
  let removed = 0;
  for (let batch = 0; batch < batchesMax && !signal.aborted; batch += 1) {
    const { numAffectedRows = 0n } = await sql`
      with old as (
        select response_id, kind, generation, step from usage_calls
        where at < now() - ${limits.usageDaysMax} * interval '1 day' order by at limit ${atOnce} for update skip locked
      )
      delete from usage_calls c using old where (c.response_id, c.kind, c.generation, c.step)
        = (old.response_id, old.kind, old.generation, old.step)`.execute(deps.db.kysely);
    removed += Number(numAffectedRows);
    if (numAffectedRows < atOnce) break;
  }
  return removed;
}
