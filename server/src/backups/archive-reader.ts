import { createHash, type Hash } from 'node:crypto';
import { sumLine, trailerOf } from './archive-writer.ts';
import { damaged } from './backup-error.ts';
import { paxMax, readPax, readTarHeader, type TarEntry, tarBlock } from './tar.ts';

/** A member while it is read; bytes of `content` that the consumer leaves unread are skipped. */
export type Member = Required<Pick<TarEntry, 'name' | 'size' | 'kind' | 'mode'>> & {
  target?: string;
  content: AsyncIterable<Buffer>;
  /** The whole content, refused if it is longer than `most`. */
  bytes(most: number): Promise<Buffer>;
};

const sumsMax = 16 * 1024 * 1024;
const endMax = 1024 * 1024;
const pieceMax = 256 * 1024;

/**
 * The members of a backup, in order. Throws for anything that the writer would not have written: a changed bit
 * anywhere, a missing or an added member, a missing end. An archive is verified only once it has been read to the end.
 */
export async function* readArchive(source: AsyncIterable<Uint8Array>): AsyncGenerator<Member, unknown, undefined> {
  const bytes = new ByteReader(source);
  const sums = new Map<string, string>();
  let sumsRead = 0;
  let members = 0;
  for (;;) {
    const entry = await readEntry(bytes);
    if (entry === undefined) throw damaged('its end is missing');
    const hash = createHash('sha256');
    const member = new OpenMember(bytes, entry, hash);
    if (entry.name === 'end.json') {
      const end = parseJson((await member.bytes(endMax)).toString());
      await member.close();
      if (sums.size > 0) throw damaged('checksums are missing');
      if (member.numberOf(end, 'members') !== members || member.numberOf(end, 'sums') !== sumsRead) {
        throw damaged('members are missing');
      }
      await readTrailer(bytes);
      return end;
    }
    if (entry.name.startsWith('sums/')) {
      checkSums(sums, (await member.bytes(sumsMax)).toString());
      await member.close();
      sumsRead += 1;
      continue;
    }
    yield member;
    await member.close();
    members += 1;
    if (entry.kind === 'file') sums.set(entry.name, hash.digest('hex'));
    if (sums.size > 1_000) throw damaged('checksums are missing');
  }
}

function checkSums(found: Map<string, string>, listed: string): void {
  const lines = new Set(listed.split('\n').slice(0, -1));
  if (lines.size !== found.size) throw damaged('members are missing');
  for (const [name, sha256] of found) {
    if (!lines.has(sumLine(sha256, name))) throw damaged(`${name} is missing or has been changed`);
  }
  found.clear();
}

async function readTrailer(bytes: ByteReader): Promise<void> {
  const zeros = await bytes.exactly(2 * tarBlock);
  const expected = trailerOf(bytes.digest());
  const trailer = await bytes.exactly(tarBlock);
  if (zeros.some((byte) => byte !== 0) || !trailer.equals(expected)) throw damaged('its checksum is wrong');
  if (!(await bytes.isAtEnd())) throw damaged('something follows its end');
}

async function readEntry(bytes: ByteReader): Promise<TarEntry | undefined> {
  const header = await bytes.exactly(tarBlock);
  if (header.every((byte) => byte === 0)) return undefined;
  const plain = readTarHeader(header);
  if (plain === undefined) throw damaged('a header cannot be read');
  if (!plain.isPax) return plain;
  if (plain.size > paxMax) throw damaged('a header is too long');
  const records = readPax(await bytes.exactly(plain.size));
  await bytes.exactly((tarBlock - (plain.size % tarBlock)) % tarBlock);
  const entry = readTarHeader(await bytes.exactly(tarBlock));
  if (records === undefined || entry === undefined || entry.isPax) throw damaged('a header cannot be read');
  const [path, target, size] = [
    records.get('path'),
    records.get('linkpath'),
    Number(records.get('size') ?? entry.size),
  ];
  if (!Number.isSafeInteger(size) || size < 0) throw damaged('a header cannot be read');
  return { ...entry, name: path ?? entry.name, size, ...(target === undefined ? {} : { target }) };
}

class OpenMember implements Member {
  readonly name: string;
  readonly size: number;
  readonly kind: 'file' | 'folder' | 'link';
  readonly mode: number;
  readonly target?: string;
  readonly #bytes: ByteReader;
  readonly #hash: Hash;
  #left: number;

  constructor(bytes: ByteReader, entry: TarEntry, hash: Hash) {
    this.#bytes = bytes;
    this.#hash = hash;
    this.#left = entry.size;
    this.name = entry.name;
    this.size = entry.size;
    this.kind = entry.kind ?? 'file';
    this.mode = entry.mode ?? 0o600;
    if (entry.target !== undefined) this.target = entry.target;
  }

  get content(): AsyncIterable<Buffer> {
    return this.#read();
  }

  async bytes(most: number): Promise<Buffer> {
    if (this.size > most) throw damaged(`${this.name} is too long`);
    const pieces: Buffer[] = [];
    for await (const piece of this.#read()) pieces.push(piece);
    return Buffer.concat(pieces);
  }

  /** Reads what is left, and the padding. */
  async close(): Promise<void> {
    for await (const _ of this.#read());
    const padding = await this.#bytes.exactly((tarBlock - (this.size % tarBlock)) % tarBlock);
    if (padding.some((byte) => byte !== 0)) throw damaged(`${this.name} has been changed`);
  }

  numberOf(content: unknown, name: string): number | undefined {
    if (typeof content !== 'object' || content === null) return undefined;
    const value: unknown = new Map(Object.entries(content)).get(name);
    return typeof value === 'number' ? value : undefined;
  }

  async *#read(): AsyncGenerator<Buffer, void, undefined> {
    while (this.#left > 0) {
      const piece = await this.#bytes.some(Math.min(this.#left, pieceMax));
      this.#left -= piece.length;
      this.#hash.update(piece);
      yield piece;
    }
  }
}

/** Takes as many bytes as wanted from chunks of any size, and hashes all of them. */
class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #hash = createHash('sha256');
  #rest: Buffer = Buffer.alloc(0);
  #isHashing = true;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** At least one byte and at most so many; throws at the end. */
  async some(most: number): Promise<Buffer> {
    while (this.#rest.length === 0) {
      const next = await this.#source.next();
      if (next.done === true) throw damaged('its end is missing');
      this.#rest = Buffer.from(next.value.buffer, next.value.byteOffset, next.value.byteLength);
    }
    const piece = this.#rest.subarray(0, most);
    this.#rest = this.#rest.subarray(piece.length);
    if (this.#isHashing) this.#hash.update(piece);
    return piece;
  }

  async exactly(count: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for (let left = count; left > 0; ) {
      const piece = await this.some(left);
      pieces.push(piece);
      left -= piece.length;
    }
    return Buffer.concat(pieces);
  }

  async isAtEnd(): Promise<boolean> {
    while (this.#rest.length === 0) {
      const next = await this.#source.next();
      if (next.done === true) return true;
      this.#rest = Buffer.from(next.value);
    }
    return false;
  }

  /** The SHA-256 of everything so far; ends hashing, so later bytes are not included. */
  digest(): string {
    this.#isHashing = false;
    return this.#hash.digest('hex');
  }
}

/** Parsed JSON of a member. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw damaged('a description in it cannot be read');
  }
}
