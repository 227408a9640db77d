import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { systemClock, type Timer } from '../../../clock.ts';
import type { Disk } from '../../../disk.ts';
import { foldersOf } from './folders.ts';

export type HomeSpaceOptions = {
  disk: Pick<Disk, 'level' | 'onLook'>;
  /** DATA_DIR/workspaces. */
  root: string;
  /** For one home; 0 means no limit. */
  limitBytes: number;
};

const measureMs = 60_000;
const measuringMs = 30_000;

/**
 * Which workspaces may write: none while the installation's disk is nearly full, and none whose home is too large.
 * Quotas do not exist on every file system, so a workspace above the limit is ended and can start again only to delete
 * files.
 */
export class HomeSpace {
  readonly #options: HomeSpaceOptions;
  readonly #bytes = new Map<string, number>();
  readonly #timer: Timer;
  #onChange: () => Promise<void> = async () => undefined;
  #measuring: Promise<void> | undefined;

  constructor(options: HomeSpaceOptions) {
    this.#options = options;
    options.disk.onLook(() => this.#onChange());
    this.#timer = systemClock.every(measureMs, () => void this.measureAll());
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
    if (this.#bytes.has(id)) return;
    this.#bytes.set(id, 0);
    void this.measureAll();
  }

  /** It has ended. A home that is too large is remembered. */
  forget(id: string): void {
    if (!this.#isTooLarge(id)) this.#bytes.delete(id);
  }

  /** Why a running workspace cannot continue as it was started. */
  whyEnd(id: string, mayWrite: boolean): string | undefined {
    const isDiskFull = this.#options.disk.level !== 'ample';
    if (mayWrite && isDiskFull)
      return 'The disk of this installation is nearly full. You can delete files, but not write any';
    if (mayWrite && this.#isTooLarge(id)) {
      const limit = Math.round(this.#options.limitBytes / 1024 ** 2);
      return `Its files exceed the ${limit} MiB a workspace may have. You can delete files, but not write any`;
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

  async #measureEach(): Promise<void> {
    for (const id of [...this.#bytes.keys()]) await this.#measure(id);
    await this.#onChange().catch(() => undefined);
  }

  async #measure(id: string): Promise<void> {
    if (this.#options.limitBytes === 0) return;
    const { home } = foldersOf(this.#options.root, id);
    // In a separate process at the lowest priority: a home may have millions of files.
    const measured = await promisify(execFile)('nice', ['-n', '19', 'du', '-sx', '--block-size=1', '--', home], {
      timeout: measuringMs,
    }).catch((error: { stdout?: string }) => error);
    // If it takes too long, the last result stays. Unreadable files are left out.
    const before = this.#bytes.get(id);
    if (before !== undefined) this.#bytes.set(id, Number(/^\d+/.exec(measured.stdout ?? '')?.[0] ?? before));
  }

  #isTooLarge(id: string): boolean {
    const { limitBytes } = this.#options;
    return limitBytes > 0 && (this.#bytes.get(id) ?? 0) > limitBytes;
  }
}
