import { createHash, type Hash } from 'node:crypto';
import { type Pack, pack } from 'tar-stream';

/** Destination of an archive's bytes; resolves when it accepts more. */
export type Sink = (bytes: Uint8Array) => Promise<void>;

/** A member of an archive; `target` is the path in a symbolic link. */
export type TarEntry = {
  name: string;
  size: number;
  kind?: 'file' | 'folder' | 'link';
  mode?: number;
  target?: string;
};

const types = { file: 'file', folder: 'directory', link: 'symlink' } as const;
/** Bits of the file type. With them, tar-stream does not replace a mode of 0 by its default. */
const fileType = 0o100_000;
export const trailerBytes = 512;

type Content = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
type Member = ReturnType<Pack['entry']>;

const trailerMark = 'homeport-backup-sha256';
const sumsPerMember = 1_000;

/** The last block of an archive: the SHA-256 of everything before it. Programs that read tar files ignore it. */
export function trailerOf(sha256: string): Buffer {
  const block = Buffer.alloc(trailerBytes);
  block.write(`${trailerMark} ${sha256}\n`);
  return block;
}

/** A line as `sha256sum` writes it: line breaks and backslashes in a name are escaped, and a backslash comes first. */
export function sumLine(sha256: string, name: string): string {
  const escaped = name.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r');
  return `${escaped === name ? '' : '\\'}${sha256}  ${escaped}`;
}

/**
 * Writes a backup as a tar file. After every thousand members comes a member `sums/…` with their SHA-256, in the form
 * that `sha256sum --check` reads. Memory does not grow with the archive.
 */
export class ArchiveWriter {
  readonly #sink: Sink;
  readonly #pack = pack();
  readonly #written: Promise<void>;
  readonly #whole = createHash('sha256');
  #failure: { cause: unknown } | undefined;
  #sums: string[] = [];
  #sumsWritten = 0;
  #members = 0;
  bytes = 0;

  constructor(sink: Sink) {
    this.#sink = sink;
    this.#written = this.#copy();
    // The writer of a member reports it.
    this.#written.catch(() => undefined);
  }

  get members(): number {
    return this.#members;
  }

  async add(name: string, content: Uint8Array): Promise<void> {
    await this.stream({ name, size: content.length }, [content]);
  }

  /** Adds a member whose content must have exactly the announced size. Returns its SHA-256. */
  async stream(entry: TarEntry, content: Content): Promise<string> {
    const sha256 = await this.#write(entry, content);
    this.#members += 1;
    if (entry.kind === undefined || entry.kind === 'file') this.#sums.push(`${sumLine(sha256, entry.name)}\n`);
    if (this.#sums.length >= sumsPerMember) await this.#writeSums();
    return sha256;
  }

  /** Writes what is missing, then the last member, which says what must be there. Returns the SHA-256 of all. */
  async finish(end: object): Promise<string> {
    if (this.#sums.length > 0) await this.#writeSums();
    const content = { ...end, members: this.#members, sums: this.#sumsWritten };
    const bytes = Buffer.from(`${JSON.stringify(content)}\n`);
    await this.#write({ name: 'end.json', size: bytes.length }, [bytes]);
    this.#pack.finalize();
    await this.#written;
    const sha256 = this.#whole.digest('hex');
    await this.#sink(trailerOf(sha256));
    this.bytes += trailerBytes;
    return sha256;
  }

  async #writeSums(): Promise<void> {
    const bytes = Buffer.from(this.#sums.join(''));
    this.#sums = [];
    this.#sumsWritten += 1;
    await this.#write({ name: `sums/${String(this.#sumsWritten).padStart(6, '0')}`, size: bytes.length }, [bytes]);
  }

  async #write(entry: TarEntry, content: Content): Promise<string> {
    const { kind = 'file', mode = 0o600, name, size, target = '' } = entry;
    const header = { name, size, type: types[kind], mode: mode | fileType, mtime: new Date(0), linkname: target };
    const { promise: packed, resolve, reject } = Promise.withResolvers<void>();
    packed.catch(() => undefined);
    const hash = createHash('sha256');
    let member: Member | undefined;
    try {
      member = this.#pack.entry(header, (error) => (error ? reject(error) : resolve()));
      if (kind === 'file') await fill(member, entry, content, { hash, packed });
      await packed;
      return hash.digest('hex');
    } catch (error) {
      member?.destroy(null);
      throw this.#failure === undefined ? error : this.#failure.cause;
    }
  }

  async #copy(): Promise<void> {
    try {
      for await (const bytes of this.#pack) {
        if (!(bytes instanceof Uint8Array)) throw new TypeError('tar-stream yields bytes');
        this.#whole.update(bytes);
        this.bytes += bytes.length;
        await this.#sink(bytes);
      }
    } catch (cause) {
      this.#failure = { cause };
      throw cause;
    }
  }
}

/** Writes the content into an open member; `packed` rejects when the member ends early. */
async function fill(
  member: Member,
  { name, size }: TarEntry,
  content: Content,
  { hash, packed }: { hash: Hash; packed: Promise<void> },
): Promise<void> {
  let left = size;
  for await (const chunk of content) {
    hash.update(chunk);
    left -= chunk.length;
    if (left < 0) break;
    if (!member.write(chunk)) await Promise.race([packed, drained(member)]);
  }
  if (left !== 0) throw new Error(`${name} has another size than expected`);
  member.end(null);
}

function drained(member: Member): Promise<void> {
  return new Promise((resolve) => member.once('drain', () => resolve()));
}
