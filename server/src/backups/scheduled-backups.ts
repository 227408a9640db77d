import type { BlobStore } from '../artifacts/blob-store.ts';
import { operator, recordEvent } from '../audit/audit.ts';
import { intervalMs, lastDue, parseSchedule } from '../config/backup-schedule.ts';
import { systemClock } from '../platform/clock.ts';
import { waitAtMost } from '../platform/waits.ts';
import type { Platform } from '../platform.ts';
import { type OperationDeps, readOperation } from '../settings/operation.ts';
import { makeBackup } from './backup.ts';
import { BackupNotDue, forgetBackup, isBackupDue, listSurplus } from './backup-rows.ts';
import { usualPlace } from './page-backups.ts';
import { removeBackup } from './places.ts';

/** Backups by the schedule of the environment or the page: one replica makes each, and the oldest surplus ones go. */

type Needs = Pick<Platform, 'config' | 'db' | 'log'> & { artifactStore: BlobStore };

const lookMs = 60_000;
const stopMs = 2_000;

export function startScheduledBackups(needs: Needs): { stop(): Promise<void> } {
  const stopping = new AbortController();
  let running: Promise<unknown> = Promise.resolve();
  const timer = systemClock.every(lookMs, () => {
    const work = backUpIfDue(needs, new Date(), stopping.signal);
    running = work;
    return work.then(() => undefined);
  });
  return {
    async stop() {
      timer.stop();
      stopping.abort(new Error('the service is stopping'));
      await waitAtMost(systemClock, stopMs, running);
    },
  };
}

/** Makes a backup if one has become due since the last one. Never throws; returns the outcome. */
export async function backUpIfDue(
  needs: Needs,
  now: Date,
  signal: AbortSignal,
): Promise<'not due' | 'made' | 'failed'> {
  const { config, db, log } = needs;
  try {
    const { backupSchedule, backupKeep, backupWorkspaces } = await readOperation(needs);
    const schedule = parseSchedule(backupSchedule ?? '');
    if (schedule === undefined) return 'not due';
    const dueSince = lastDue(schedule, now);
    if (!(await isBackupDue(db, dueSince))) return 'not due';
    const made = await makeBackup(needs, {
      to: usualPlace(config),
      cause: 'schedule',
      dueSince,
      signal,
      passphrase: config.backupPassphrase,
      withWorkspaces: backupWorkspaces,
    });
    log.info({ place: made.to, bytes: made.bytes }, 'backup made');
    const details = { place: made.to, bytes: made.bytes, encrypted: made.encrypted };
    await recordEvent(db.kysely, operator, { action: 'backup.created', details });
    await removeSurplus(needs, backupKeep);
    return 'made';
  } catch (error) {
    if (error instanceof BackupNotDue) return 'not due';
    log.error({ cause: error }, 'the scheduled backup failed; it is tried again in an hour');
    return 'failed';
  }
}

/** Removes scheduled backups beyond the retention; only files that rows name. */
async function removeSurplus({ config, db, log }: Needs, keep: number): Promise<void> {
  for (const { id, place } of await listSurplus(db, keep)) {
    try {
      await removeBackup(config, place);
      await forgetBackup(db, id);
    } catch (error) {
      log.warn({ cause: error, place }, 'failed to delete an old backup; trying again after the next one');
    }
  }
}

/** Seconds between two backups of the schedule; 0 without one. */
export async function readBackupInterval(deps: OperationDeps): Promise<number> {
  const schedule = parseSchedule((await readOperation(deps)).backupSchedule ?? '');
  return schedule === undefined ? 0 : intervalMs(schedule) / 1_000;
}
