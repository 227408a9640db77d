import type { Overview } from '@homeport/contracts/operations';
import { countPeople } from '../accounts/user-administration.ts';
import { listBackups } from '../backups/backup-rows.ts';
import { hasModel } from '../catalogue/has-model.ts';
import { listOutages } from '../catalogue/outages.ts';
import { intervalMs, lastDue, parseSchedule } from '../config/backup-schedule.ts';
import { spaceOf } from '../platform/disk-space.ts';
import type { Platform } from '../platform.ts';
import { readOperation } from '../settings/operation.ts';
import { readMaintenance } from '../settings/public-config.ts';
import { budgetsForEveryone, readMonths } from '../usage/overview.ts';

/** The state of the installation at a glance: sums and short lists only, so it costs the same with 10,000 people. */

type Needs = Pick<Platform, 'config' | 'db' | 'clock'>;

export async function readOverview(deps: Needs, networkOrigin: string | undefined): Promise<Overview> {
  const { config, db, clock } = deps;
  const now = clock.now();
  const [maintenance, disk, backups, people, usage, budgets, outages] = await Promise.all([
    readMaintenance(deps),
    readDisk(config.dataDir),
    readBackups(deps, now),
    countPeople(db.kysely, hasModel(config, 'u'), now),
    readMonths(db.kysely, now),
    budgetsForEveryone(db.kysely),
    listOutages(db.kysely),
  ]);
  return {
    version: config.version,
    networkOrigin: networkOrigin ?? null,
    isMaintained: maintenance !== null,
    disk,
    backups,
    people,
    usage,
    budgets,
    outages,
  };
}

/** A data directory that cannot be read is a finding of the check, not a failure of this page. */
async function readDisk(folder: string): Promise<Overview['disk']> {
  try {
    const { freeBytes, totalBytes } = await spaceOf(folder);
    return { free: freeBytes, total: totalBytes };
  } catch {
    return null;
  }
}

async function readBackups({ config, db }: Needs, now: number): Promise<Overview['backups']> {
  const [rows, { backupSchedule }] = await Promise.all([listBackups(db), readOperation({ config, db })]);
  const schedule = parseSchedule(backupSchedule ?? '');
  return {
    lastDone: rows.find(({ state }) => state === 'done') ?? null,
    lastEnded: rows.find(({ state }) => state !== 'running') ?? null,
    isRunning: rows.some(({ state }) => state === 'running'),
    nextAt:
      schedule === undefined
        ? null
        : new Date(lastDue(schedule, new Date(now)).getTime() + intervalMs(schedule)).toISOString(),
  };
}
