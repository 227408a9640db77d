import { randomUUIDv7 } from 'node:crypto';
import { sql } from 'kysely';
import { holdContents } from '../artifacts/blobs.ts';
import { systemClock } from '../clock.ts';
import type { Database } from '../db/pool.ts';
import { BackupError } from './backup-error.ts';

/** The only writer of `backups`: what was made, when, where to, and the lease of the one that runs. */

export type BackupCause = 'command' | 'schedule' | 'page';
export type BackupProgress = { step: 'database' | 'files' | 'workspaces'; rows: number; files: number; bytes: number };
/** A backup that runs; its lease keeps the contents of files. */
export type BackupHold = {
  id: string;
  /** Aborted when the lease is lost, because contents may be missing from then on. */
  signal: AbortSignal;
  progress: BackupProgress;
  end(outcome: { size: number; sha256: string } | { error: string }): Promise<void>;
};

const leaseSeconds = 300;
const renewMs = 20_000;
const errorMax = 500;
const keptRows = 200;

export async function beginBackup(db: Database, cause: BackupCause, place: string): Promise<BackupHold> {
  const id = randomUUIDv7();
  const lease = sql<Date>`now() + ${leaseSeconds} * interval '1 second'`;
  await holdContents(db, async (trx) => {
    await trx.insertInto('backups').values({ id, cause, place, state: 'running', lease_until: lease }).execute();
  });
  const lost = new AbortController();
  const progress: BackupProgress = { step: 'database', rows: 0, files: 0, bytes: 0 };
  let renewedAt = systemClock.elapsed();
  const timer = systemClock.every(renewMs, async () => {
    try {
      const { numUpdatedRows } = await db.kysely
        .updateTable('backups')
        .set({ lease_until: lease, progress: JSON.stringify(progress) })
        .where('id', '=', id)
        .where('lease_until', '>', sql<Date>`now()`)
        .executeTakeFirst();
      if (numUpdatedRows === 0n) lost.abort(leaseLost());
      renewedAt = systemClock.elapsed();
    } catch {
      if (systemClock.elapsed() - renewedAt > (leaseSeconds * 1_000) / 2) lost.abort(leaseLost());
    }
  });
  return {
    ...{ id, progress, signal: lost.signal },
    async end(outcome) {
      timer.stop();
      const result = 'error' in outcome ? { error: outcome.error.slice(0, errorMax).toWellFormed() } : outcome;
      await db.kysely
        .updateTable('backups')
        .set({
          ...result,
          state: 'error' in outcome ? 'failed' : 'done',
          finished_at: sql`now()`,
          progress: JSON.stringify(progress),
        })
        .where('id', '=', id)
        .execute();
      await sql`delete from backups where id in
        (select id from backups where state <> 'running' order by started_at desc offset ${keptRows})`.execute(
        db.kysely,
      );
    },
  };
}

function leaseLost(): BackupError {
  return new BackupError('The database did not answer for too long, so files may be missing. Make the backup again.');
}
