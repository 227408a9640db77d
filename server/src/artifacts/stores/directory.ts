import { createHash, randomBytes } from 'node:crypto';
import {
  access,
  constants,
  type FileHandle,
  mkdir,
  open,
  opendir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
} from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { makeFolder } from '../../platform/make-folder.ts';
import { type BlobStore, markMaxBytes, markName, type StoredBlob, type TakeBytes } from '../blob-store.ts';
import { isStorageFull, storageFull } from '../storage-full.ts';

/** How many bytes may wait for the disk while the next ones are hashed. */
const writeAhead = 2 * 1024 * 1024;
const readBlock = 256 * 1024;
const listBatch = 500;
const incomingFolder = 'incoming';
const keyShape = /^[0-9a-f]{2}\/[0-9a-f]{64}-[0-9a-f]{16}$/;

/**
 * Files in a directory, named by their contents: `<first two digits>/<sha256>-<random>`. Each is written to `incoming`,
 * synced and renamed into place. The random part ensures that a removal never hits a later upload of the same content.
 */
export function createDirectoryStore(root: string): BlobStore {
  const incoming = join(root, incomingFolder);
  const fileOf = (key: string): string => {
    if (!keyShape.test(key)) throw new Error('not a key of this store');
    return join(root, key);
  };
  return {
    async prepare() {
      makeFolder(incoming, 0o700);
      await access(incoming, constants.W_OK);
    },
    async put(bytes) {
      const draft = join(incoming, randomBytes(16).toString('hex'));
      try {
        const { sha256, size } = await writeFile(draft, bytes);
        const key = `${sha256.slice(0, 2)}/${sha256}-${randomBytes(8).toString('hex')}`;
        await place(root, draft, key);
        return { key, sha256, size };
      } catch (error) {
        await rm(draft, { force: true }).catch(() => undefined);
        throw isStorageFull(error) ? storageFull(error) : error;
      }
    },
    async read(key, { start, end }, take) {
      const handle = await open(fileOf(key), 'r');
      try {
        await readRange(handle, start, end, take);
      } finally {
        await handle.close();
      }
    },
    async remove(keys) {
      for (const key of keys) await rm(fileOf(key), { force: true });
    },
    async *listOlder(ageMs) {
      for (const name of await namesIn(root)) {
        if (!/^[0-9a-f]{2}$/.test(name)) continue;
        let batch: string[] = [];
        for await (const entry of await opendir(join(root, name))) {
          const key = `${name}/${entry.name}`;
          if (keyShape.test(key) && (await isOlder(join(root, key), ageMs))) batch.push(key);
          if (batch.length < listBatch) continue;
          yield batch;
          batch = [];
        }
        if (batch.length > 0) yield batch;
      }
    },
    async removeUnfinished(ageMs) {
      for (const name of await namesIn(incoming)) {
        const file = join(incoming, name);
        if (await isOlder(file, ageMs)) await rm(file, { force: true });
      }
    },
    async readMark() {
      const text = await readFile(join(root, markName), 'utf8').catch((error: unknown) => {
        if (codeOf(error) === 'ENOENT') return undefined;
        throw error;
      });
      return text?.slice(0, markMaxBytes).trim();
    },
    async writeMark(name) {
      const draft = join(incoming, randomBytes(16).toString('hex'));
      await writeFile(draft, Readable.from([Buffer.from(`${name}\n`)]));
      await rename(draft, join(root, markName));
      await syncFolder(root);
    },
    close: () => undefined,
  };
}

/** Writes and hashes at once: the next bytes are hashed while the disk writes the previous ones. */
async function writeFile(file: string, bytes: AsyncIterable<Uint8Array>): Promise<Omit<StoredBlob, 'key'>> {
  const handle = await openNew(file);
  const writer = new WriteAhead(handle);
  const hash = createHash('sha256');
  let size = 0;
  try {
    for await (const chunk of bytes) {
      writer.add(chunk);
      hash.update(chunk);
      size += chunk.length;
      await writer.room();
    }
    await writer.finish();
    await handle.sync();
    return { sha256: hash.digest('hex'), size };
  } finally {
    await writer.settled();
    await handle.close();
  }
}

