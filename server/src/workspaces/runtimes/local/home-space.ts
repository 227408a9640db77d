import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { systemClock, type Timer } from '../../../clock.ts';
import type { Disk } from '../../../disk.ts';
import { foldersOf } from './folders.ts';

export type HomeSpaceOptions = {
  disk: Pick<Disk, 'level' | 'onLook'>;
  /** DATA_DIR/workspaces. */
  root: string;
  /** Of one home; 0: any size. */
  limitBytes: number;
};

const measureMs = 60_000;
const measuringMs = 30_000;

/**
 * Which workspaces may write: none while the disk of the installation is nearly full, and none whose home is larger than one may be. There is no
 * quota that every file system has; a workspace that is over is ended, and starts to be tidied up only.
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

  /** Called when what may write may be another than before. */
  onChange(listener: () => Promise<void>): void {
    this.#onChange = listener;
  }

  /** Asked before a start, which waits only for what was too large. Its home is measured from now on. */
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

  /** It was ended. One that is too large stays known as such. */
  forget(id: string): void {
    if (!this.#isTooLarge(id)) this.#bytes.delete(id);
  }

  /** Why a workspace that runs cannot go on as it was started. */
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

  /** Measures the homes that were started here, one after the other. */
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
    // In a process of its own, and as the last in the queue: a home may have millions of files.
    const measured = await promisify(execFile)('nice', ['-n', '19', 'du', '-sx', '--block-size=1', '--', home], {
      timeout: measuringMs,
    }).catch((error: { stdout?: string }) => error);
    // What takes too long keeps what was known of it. What may not be read is left out.
    const before = this.#bytes.get(id);
    if (before !== undefined) this.#bytes.set(id, Number(/^\d+/.exec(measured.stdout ?? '')?.[0] ?? before));
  }

  #isTooLarge(id: string): boolean {
    const { limitBytes } = this.#options;
    return limitBytes > 0 && (this.#bytes.get(id) ?? 0) > limitBytes;
  }
}
