import { randomUUIDv7 } from 'node:crypto';
import type { Backup } from '@homeport/contracts/operations';
import { sql } from 'kysely';
import { holdContents } from '../artifacts/blobs.ts';
import type { Database, Queryable } from '../db/pool.ts';
import { systemClock } from '../platform/clock.ts';
import { BackupError } from './backup-error.ts';

/** Another one is made, or was made. */
export class BackupNotDue extends BackupError {}

/** The only writer of `backups`: the record, time and destination of each backup, and the lease of the running one. */

export type BackupCause = 'command' | 'schedule' | 'page';
export type BackupProgress = { step: 'database' | 'files' | 'workspaces'; rows: number; files: number; bytes: number };
/** A backup that runs; its lease keeps the contents of files. */
export type BackupHold = {
  id: string;
  /** Aborted when the lease is lost, because contents can be missing from then on. */
  signal: AbortSignal;
  progress: BackupProgress;
  end(outcome: { place: string; size: number; sha256: string } | { error: string }): Promise<void>;
};

const leaseSeconds = 300;
const renewMs = 20_000;
const errorMax = 500;
const keptRows = 200;

/** Throws BackupNotDue unless a scheduled backup is due since then, or for the page while one runs. */
export async function beginBackup(
  db: Database,
  cause: BackupCause,
  place: string,
  dueSince?: Date,
): Promise<BackupHold> {
  const id = randomUUIDv7();
  const lease = sql<Date>`now() + ${leaseSeconds} * interval '1 second'`;
  // One at a time, so of several replicas one finds that it is due.
  await holdContents(db, async (trx) => {
    if (dueSince !== undefined && !(await isBackupDue({ kysely: trx }, dueSince))) throw new BackupNotDue('not due');
    if (cause === 'page' && (await isRunning(trx))) throw new BackupNotDue('one is running');
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
    id,
    progress,
    signal: lost.signal,
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
      await forgetOld(db);
    },
  };
}

async function isRunning(db: Queryable): Promise<boolean> {
  const query = db.selectFrom('backups').select('id').where('state', '=', 'running');
  return (await query.where('lease_until', '>', sql<Date>`now()`).limit(1).executeTakeFirst()) !== undefined;
}

/**
 * Deletes rows of old finished backups. Rows of scheduled backups stay until their file is removed, and failures don't
 * displace successes.
 */
async function forgetOld(db: Database): Promise<void> {
  await sql`delete from backups where id in (
    select id from (
      select id, row_number() over (partition by state = 'done' order by started_at desc) as place from backups
      where case state when 'done' then cause <> 'schedule' else lease_until < now() end) x
    where place > ${keptRows})`.execute(db.kysely);
}

function leaseLost(): BackupError {
  return new BackupError('The database did not answer for too long, so files may be missing. Make the backup again.');
}

/**
 * True if no scheduled backup was made since then, none is running, and the last one that failed began an hour ago.
 */
export async function isBackupDue(db: Pick<Database, 'kysely'>, since: Date): Promise<boolean> {
  const { rows } = await sql<{ due: boolean }>`
    select not exists (select from backups where cause = 'schedule' and (
      state = 'done' and started_at >= ${since}
      or state = 'running' and lease_until > now()
      or state <> 'done' and started_at > now() - interval '1 hour' and started_at >= ${since})) as due`.execute(
    db.kysely,
  );
  return rows[0]?.due === true;
}

/** Backups that the schedule made, beyond the newest `keep`. */
export async function listSurplus(db: Database, keep: number): Promise<{ id: string; place: string }[]> {
  return db.kysely
    .selectFrom('backups')
    .select(['id', 'place'])
    .where('cause', '=', 'schedule')
    .where('state', '=', 'done')
    .orderBy('started_at', 'desc')
    .offset(keep)
    .limit(keptRows)
    .execute();
}

export async function forgetBackup(db: Database, id: string): Promise<void> {
  await db.kysely.deleteFrom('backups').where('id', '=', id).execute();
}

/**
 * For metrics: when the last backup was finished, in seconds since 1970, and whether the last one that ended failed.
 */
export async function lastBackup(db: Pick<Database, 'pool'>): Promise<{ madeAt: number; hasFailed: boolean }> {
  const { rows } = await db.pool.query<{ made: number | null; failed: boolean | null }>(
    `select (select extract(epoch from max(finished_at))::float8 from backups where state = 'done') as made,
       (select state <> 'done' from backups where state <> 'running' or lease_until < now()
        order by started_at desc limit 1) as failed`,
  );
  return { madeAt: rows[0]?.made ?? 0, hasFailed: rows[0]?.failed ?? false };
}

const shownRows = 50;

/** The newest ones. */
export async function listBackups(db: Pick<Database, 'kysely'>): Promise<Backup[]> {
  const rows = await db.kysely
    .selectFrom('backups')
    .selectAll()
    .select(sql<boolean>`lease_until < now()`.as('has_lapsed'))
    .orderBy('started_at', 'desc')
    .limit(shownRows)
    .execute();
  return rows.map((row) => ({
    id: row.id,
    cause: row.cause,
    state: row.state === 'running' && row.has_lapsed ? 'lost' : row.state,
    place: row.place,
    progress: row.progress,
    error: row.error,
    size: row.size,
    sha256: row.sha256,
    startedAt: row.started_at.toISOString(),
    finishedAt: row.finished_at?.toISOString() ?? null,
  }));
}
