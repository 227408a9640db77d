import { systemClock, type Timer } from '../../platform/clock.ts';
import type { Disk } from '../../platform/disk-space.ts';

/** Size of a home, measured from outside the workspace. */
export type Measured = { bytes: number; files: number };

export type HomeSpaceOptions = {
  disk: Pick<Disk, 'level' | 'freeBytes' | 'onLook'>;
  /** For one home; 0 means no limit. */
  limits: Measured;
  /** Undefined if it fails, or takes too long. */
  measure: (id: string) => Promise<Measured | undefined>;
  /** How often all are measured if the disk does not get fuller. */
  everyMs: number;
};

const tickMs = 2_000;
const mebibyte = 1024 ** 2;
/** The daemon inside stops writing at the limit itself; a workspace beyond this margin has bypassed the daemon. */
const grace = 1.1;
const graceBytes = 256 * mebibyte;
const graceFiles = 50_000;
/** Measuring takes at most this part of the time while the disk does not get fuller. */
const share = 5;

/**
 * Which workspaces may write: none while the installation's disk is nearly full, and none whose home is too large.
 * The daemon keeps to the limits by itself, but the code of its workspace could stop it: this looks from outside, and
 * ends a workspace that is above its limits. It can start again only to delete files.
 */
export class HomeSpace {
  readonly #options: HomeSpaceOptions;
  readonly #measured = new Map<string, Measured>();
  readonly #timer: Timer;
  #onChange: () => Promise<void> = async () => undefined;
  #measuring: Promise<void> | undefined;
  #freeThen = 0;
  #measuredAt = 0;
  #tookMs = 0;

  constructor(options: HomeSpaceOptions) {
    this.#options = options;
    options.disk.onLook(() => this.#onChange());
    this.#timer = systemClock.every(tickMs, () => this.#tick());
  }

  /** Called when the answer of `mayWrite` may have changed. */
  onChange(listener: () => Promise<void>): void {
    this.#onChange = listener;
  }

  /** Asked before a start, which waits only if the home was too large. From now on its home is measured. */
  async mayWrite(id: string): Promise<boolean> {
    if (this.#isTooLarge(id)) await this.#measure(id);
    else this.watch(id);
    return this.#options.disk.level === 'ample' && !this.#isTooLarge(id);
  }

  watch(id: string): void {
    if (this.#measured.has(id)) return;
    this.#measured.set(id, { bytes: 0, files: 0 });
    // Not all of them at each start.
    void this.#measure(id)
      .then(this.#onChange)
      .catch(() => undefined);
  }

  /** It has ended. A home that is too large is remembered. */
  forget(id: string): void {
    if (!this.#isTooLarge(id)) this.#measured.delete(id);
  }

  /** Why a running workspace cannot continue as it was started. */
  whyEnd(id: string, mayWrite: boolean): string | undefined {
    const isDiskFull = this.#options.disk.level !== 'ample';
    if (mayWrite && isDiskFull)
      return 'The disk of this installation is nearly full. You can delete files, but not write any';
    if (mayWrite && this.#isTooLarge(id)) {
      return `Its files exceed ${this.#told(id)} a workspace may have. You can delete files, but not write any`;
    }
    return mayWrite || isDiskFull || this.#isTooLarge(id) ? undefined : 'There is space for files again';
  }

  /** Measures the homes of workspaces started here, one after the other. */
  measureAll(): Promise<void> {
    this.#measuring ??= this.#measureEach().finally(() => {
      this.#measuring = undefined;
    });
    return this.#measuring;
  }

  close(): void {
    this.#timer.stop();
    this.#onChange = async () => undefined;
  }

  /** A drop of the free disk space triggers a measurement at once. */
  #tick(): void {
    const { disk, limits, everyMs } = this.#options;
    const age = systemClock.elapsed() - this.#measuredAt;
    if (this.#measuring !== undefined || this.#measured.size === 0 || age < this.#tookMs) return;
    const taken = this.#freeThen - disk.freeBytes;
    if (
      age > Math.max(everyMs, share * this.#tookMs) ||
      (limits.bytes > 0 && taken > Math.max(64 * mebibyte, limits.bytes / 16))
    ) {
      void this.measureAll();
    }
  }

  async #measureEach(): Promise<void> {
    const began = systemClock.elapsed();
    this.#freeThen = this.#options.disk.freeBytes;
    for (const id of [...this.#measured.keys()]) await this.#measure(id);
    this.#measuredAt = systemClock.elapsed();
    this.#tookMs = this.#measuredAt - began;
    await this.#onChange().catch(() => undefined);
  }

  async #measure(id: string): Promise<void> {
    const { limits, measure } = this.#options;
    if (limits.bytes === 0 && limits.files === 0) return;
    const measured = await measure(id).catch(() => undefined);
    // If it takes too long, the last result stays.
    if (measured !== undefined && this.#measured.has(id)) this.#measured.set(id, measured);
  }

  #isTooLarge(id: string): boolean {
    return this.#excess(id) !== undefined;
  }

  #excess(id: string): 'bytes' | 'files' | undefined {
    const { limits } = this.#options;
    const { bytes, files } = this.#measured.get(id) ?? { bytes: 0, files: 0 };
    if (limits.bytes > 0 && bytes > limits.bytes * grace + graceBytes) return 'bytes';
    return limits.files > 0 && files > limits.files * grace + graceFiles ? 'files' : undefined;
  }

  #told(id: string): string {
    const { bytes, files } = this.#options.limits;
    return this.#excess(id) === 'files' ? `the ${files} files` : `the ${Math.round(bytes / mebibyte)} MiB`;
  }
}

/** Environment variables that carry the limits to the daemon. */
export function limitsInside({
  bytes,
  files,
}: Measured): Record<'HOMEPORT_DISK_BYTES' | 'HOMEPORT_DISK_FILES', string> {
  return { HOMEPORT_DISK_BYTES: String(bytes), HOMEPORT_DISK_FILES: String(files) };
}

/** Limit for the size of one file; the largest possible value for a home without a limit. */
export function largestFile({ bytes }: Measured): number {
  return bytes === 0 ? 64 * 1024 ** 3 : Math.min(bytes, 64 * 1024 ** 3);
}

export function limitsOf(config: { workspaceDiskMb: number; workspaceFiles: number }): Measured {
  return { bytes: config.workspaceDiskMb * mebibyte, files: config.workspaceFiles };
}