/** Queue with one write at a time; data that arrives meanwhile waits for the next write. */
class WriteAhead {
  readonly #handle: FileHandle;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #writing: Promise<void> | undefined;
  #failure: { cause: unknown } | undefined;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  add(chunk: Uint8Array): void {
    this.#waiting.push(chunk);
    this.#waitingBytes += chunk.length;
    if (this.#writing === undefined) this.#write();
  }

  /** Resolves when more can be added; throws the error of a failed write. */
  async room(): Promise<void> {
    while (this.#writing !== undefined && this.#waitingBytes > writeAhead) await this.#writing;
    if (this.#failure !== undefined) throw this.#failure.cause;
  }

  async finish(): Promise<void> {
    await this.settled();
    if (this.#failure !== undefined) throw this.#failure.cause;
  }

  async settled(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
  }

  #write(): void {
    if (this.#waiting.length === 0 || this.#failure !== undefined) return;
    const batch = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#writing = writeAll(this.#handle, batch).then(
      () => {
        for (const chunk of batch) release(chunk);
        this.#writing = undefined;
        this.#write();
      },
      (cause: unknown) => {
        this.#writing = undefined;
        this.#failure = { cause };
      },
    );
  }
}

const releasedFrom = 16 * 1024;

/**
 * Frees a written chunk's memory at once. Left to the garbage collector, a file of 1 GiB makes it run dozens of times,
 * which costs more than hashing. A chunk that shares its memory is left alone.
 */
function release(chunk: Uint8Array): void {
  const { buffer } = chunk;
  if (chunk.length < releasedFrom || chunk.length !== buffer.byteLength || !(buffer instanceof ArrayBuffer)) return;
  buffer.transfer(0);
}

/** Two blocks take turns: one is read while the other is consumed. No garbage, however large the file. */
async function readRange(handle: FileHandle, start: number, end: number, take: TakeBytes): Promise<void> {
  const size = Math.min(readBlock, end - start + 1);
  const blocks = [Buffer.allocUnsafeSlow(size), Buffer.allocUnsafeSlow(size)] as const;
  let taking = Promise.resolve();
  let at = start;
  for (let turn: 0 | 1 = 0; at <= end; turn = turn === 0 ? 1 : 0) {
    const block = blocks[turn];
    const { bytesRead } = await handle.read(block, 0, Math.min(size, end - at + 1), at);
    await taking;
    if (bytesRead === 0) throw new Error('a stored file is shorter than expected');
    taking = take(block.subarray(0, bytesRead));
    // Awaited in the next round; until then a failure must not count as unhandled.
    taking.catch(() => undefined);
    at += bytesRead;
  }
  await taking;
}

async function writeAll(handle: FileHandle, batch: Uint8Array[]): Promise<void> {
  let rest = batch;
  while (rest.length > 0) {
    const { bytesWritten } = await handle.writev(rest);
    rest = skip(rest, bytesWritten);
  }
}

function skip(chunks: Uint8Array[], bytes: number): Uint8Array[] {
  let left = bytes;
  for (const [index, chunk] of chunks.entries()) {
    if (left < chunk.length) return [chunk.subarray(left), ...chunks.slice(index + 1)];
    left -= chunk.length;
  }
  return [];
}

/** The directory may have been deleted, or be new: it is created when needed. */
async function openNew(file: string): Promise<FileHandle> {
  try {
    return await open(file, 'wx', 0o600);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    await mkdir(join(file, '..'), { recursive: true, mode: 0o700 });
    return open(file, 'wx', 0o600);
  }
}

async function place(root: string, draft: string, key: string): Promise<void> {
  const folder = join(root, key.slice(0, 2));
  const made = await mkdir(folder, { mode: 0o700 }).then(
    () => true,
    (error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error;
      return false;
    },
  );
  await rename(draft, join(root, key));
  await syncFolder(folder);
  if (made) await syncFolder(root);
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  });
}

async function isOlder(file: string, ageMs: number): Promise<boolean> {
  const facts = await stat(file).catch(() => undefined);
  return facts?.isFile() === true && facts.mtimeMs <= Date.now() - ageMs;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
