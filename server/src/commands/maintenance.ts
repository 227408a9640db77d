import { sql } from 'kysely';
import { type AuditSource, recordEvent } from '../audit/audit.ts';
import { type Database, inTransaction } from '../db/pool.ts';

/** The only writer of `maintenance`. Every request's own statement reads it, so it holds everywhere at once. */

export type MaintenanceState = { since: string; message: string | null } | null;

/** Switches maintenance on, keeping when it began, or off. */
export async function setMaintenance(
  db: Database,
  change: { on: boolean; message: string | null },
  by: AuditSource,
): Promise<MaintenanceState> {
  return inTransaction(db, async (trx) => {
    const row = await trx
      .updateTable('maintenance')
      .set(
        change.on
          ? { since: sql<Date>`coalesce(since, now())`, message: change.message }
          : { since: null, message: null },
      )
      .returningAll()
      .executeTakeFirstOrThrow();
    await recordEvent(trx, by, { action: 'maintenance.changed', details: { on: change.on } });
    return row.since === null ? null : { since: row.since.toISOString(), message: row.message };
  });
}
