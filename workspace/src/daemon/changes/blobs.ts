import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  constants,
  createReadStream,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { readStart } from '../file-system/read-start.ts';
import { errnoOf } from '../file-system/system-errors.ts';

/** Files up to this size are read at once. */
const smallBytes = 256 * 1024;
/** So much of the disk stays free. */
const freeBytesMin = 64 * 1024 * 1024;
/** Small files take a block of the disk each. */
const blockBytes = 4096;
const sizesAtOnce = 500;

/** Tries to free so many bytes. */
export type MakeRoom = (bytes: number) => Promise<void>;

/** Contents of files by their SHA-256, below a folder of the home. */
export class Blobs {
  readonly #folder: string;
  readonly #maxBytes: number;
  readonly #sizes = new Map<string, number>();
  /** How many there are of each size. */
  readonly #ofSize = new Map<number, number>();
  /** Kept since the last look was noted: nothing else names them yet. */
  readonly #recent = new Set<string>();
  #bytes = 0;

  private constructor(folder: string, maxBytes: number) {
    this.#folder = folder;
    this.#maxBytes = maxBytes;
  }

  /** Reads what is there, and removes what is unfinished. */
  static async open(folder: string, maxBytes: number): Promise<Blobs> {
    const blobs = new Blobs(folder, maxBytes);
    rmSync(blobs.#temporary, { recursive: true, force: true });
    mkdirSync(blobs.#temporary, { recursive: true, mode: 0o700 });
    mkdirSync(join(folder, 'blobs'), { recursive: true, mode: 0o700 });
    let seen = 0;
    for (const start of readdirSync(join(folder, 'blobs'), { withFileTypes: true })) {
      for (const name of start.isDirectory() ? readdirSync(join(folder, 'blobs', start.name)) : []) {
        if (++seen % sizesAtOnce === 0) await setImmediate();
        const size = lstatSync(join(folder, 'blobs', start.name, name), { throwIfNoEntry: false })?.size;
        if (size !== undefined) blobs.#note(name, size);
      }
    }
    return blobs;
  }

  /** False once the folder has been removed. */
  isThere(): boolean {
    return existsSync(this.#temporary);
  }

  has(content: string): boolean {
    return this.#sizes.has(content);
  }

  /** Whether a file of this size still fits in. */
  hasRoom(size: number): boolean {
    return this.#bytes + inBlocks(size) <= this.#maxBytes;
  }

  /** Bytes left in the store beside a file of this size; negative if it does not fit at all. */
  bytesBeside(size: number): number {
    return this.#maxBytes - inBlocks(size);
  }

  bytesOf(contents: Iterable<string>): number {
    let bytes = 0;
    for (const content of contents) bytes += this.#takenBy(content);
    return bytes;
  }

  /** Kept since the last look was noted. */
  unnamed(): Iterable<string> {
    return this.#recent;
  }

  pathOf(content: string): string {
    return join(this.#folder, 'blobs', content.slice(0, 2), content);
  }

  /** Everything kept so far is named by a look or a turn. */
  noted(): void {
    this.#recent.clear();
  }

  /** A name that nothing has, in the home's file system. */
  temporaryPath(): string {
    return join(this.#temporary, randomBytes(12).toString('hex'));
  }

  /**
   * Keeps a file's bytes and returns their name; undefined if there is no room for them, even after `evictTurns`. Throws
   * what reading it throws.
   */
  async keep(path: string, size: number, evictTurns: MakeRoom): Promise<string | undefined> {
    // Without room, reads the file only if the store could already contain it.
    if (!this.#ofSize.has(size) && !(await this.#canHold(size, evictTurns))) return undefined;
    const isSmall = size <= smallBytes;
    const content = await (isSmall
      ? this.#keepBytes(readStart(path, smallBytes), evictTurns)
      : this.#keepCopy(path, size, evictTurns));
    if (content !== undefined) this.#recent.add(content);
    return content;
  }

  async #canHold(size: number, evictTurns: MakeRoom): Promise<boolean> {
    if (!this.hasRoom(size)) await evictTurns(size);
    return this.hasRoom(size) && !this.#isFull(size);
  }

  async #keepCopy(path: string, size: number, evictTurns: MakeRoom): Promise<string | undefined> {
    if (this.#isFull(size)) return undefined;
    const copy = this.temporaryPath();
    try {
      await copyFile(path, copy, constants.COPYFILE_FICLONE);
      chmodSync(copy, 0o600);
      const { hash, bytes } = await hashOf(copy);
      if (this.has(hash)) return hash;
      if (!(await this.#canHold(bytes, evictTurns))) return undefined;
      this.#publish(copy, hash, bytes);
      return hash;
    } catch (error) {
      if (['ENOSPC', 'EDQUOT', 'EFBIG'].includes(errnoOf(error))) return undefined;
      throw error;
    } finally {
      rmSync(copy, { force: true });
    }
  }

  async #keepBytes(bytes: Buffer, evictTurns: MakeRoom): Promise<string | undefined> {
    const hash = createHash('sha256').update(bytes).digest('hex');
    if (this.has(hash)) return hash;
    if (!(await this.#canHold(bytes.length, evictTurns))) return undefined;
    const copy = this.temporaryPath();
    try {
      writeFileSync(copy, bytes, { mode: 0o600, flag: 'wx' });
      this.#publish(copy, hash, bytes.length);
      return hash;
    } catch (error) {
      rmSync(copy, { force: true });
      if (['ENOSPC', 'EDQUOT'].includes(errnoOf(error))) return undefined;
      throw error;
    }
  }

  /** Puts a copy at `path`, a name that nothing has yet. False if the bytes are gone or not what they were. */
  async restore(content: string, path: string): Promise<boolean> {
    if (!this.has(content)) return false;
    try {
      await copyFile(this.pathOf(content), path, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error;
      this.#forget(content);
      return false;
    }
    return (await hashOf(path)).hash === content;
  }

  /** Removes everything else. */
  sweep(named: ReadonlySet<string>): void {
    for (const content of [...this.#sizes.keys()]) {
      if (named.has(content)) continue;
      rmSync(this.pathOf(content), { force: true });
      this.#forget(content);
    }
  }

  get #temporary(): string {
    return join(this.#folder, 'tmp');
  }

  #publish(copy: string, hash: string, size: number): void {
    mkdirSync(join(this.#folder, 'blobs', hash.slice(0, 2)), { recursive: true, mode: 0o700 });
    renameSync(copy, this.pathOf(hash));
    this.#note(hash, size);
  }

  #isFull(size: number): boolean {
    const { bavail, bsize } = statfsSync(this.#folder);
    return bavail * bsize < size + freeBytesMin;
  }

  #note(content: string, size: number): void {
    this.#forget(content);
    this.#sizes.set(content, size);
    this.#ofSize.set(size, (this.#ofSize.get(size) ?? 0) + 1);
    this.#bytes += inBlocks(size);
  }

  #forget(content: string): void {
    const size = this.#sizes.get(content);
    if (size === undefined) return;
    this.#bytes -= inBlocks(size);
    this.#sizes.delete(content);
    const others = (this.#ofSize.get(size) ?? 1) - 1;
    if (others > 0) this.#ofSize.set(size, others);
    else this.#ofSize.delete(size);
  }

  #takenBy(content: string): number {
    const size = this.#sizes.get(content);
    return size === undefined ? 0 : inBlocks(size);
  }
}

function inBlocks(size: number): number {
  return Math.max(1, Math.ceil(size / blockBytes)) * blockBytes;
}

async function hashOf(path: string): Promise<{ hash: string; bytes: number }> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 })) {
    hash.update(chunk as Buffer);
    bytes += (chunk as Buffer).length;
  }
  return { hash: hash.digest('hex'), bytes };
}
