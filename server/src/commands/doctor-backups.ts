import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { usualPlace } from '../backups/page-backups.ts';
import { findObject } from '../backups/places.ts';
import { intervalMs, parseSchedule } from '../config/backup-schedule.ts';
import type { Config } from '../config/config.ts';
import type { Database } from '../db/pool.ts';
import { adminCommand } from '../platform/command-line.ts';
import { readOperation } from '../settings/operation.ts';
import { type Cause, type Finding, finding } from './finding.ts';

/** Whether backups are made, and those that the schedule made can be used. */

type Ended = { state: string; error: string | null; place: string; size: number | null; ended_at: Date };
type Trouble = { cause: Cause; message: string; advice: string };

const dayMs = 86_400_000;
/** Without a schedule, the operator makes backups by hand. */
const oldMs = 8 * dayMs;
const byHand = `Run "${adminCommand} backup", unless you make backups in another way.`;
const retry = `Correct the reason; the schedule tries again in an hour, and "${adminCommand} backup" at once.`;

export async function checkBackups(
  config: Config,
  db: Pick<Database, 'pool' | 'kysely'>,
  now = new Date(),
): Promise<Finding> {
  const { backupSchedule } = await readOperation({ config, db });
  const schedule = parseSchedule(backupSchedule ?? '');
  const made = await findEnded(db, `state = 'done'`);
  if (schedule === undefined) return checkUnscheduled(made, await findEnded(db, 'true'), now);
  const scheduled = await findEnded(db, `cause = 'schedule'`);
  const trouble =
    failureOf(scheduled) ??
    (await unusablePlace(config)) ??
    (await unusableBackup(config, scheduled)) ??
    lateness(backupSchedule ?? '', made, now.getTime() - 2 * intervalMs(schedule));
  if (trouble !== undefined) return finding('backups', 'failed', trouble.cause, trouble.message, trouble.advice);
  if (made !== undefined) return finding('backups', 'ok', ['backup_made', { at: timeOf(made) }], madeText(made));
  const advice = 'The schedule makes the first within minutes of a start. If it does not, the log has the reason.';
  return finding('backups', 'warning', 'backup_none_scheduled', 'There is no backup yet.', advice);
}

function checkUnscheduled(made: Ended | undefined, last: Ended | undefined, now: Date): Finding {
  const failure = failureOf(last);
  if (failure !== undefined) return finding('backups', 'warning', failure.cause, failure.message, byHand);
  if (made === undefined) return finding('backups', 'warning', 'backup_none', 'There is no backup yet.', byHand);
  const isOld = made.ended_at.getTime() <= now.getTime() - oldMs;
  const cause: Cause = [isOld ? 'backup_old' : 'backup_made', { at: timeOf(made) }];
  return finding('backups', isOld ? 'warning' : 'ok', cause, madeText(made), byHand);
}

/** The newest backup that has ended and fits `condition`, which is SQL. */
async function findEnded({ pool }: Pick<Database, 'pool'>, condition: string): Promise<Ended | undefined> {
  const { rows } = await pool.query<Ended>(
    `select state, error, place, size, coalesce(finished_at, lease_until) as ended_at from backups
     where (state <> 'running' or lease_until < now()) and ${condition} order by started_at desc limit 1`,
  );
  return rows[0];
}

function failureOf(last: Ended | undefined): Trouble | undefined {
  if (last === undefined || last.state === 'done') return undefined;
  const reason = last.error ?? 'the process that made it ended';
  const at = timeOf(last);
  return {
    cause: ['backup_failed', { at, reason }],
    message: `The last backup failed at ${at}: ${reason}`,
    advice: retry,
  };
}

function lateness(schedule: string, made: Ended | undefined, since: number): Trouble | undefined {
  if (made === undefined || made.ended_at.getTime() >= since) return undefined;
  const message = `${madeText(made)} The schedule is ${JSON.stringify(schedule)}.`;
  const cause: Cause = ['backup_late', { at: timeOf(made), schedule }];
  return { cause, message, advice: `Look for the reason in the log, and run "${adminCommand} backup".` };
}

async function unusablePlace(config: Config): Promise<Trouble | undefined> {
  const place = usualPlace(config);
  const advice = 'Correct BACKUP_TO, or let the user of the service write there.';
  try {
    if (place.startsWith('s3://')) await findObject(config, `${place}doctor`);
    else await access(await nearestFolder(resolve(place)), constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    const reason = reasonOf(error);
    const message = `Scheduled backups cannot be written to ${place} (${reason}).`;
    return { cause: ['backup_place', { place, reason }], message, advice };
  }
}

/** The folder itself, or the one that it will be made in. */
async function nearestFolder(folder: string): Promise<string> {
  for (let at = folder; ; at = dirname(at)) {
    const facts = await stat(at).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT' || at === dirname(at)) throw error;
    });
    if (facts === undefined) continue;
    if (!facts.isDirectory()) throw new Error(`${at} is not a folder`);
    return at;
  }
}

/** Only the service touches the files of the schedule, so one that is gone or has another size was lost. */
async function unusableBackup(config: Config, last: Ended | undefined): Promise<Trouble | undefined> {
  if (last === undefined || last.size === null) return undefined;
  const { place, size } = last;
  const advice = `Find out what changed it, and run "${adminCommand} backup".`;
  try {
    const found = place.startsWith('s3://') ? await findObject(config, place) : await stat(place);
    if (found === undefined) {
      return { cause: ['backup_gone', { place }], message: `The last scheduled backup is gone: ${place}.`, advice };
    }
    if (Number(found.size) === Number(size)) return undefined;
    const message = `The last scheduled backup has ${found.size} bytes rather than ${size}: ${place}.`;
    const values = { place, found: Number(found.size), expected: Number(size) };
    return { cause: ['backup_size', values], message, advice };
  } catch (error) {
    const reason = reasonOf(error);
    const message = `The last scheduled backup cannot be read: ${place} (${reason}).`;
    return { cause: ['backup_unreadable', { place, reason }], message, advice };
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown reason';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}

function madeText(made: Ended): string {
  return `The last backup was made at ${timeOf(made)}.`;
}

function timeOf({ ended_at }: Ended): string {
  return ended_at.toISOString();
}
