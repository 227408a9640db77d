import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  constants,
  copyFileSync,
  createReadStream,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '../files/fault.ts';

/** Files up to this size are read at once. */
const smallBytes = 256 * 1024;
/** So much of the disk stays free. */
const freeBytesMin = 64 * 1024 * 1024;

/** Contents of files by their SHA-256, below a folder of the home. */
export class Blobs {
  readonly #folder: string;
  readonly #maxBytes: number;
  readonly #sizes = new Map<string, number>();
  /** Kept since the last look was noted: nothing else names them yet. */
  readonly #recent = new Set<string>();
  #bytes = 0;

  /** Reads what is there, and removes what is unfinished. */
  constructor(folder: string, maxBytes: number) {
    this.#folder = folder;
    this.#maxBytes = maxBytes;
    rmSync(this.#temporary, { recursive: true, force: true });
    mkdirSync(this.#temporary, { recursive: true, mode: 0o700 });
    mkdirSync(join(folder, 'blobs'), { recursive: true, mode: 0o700 });
    for (const start of readdirSync(join(folder, 'blobs'))) {
      for (const name of readdirSync(join(folder, 'blobs', start))) {
        const size = lstatSync(join(folder, 'blobs', start, name), { throwIfNoEntry: false })?.size;
        if (size !== undefined) this.#note(name, size);
      }
    }
  }

  has(content: string): boolean {
    return this.#sizes.has(content);
  }

  /** Whether a file of this size still fits in. */
  hasRoom(size: number): boolean {
    return this.#bytes + size <= this.#maxBytes;
  }

  pathOf(content: string): string {
    return join(this.#folder, 'blobs', content.slice(0, 2), content);
  }

  /** Everything kept so far is named elsewhere. */
  noted(): void {
    this.#recent.clear();
  }

  /** A name that nothing has, in the home's file system. */
  temporaryPath(): string {
    return join(this.#temporary, randomBytes(12).toString('hex'));
  }

  /** Keeps a file's bytes and returns their name; undefined if the disk is too full. Throws what reading it throws. */
  async keep(path: string, size: number): Promise<string | undefined> {
    const content = await (size <= smallBytes ? this.#keepBytes(readFileSync(path)) : this.#keepCopy(path, size));
    if (content !== undefined) this.#recent.add(content);
    return content;
  }

  async #keepCopy(path: string, size: number): Promise<string | undefined> {
    if (this.#isFull(size)) return undefined;
    const copy = this.temporaryPath();
    try {
      await copyFile(path, copy, constants.COPYFILE_FICLONE);
      chmodSync(copy, 0o600);
      const { hash, bytes } = await hashOf(copy);
      if (!this.has(hash)) this.#publish(copy, hash, bytes);
      return hash;
    } catch (error) {
      if (['ENOSPC', 'EDQUOT', 'EFBIG'].includes(errnoOf(error))) return undefined;
      throw error;
    } finally {
      rmSync(copy, { force: true });
    }
  }

  #keepBytes(bytes: Buffer): string | undefined {
    const hash = createHash('sha256').update(bytes).digest('hex');
    if (this.has(hash)) return hash;
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
      copyFileSync(this.pathOf(content), path, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error;
      this.#forget(content);
      return false;
    }
    return (await hashOf(path)).hash === content;
  }

  /** Removes everything that is not named. */
  sweep(named: ReadonlySet<string>): void {
    for (const content of [...this.#sizes.keys()]) {
      if (named.has(content) || this.#recent.has(content)) continue;
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
    this.#bytes += size;
  }

  #forget(content: string): void {
    this.#bytes -= this.#sizes.get(content) ?? 0;
    this.#sizes.delete(content);
  }
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
