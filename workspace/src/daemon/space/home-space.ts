import { statfsSync } from 'node:fs';
import { clock, type Timer } from '../../clock.ts';
import { DaemonError } from '../daemon-error.ts';
import type { Daemon } from '../state.ts';
import { countTemporary, measureHome, type Space } from './measure.ts';
import { writtenBytes } from './own-processes.ts';
import { setWriting } from './write-limit.ts';

/** Undefined: no limit. */
export type SpaceLimits = { bytes: number | undefined; files: number | undefined };
export type SpaceListener = {
  /** A notice for people and models, as that nothing can be written from now on. */
  notify(text: string): void;
  /** A process exceeds the limit on purpose: ends all running processes. */
  end(): void;
};

/** Members that receiving a body uses. */
export type Room = Pick<HomeSpace, 'roomBytes' | 'count' | 'tooMuch'>;

const tickMs = 1_000;
const freshMs = 60_000;
/** For what neither the free space nor the count of written bytes shows, as empty files where others delete some. */
const unseenMs = 15_000;
const settleMs = 5_000;
const mebibyte = 1024 ** 2;
/** Measuring takes at most this part of the time while nothing seems to grow. */
const share = 5;
const temporaryMax = 100_000;
const spaces = new WeakMap<Daemon, HomeSpace>();

/** The one of this daemon. */
export function spaceOf(daemon: Daemon): HomeSpace {
  const space = spaces.get(daemon) ?? new HomeSpace(daemon);
  spaces.set(daemon, space);
  return space;
}

/**
 * Enforces the limits of the home. While a process runs, the free space of the disk and the written bytes are checked
 * every second, and the home is measured as soon as it can have passed its limit. Above the limit, writing is off until
 * files are deleted.
 */
export class HomeSpace {
  readonly limits: SpaceLimits;
  readonly #home: string;
  readonly #activity: Daemon['activity'];
  readonly #listeners = new Set<SpaceListener>();
  #used: Space = { bytes: 0, files: 0 };
  #expected = 0;
  #temporary = 0;
  #measuring: Promise<void> | undefined;
  #isStale = false;
  #measuredAt = Number.NEGATIVE_INFINITY;
  #tookMs = 0;
  #freeThen = { bytes: 0, files: 0 };
  #writtenThen = 0;
  /** Its size when writing was switched off. */
  #ended: Space | undefined;
  #timer: Timer | undefined;

  constructor({ config, activity }: Daemon) {
    this.#home = config.home;
    this.limits = config.limits;
    this.#activity = activity;
  }

