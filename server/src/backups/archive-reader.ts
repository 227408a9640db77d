import { createHash, type Hash } from 'node:crypto';
import { type Extract, extract, type Header } from 'tar-stream';
import { sumLine, type TarEntry, trailerBytes, trailerOf } from './archive-writer.ts';
import { BackupError, damaged } from './backup-error.ts';

/** A member while it is read; bytes of `content` that the consumer leaves unread are skipped. */
export type Member = Required<Pick<TarEntry, 'name' | 'size' | 'kind' | 'mode'>> & {
  target?: string;
  content: AsyncIterable<Buffer>;
  /** The whole content, refused if it is longer than `most`. */
  bytes(most: number): Promise<Buffer>;
};

type Entry = AsyncIterable<unknown> & { header: Header };

const sumsMax = 16 * 1024 * 1024;
const endMax = 1024 * 1024;
const kinds = new Map<string, Member['kind']>([
  ['file', 'file'],
  ['directory', 'folder'],
  ['symlink', 'link'],
]);

/**
 * The members of a backup, in order. Throws for anything that the writer would not have written: a changed bit
 * anywhere, a missing or an added member, a missing end. An archive is verified only once it has been read to the end.
 */
export async function* readArchive(source: AsyncIterable<Uint8Array>): AsyncGenerator<Member, unknown, undefined> {
  const archive = new Archive(source);
  const sums = new Map<string, string>();
  let sumsRead = 0;
  let members = 0;
  try {
    for (;;) {
      const member = await archive.next();
      if (member === undefined) throw damaged('its end is missing');
      if (member.name === 'end.json') {
        const end = parseJson((await member.bytes(endMax)).toString());
        if (sums.size > 0) throw damaged('checksums are missing');
        if (numberOf(end, 'members') !== members || numberOf(end, 'sums') !== sumsRead) {
          throw damaged('members are missing');
        }
        await archive.checkEnd();
        return end;
      }
      if (member.name.startsWith('sums/')) {
        checkSums(sums, (await member.bytes(sumsMax)).toString());
        sumsRead += 1;
        continue;
      }
      yield member;
      const sha256 = await member.close();
      members += 1;
      if (member.kind === 'file') sums.set(member.name, sha256);
      if (sums.size > 1_000) throw damaged('checksums are missing');
    }
  } finally {
    archive.close();
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

function numberOf(content: unknown, name: string): number | undefined {
  if (typeof content !== 'object' || content === null) return undefined;
  const value: unknown = new Map(Object.entries(content)).get(name);
  return typeof value === 'number' ? value : undefined;
}

/** The tar file before the trailer, and the trailer: the last 512 bytes. */
class Archive {
  readonly #extract: Extract = extract();
  readonly #entries: AsyncIterator<Entry>;
  readonly #hash = createHash('sha256');
  #trailer: Buffer = Buffer.alloc(0);
  #failure: { cause: unknown } | undefined;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#entries = this.#extract[Symbol.asyncIterator]();
    void this.#feed(source);
  }

  /** The next member, or undefined at the end. The one before must be closed. */
  async next(): Promise<OpenMember | undefined> {
    const next = await this.#entries.next().catch((error: unknown) => this.#fail(error));
    return next.done === true ? undefined : new OpenMember(next.value, (error) => this.#fail(error));
  }

  async checkEnd(): Promise<void> {
    if ((await this.next()) !== undefined) throw damaged('something follows its end');
    if (!this.#trailer.equals(trailerOf(this.#hash.digest('hex')))) throw damaged('its checksum is wrong');
  }

  close(): void {
    this.#extract.destroy(null);
  }

  async #feed(source: AsyncIterable<Uint8Array>): Promise<void> {
    let resume = (): void => undefined;
    this.#extract.on('drain', () => resume());
    this.#extract.on('close', () => resume());
    try {
      for await (const chunk of source) {
        const bytes = Buffer.concat([this.#trailer, chunk]);
        const body = bytes.subarray(0, Math.max(bytes.length - trailerBytes, 0));
        this.#trailer = bytes.subarray(body.length);
        this.#hash.update(body);
        if (this.#extract.destroyed) return;
        if (!this.#extract.write(body))
          await new Promise<void>((resolve) => {
            resume = resolve;
          });
      }
      this.#extract.end(null);
    } catch (cause) {
      this.#failure = { cause };
      this.#extract.destroy(cause instanceof Error ? cause : new Error('The source failed', { cause }));
    }
  }

  /** Throws the error of the source, if that is the reason. */
  #fail(error: unknown): never {
    if (this.#failure !== undefined) throw this.#failure.cause;
    throw error instanceof BackupError ? error : damaged('its end is missing or a header cannot be read');
  }
}

class OpenMember implements Member {
  readonly name: string;
  readonly size: number;
  readonly kind: Member['kind'];
  readonly mode: number;
  readonly target?: string;
  readonly #content: AsyncIterator<unknown>;
  readonly #hash: Hash = createHash('sha256');
  readonly #fail: (error: unknown) => never;

  constructor(entry: Entry, fail: (error: unknown) => never) {
    const { name, size, mode, type, linkname } = entry.header;
    const kind = kinds.get(type);
    if (kind === undefined) throw damaged('a header cannot be read');
    this.#content = entry[Symbol.asyncIterator]();
    this.#fail = fail;
    this.name = name;
    this.size = size;
    this.kind = kind;
    this.mode = mode;
    if (kind === 'link') this.target = linkname ?? '';
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

  /** Reads the unread bytes. Returns the SHA-256 of the content. */
  async close(): Promise<string> {
    for await (const _ of this.#read());
    return this.#hash.digest('hex');
  }

  /** Continues after the bytes that were read before: an early end of a loop does not end the member. */
  async *#read(): AsyncGenerator<Buffer, void, undefined> {
    for (;;) {
      const next = await this.#content.next().catch((error: unknown) => this.#fail(error));
      if (next.done === true) return;
      const bytes = bytesOf(next.value);
      this.#hash.update(bytes);
      yield bytes;
    }
  }
}

function bytesOf(piece: unknown): Buffer {
  if (!(piece instanceof Uint8Array)) throw new TypeError('tar-stream yields bytes');
  return Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
}

/** Parsed JSON of a member. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw damaged('a description in it cannot be read');
  }
}
