import { randomFillSync } from 'node:crypto';
import { open, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiError } from '@homeport/contracts/errors';
import type { Logger } from 'pino';
import { systemClock, type Timer } from './clock.ts';
import { waitAtMost } from './waits.ts';

/** `low`: nothing is taken that takes much room. `full`: the rest is for what is under way and for the database. */
export type DiskLevel = 'ample' | 'low' | 'full';

/** How much room is left on the disk of DATA_DIR, and what may still be written to it. */
export type Disk = {
  readonly level: DiskLevel;
  readonly freeBytes: number;
  /** Throws `storage_full` where there is no room for it any more. Looks anew for what fills a disk between two looks. */
  assertRoom(use: 'files' | 'messages'): Promise<void>;
  /** Called at each look while there is little room, and once when there is enough again; what it does comes before the ballast goes. */
  onLook(listener: (level: DiskLevel) => Promise<void>): void;
  look(): Promise<DiskLevel>;
  close(): void;
};

type Space = { freeBytes: number; totalBytes: number };
export type DiskOptions = {
  dataDir: string;
  /** The database is on this disk. */
  hasDatabase: boolean;
  log: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** Tests bring their own. */
  readSpace?: (folder: string) => Promise<Space>;
};

const mebibyte = 1024 ** 2;
const lookMs = 500;
const freshMs = 20;
const listenerMs = 5_000;
/** Three segments of PostgreSQL's log: enough to recover, and to end what was under way. */
const ballastBytes = 48 * mebibyte;
/** Before something counts as ample again there must be so much more of it, or it would go back and forth. */
const slack = 1.25;

const diskFullHelp =
  'Free some space on it (old backups, logs, container images), or enlarge it, and start Homeport again. No acknowledged data is lost.';

/** The room that is kept: 2 % of the disk, from 96 MiB to 1 GiB. */
function reserveOf(totalBytes: number): number {
  return Math.min(Math.max(totalBytes / 50, 96 * mebibyte), 1024 * mebibyte);
}

/** Watches until `close`. The first look is done when this resolves. */
export async function watchDisk(options: DiskOptions): Promise<Disk> {
  const disk = new WatchedDisk(options);
  await disk.look();
  return disk;
}

class WatchedDisk implements Disk {
  level: DiskLevel = 'ample';
  freeBytes = 0;
  readonly #options: DiskOptions;
  readonly #listeners: ((level: DiskLevel) => Promise<void>)[] = [];
  readonly #timer: Timer;
  #looking: Promise<DiskLevel> | undefined;
  #isBlind = false;
  #lookedAt = 0;

  constructor(options: DiskOptions) {
    this.#options = options;
    this.#timer = systemClock.every(lookMs, () => void this.look());
  }

  async assertRoom(use: 'files' | 'messages'): Promise<void> {
    if (use === 'files' && systemClock.elapsed() - this.#lookedAt > freshMs) await this.look();
    if (this.level === 'ample' || (use === 'messages' && (this.level === 'low' || !this.#options.hasDatabase))) return;
    const what = use === 'files' ? 'Files cannot be saved' : 'New messages cannot be saved';
    throw new ApiError('storage_full', `${what}: the disk of this installation is nearly full`, { retryAfter: 60 });
  }

  onLook(listener: (level: DiskLevel) => Promise<void>): void {
    this.#listeners.push(listener);
  }

  look(): Promise<DiskLevel> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  close(): void {
    this.#timer.stop();
  }

  async #look(): Promise<DiskLevel> {
    const { dataDir, hasDatabase, log, readSpace = spaceOf } = this.#options;
    try {
      const { freeBytes, totalBytes } = await readSpace(dataDir);
      const reserve = reserveOf(totalBytes);
      const before = this.level;
      this.freeBytes = freeBytes;
      this.#lookedAt = systemClock.elapsed();
      this.level = levelOf(freeBytes, reserve, before);
      if (before !== this.level) this.#tell(before, reserve);
      if (before !== 'ample' || this.level !== 'ample') await this.#hear();
      if (hasDatabase && freeBytes < reserve / 4) await dropBallast(dataDir, log);
      if (hasDatabase && freeBytes > reserve + 2 * ballastBytes) await keepBallast(dataDir);
      this.#isBlind = false;
    } catch (error) {
      if (!this.#isBlind) log.warn({ cause: error }, 'the free space on the disk of DATA_DIR could not be read');
      this.#isBlind = true;
    }
    return this.level;
  }

  async #hear(): Promise<void> {
    const heard = Promise.allSettled(this.#listeners.map((listener) => listener(this.level)));
    await waitAtMost(systemClock, listenerMs, heard);
  }

  #tell(before: DiskLevel, reserve: number): void {
    const { log, dataDir } = this.#options;
    const facts = { folder: dataDir, freeMb: toMb(this.freeBytes), reserveMb: toMb(reserve) };
    if (this.level === 'ample') log.info(facts, 'the disk of DATA_DIR has enough space again');
    else if (this.level === 'low') {
      log.warn(
        facts,
        'the disk of DATA_DIR is nearly full: uploads are refused, and workspaces can only delete and move files',
      );
    } else if (before !== 'full') log.error(facts, 'the disk of DATA_DIR is full: new messages are refused');
  }
}

function levelOf(free: number, reserve: number, before: DiskLevel): DiskLevel {
  const isBelow = (bound: number, wasBelow: boolean): boolean => free < (wasBelow ? bound * slack : bound);
  if (isBelow(reserve / 2, before === 'full')) return 'full';
  return isBelow(reserve, before !== 'ample') ? 'low' : 'ample';
}

async function spaceOf(folder: string): Promise<Space> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}

/** Gives the database room to come up on a disk that is full. */
export async function makeRoomForDatabase(dataDir: string, log: DiskOptions['log']): Promise<void> {
  const space = await spaceOf(dataDir).catch(() => undefined);
  if (space !== undefined && space.freeBytes < reserveOf(space.totalBytes) / 4) await dropBallast(dataDir, log);
}

/** What to tell when a start failed for want of room; undefined when it failed for another reason. */
export function explainFullDisk(error: unknown, dataDir: string): string | undefined {
  const isFull = error instanceof Error && (hasFullCode(error) || /No space left on device|ENOSPC/.test(error.message));
  return isFull ? `The disk of DATA_DIR (${dataDir}) is full. ${diskFullHelp}` : undefined;
}

function hasFullCode(error: Error): boolean {
  // Of the file system, and of PostgreSQL.
  return 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT' || error.code === '53100');
}

async function dropBallast(dataDir: string, log: DiskOptions['log']): Promise<void> {
  const path = join(dataDir, 'ballast');
  if ((await stat(path).catch(() => undefined)) === undefined) return;
  await rm(path, { force: true });
  log.warn({ file: path, megabytes: toMb(ballastBytes) }, 'the ballast was removed so that the database can continue');
}

/** A file that is there only to be removed. Made of noise: file systems store nothing of zeros. */
async function keepBallast(dataDir: string): Promise<void> {
  const path = join(dataDir, 'ballast');
  if ((await stat(path).catch(() => undefined))?.size === ballastBytes) return;
  const file = await open(path, 'w', 0o600);
  try {
    const noise = Buffer.alloc(mebibyte);
    for (let written = 0; written < ballastBytes; written += noise.length) await file.write(randomFillSync(noise));
    await file.sync();
  } finally {
    await file.close();
  }
}

function toMb(bytes: number): number {
  return Math.round(bytes / mebibyte);
}