  /** As last measured, with what the daemon itself has written since; starts a measurement if that is a minute old. */
  get used(): Space {
    if (clock.elapsed() - this.#measuredAt > freshMs) void this.look();
    return { bytes: this.#used.bytes + this.#expected, files: this.#used.files };
  }

  /** Why nothing can be written; undefined while it can. */
  get full(): string | undefined {
    return this.#ended === undefined ? undefined : `${this.#why() ?? 'The limit was reached'}. ${advice}`;
  }

  /** Watches while commands and terminals run. */
  watch(): void {
    if (this.limits.bytes === undefined && this.limits.files === undefined) return;
    this.#timer ??= clock.every(tickMs, () => this.#tick());
  }

  /** Shows a notice in all running commands and terminals. */
  announce(text: string): void {
    for (const listener of this.#listeners) listener.notify(text);
  }

  subscribe(listener: SpaceListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Called before so many bytes are written. Measures again before it throws `storage_full`. */
  async assertRoom(bytes: number): Promise<void> {
    if (this.limits.bytes === undefined && this.limits.files === undefined) return;
    if (this.#refusal(bytes) === undefined && this.#measuredAt > 0) return;
    await this.settle();
    const refusal = this.#refusal(bytes);
    if (refusal !== undefined) throw refusal;
  }

  /** How many bytes still have room; throws nothing. */
  get roomBytes(): number {
    const { bytes = Number.POSITIVE_INFINITY } = this.limits;
    return Math.max(0, bytes - this.#used.bytes - this.#expected);
  }

  /** The refusal of a body that turned out too large. */
  tooMuch(): DaemonError {
    return new DaemonError('storage_full', `There is no room for this file: ${this.#told()}`);
  }

  /** Something is being written or has been; a negative number was not, after all. */
  count(bytes: number): void {
    this.#expected = Math.max(0, this.#expected + bytes);
  }

  /** Measures; callers wait only a short time for the result. */
  async settle(): Promise<void> {
    const late = Promise.withResolvers<void>();
    const timer = clock.after(settleMs, late.resolve);
    await Promise.race([this.look(), late.promise]);
    timer.stop();
  }

  /** Measures; resolves when what happened before this call has been seen. */
  look(): Promise<void> {
    if (this.#measuring !== undefined) {
      this.#isStale = true;
      return this.#measuring;
    }
    this.#measuring = this.#measure().finally(() => {
      this.#measuring = undefined;
    });
    return this.#measuring;
  }

  #tick(): void {
    const { processes, terminals, transfers } = this.#activity.snapshot().active;
    if (processes + terminals + transfers === 0) return;
    const age = clock.elapsed() - this.#measuredAt;
    if (this.#measuring !== undefined || age < this.#tookMs) return;
    this.#temporary = countTemporary(this.#home);
    const isDue = age > share * this.#tookMs && (this.#ended !== undefined || age > unseenMs);
    if (isDue || this.#temporary > temporaryMax || this.#mayBeFull()) void this.look();
  }

  /**
   * The loss of free space bounds the growth of the home, unless space outside it was freed; so the written bytes count
   * too.
   */
  #mayBeFull(): boolean {
    const { bytes, files } = this.limits;
    const free = this.#free();
    const bytesTaken = Math.max(this.#freeThen.bytes - free.bytes, writtenBytes() - this.#writtenThen);
    const taken = { bytes: bytesTaken, files: this.#freeThen.files - free.files };
    const left = {
      bytes: (bytes ?? Number.POSITIVE_INFINITY) - this.#used.bytes,
      files: (files ?? Number.POSITIVE_INFINITY) - this.#used.files,
    };
    return taken.bytes > Math.max(mebibyte, left.bytes / 4) || taken.files > Math.max(100, left.files / 4);
  }

  #free(): Space {
    try {
      const { bavail, bsize, ffree } = statfsSync(this.#home);
      return { bytes: bavail * bsize, files: ffree };
    } catch {
      return { bytes: 0, files: 0 };
    }
  }

  async #measure(): Promise<void> {
    do {
      this.#isStale = false;
      const [began, free, expected] = [clock.elapsed(), this.#free(), this.#expected];
      const written = writtenBytes();
      const measured = await measureHome(this.#home);
      // Bytes counted as written before are now part of the measurement.
      this.count(-expected);
      this.#temporary = countTemporary(this.#home);
      this.#freeThen = free;
      this.#writtenThen = written;
      if (measured !== undefined) this.#used = measured;
      this.#measuredAt = clock.elapsed();
      this.#tookMs = this.#measuredAt - began;
      await this.#judge();
    } while (this.#isStale);
  }

  async #judge(): Promise<void> {
    const why = this.#why();
    if (why === undefined && this.#ended !== undefined) {
      this.#ended = undefined;
      await setWriting(true);
    } else if (why !== undefined && this.#ended === undefined) {
      this.#ended = this.#used;
      const text = this.full ?? why;
      for (const listener of this.#listeners) listener.notify(text);
      await setWriting(false);
      // Bytes written before writing was switched off are not a violation.
      this.#ended = (await measureHome(this.#home)) ?? this.#used;
    } else if (this.#ended !== undefined && this.#grows(this.#ended)) {
      for (const listener of this.#listeners) listener.end();
      await setWriting(false);
    }
  }

  /** True if a process had its limit lifted, or creates empty files, which the limit does not stop. */
  #grows(then: Space): boolean {
    const { bytes = 0, files = 0 } = this.limits;
    const more = { bytes: Math.max(mebibyte, bytes / 100), files: Math.max(100, files / 100) };
    return (
      this.#used.bytes > then.bytes + more.bytes ||
      this.#used.files > then.files + more.files ||
      this.#temporary > temporaryMax * 1.1
    );
  }

  #why(): string | undefined {
    const { bytes, files } = this.limits;
    const isOver =
      (bytes !== undefined && this.#used.bytes > bytes) || (files !== undefined && this.#used.files > files);
    if (isOver) return `The disk space of this workspace is used up: ${this.#told()}`;
    return this.#temporary > temporaryMax ? `/tmp has more than ${temporaryMax} files` : undefined;
  }

  #refusal(bytes: number): DaemonError | undefined {
    if (this.#ended !== undefined) return new DaemonError('storage_full', this.full ?? advice);
    if (bytes > this.roomBytes) return this.tooMuch();
    const { files } = this.limits;
    return files !== undefined && this.#used.files >= files ? this.tooMuch() : undefined;
  }

  #told(): string {
    const { bytes, files } = this.limits;
    const { used } = this;
    const size = bytes === undefined ? '' : `${show(used.bytes)} of ${show(bytes)} are used`;
    const count = files === undefined || used.files < files ? '' : `${used.files} of ${files} files exist`;
    return [size, count].filter((text) => text !== '').join(', ');
  }
}

const advice = 'Nothing can be written until files are deleted.';

function show(bytes: number): string {
  const gibibytes = bytes / 1024 ** 3;
  return gibibytes >= 1 ? `${gibibytes.toFixed(1)} GiB` : `${(bytes / mebibyte).toFixed(1)} MiB`;
}
