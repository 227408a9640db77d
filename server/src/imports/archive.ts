import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { ImportRefused, importBounds } from './readers/read-conversation.ts';

/** An uploaded file, its format detected from the first bytes. Zip files are never unpacked to disk. */
export type Archive = ZipArchive | PlainFile;

const mebibyte = 1024 * 1024;

export async function openArchive(path: string): Promise<Archive> {
  const head = await readHead(path);
  if (head.toString('latin1', 0, 15) === 'SQLite format 3') return new PlainFile(path, 'database');
  if (head.toString('latin1', 0, 4) === 'PK\u0003\u0004') return ZipArchive.open(path);
  if (head.toString('latin1', 0, 2) === 'PK') throw new ImportRefused('The archive is empty or one part of several.');
  const first = head
    .toString('utf8')
    .replace(/^\ufeff/, '')
    .trimStart()[0];
  if (first === '[' || first === '{') return new PlainFile(path, 'json');
  throw new ImportRefused('This is neither a zip archive nor a JSON file. Upload the export as you received it.');
}

async function readHead(path: string): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4096), 0, 4096, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** A single JSON file or database. */
export class PlainFile {
  readonly path: string;
  readonly kind: 'json' | 'database';
  readonly entries: readonly string[] = [];

  constructor(path: string, kind: 'json' | 'database') {
    this.path = path;
    this.kind = kind;
  }

  read(): Readable {
    return createReadStream(this.path, { highWaterMark: 256 * 1024 });
  }

  close(): void {}
}

export class ZipArchive {
  readonly kind = 'zip';
  readonly #zip: ZipFile;
  readonly #entries: ReadonlyMap<string, Entry>;

  private constructor(zip: ZipFile, entries: ReadonlyMap<string, Entry>) {
    this.#zip = zip;
    this.#entries = entries;
  }

  /** Reads the directory and refuses what is unsafe before anything is unpacked. */
  static async open(path: string): Promise<ZipArchive> {
    const { size } = await stat(path);
    let zip: ZipFile | undefined;
    try {
      zip = await openPromise(path, { autoClose: false, validateEntrySizes: true });
      return new ZipArchive(zip, await readDirectory(zip, size));
    } catch (error) {
      zip?.close();
      if (error instanceof ImportRefused) throw error;
      throw new ImportRefused('The archive is damaged or was cut short. Download it again and upload it whole.', {
        cause: error,
      });
    }
  }

  get entries(): readonly string[] {
    return [...this.#entries.keys()];
  }

  sizeOf(entry: string): number {
    return this.#entries.get(entry)?.uncompressedSize ?? 0;
  }

  has(entry: string): boolean {
    return this.#entries.has(entry);
  }

  /** The bytes of an entry; fails if there are more or fewer than it says. */
  async read(entry: string): Promise<Readable> {
    const found = this.#entries.get(entry);
    if (found === undefined) throw new ImportRefused('A file that the archive names is not in it.');
    return this.#zip.openReadStreamPromise(found);
  }

  /** A whole entry of at most `most` bytes; undefined if it is larger or damaged. */
  async readWhole(entry: string, most: number): Promise<Buffer | undefined> {
    if (this.sizeOf(entry) > most) return undefined;
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of await this.read(entry)) chunks.push(Buffer.from(chunk));
      return Buffer.concat(chunks);
    } catch {
      return undefined;
    }
  }

  close(): void {
    this.#zip.close();
  }
}

async function readDirectory(zip: ZipFile, packedBytes: number): Promise<Map<string, Entry>> {
  const { entries: mostEntries, unpackedBytes, ratio, directoryBytes, commentBytes } = importBounds;
  if (zip.entryCount > mostEntries) throw new ImportRefused(`The archive has more than ${mostEntries} files.`);
  const found = new Map<string, Entry>();
  let unpacked = 0;
  let described = 0;
  let commented = 0;
  for await (const entry of zip.eachEntry()) {
    described += entry.fileNameLength + entry.extraFieldLength;
    commented += entry.fileCommentLength;
    if (described > directoryBytes || commented > commentBytes) {
      throw new ImportRefused('The archive says more about its files than any export does, and is not read.');
    }
    if (entry.fileName.endsWith('/')) continue;
    if (entry.isEncrypted())
      throw new ImportRefused('The archive is encrypted. Unpack it and zip it again without a password.');
    unpacked += entry.uncompressedSize;
    if (unpacked > unpackedBytes || unpacked > 256 * mebibyte + packedBytes * ratio) {
      throw new ImportRefused('The archive unpacks to far more than its size and is not read.');
    }
    // Only its place and size are needed again.
    entry.extraFields = [];
    entry.fileComment = '';
    if (!found.has(entry.fileName)) found.set(entry.fileName, entry);
  }
  return found;
}
