import { randomFillSync } from 'node:crypto';
import { open, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiError } from '@homeport/contracts/errors';
import type { Logger } from 'pino';
import { systemClock, type Timer } from './clock.ts';
import { waitAtMost } from './waits.ts';

/** `low`: nothing large is accepted. `full`: the rest is reserved for work in progress and for the database. */
export type DiskLevel = 'ample' | 'low' | 'full';

/** How much space is left on the disk of DATA_DIR, and what may still be written to it. */
export type Disk = {
  readonly level: DiskLevel;
  readonly freeBytes: number;
  /** Throws `storage_full` if there is no space for it. Checks again for what fills a disk between two checks. */
  assertRoom(use: 'files' | 'messages'): Promise<void>;
  /**
   * Called at each check while space is short, and once when there is enough again; it runs before the ballast is
   * deleted.
   */
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
  /** Tests use their own. */
  readSpace?: (folder: string) => Promise<Space>;
};

const mebibyte = 1024 ** 2;
const lookMs = 500;
const freshMs = 20;
const listenerMs = 5_000;
/** Three segments of PostgreSQL's log: enough to recover and to finish what was in progress. */
const ballastBytes = 48 * mebibyte;
/** A level is left only with this much more space, so that it does not flap. */
const slack = 1.25;

const diskFullHelp =
  'Free some space on it (old backups, logs, container images), or enlarge it, and start Homeport again. No acknowledged data is lost.';

/** The reserve: 2 % of the disk, between 96 MiB and 1 GiB. */
function reserveOf(totalBytes: number): number {
  return Math.min(Math.max(totalBytes / 50, 96 * mebibyte), 1024 * mebibyte);
}

/** Watches until `close`. Resolves after the first check. */
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
      if (!this.#isBlind) log.warn({ cause: error }, 'failed to read the free space on the disk of DATA_DIR');
      this.#isBlind = true;
    }
    return this.level;
  }

  async #hear(): Promise<void> {
    const notified = Promise.allSettled(this.#listeners.map((listener) => listener(this.level)));
    await waitAtMost(systemClock, listenerMs, notified);
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

/** The space of the disk that has this folder. Throws where it cannot be read. */
export async function spaceOf(folder: string): Promise<Space> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}

/** Gives the database space to start on a full disk. */
export async function makeRoomForDatabase(dataDir: string, log: DiskOptions['log']): Promise<void> {
  const space = await spaceOf(dataDir).catch(() => undefined);
  if (space !== undefined && space.freeBytes < reserveOf(space.totalBytes) / 4) await dropBallast(dataDir, log);
}

/** The message if a start failed for lack of space; undefined if it failed for another reason. */
export function explainFullDisk(error: unknown, dataDir: string): string | undefined {
  const isFull = error instanceof Error && (hasFullCode(error) || /No space left on device|ENOSPC/.test(error.message));
  return isFull ? `The disk of DATA_DIR (${dataDir}) is full. ${diskFullHelp}` : undefined;
}

function hasFullCode(error: Error): boolean {
  // From the file system, or from PostgreSQL.
  return 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT' || error.code === '53100');
}

async function dropBallast(dataDir: string, log: DiskOptions['log']): Promise<void> {
  const path = join(dataDir, 'ballast');
  if ((await stat(path).catch(() => undefined)) === undefined) return;
  await rm(path, { force: true });
  log.warn(
    { file: path, megabytes: toMb(ballastBytes) },
    'deleted the reserve file (ballast) so that the database has disk space',
  );
}

/** A file that exists only to be deleted. It is random, because file systems store zeros without using space. */
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
