import { createHash } from 'node:crypto';
import { type TarEntry, tarBlock, tarHeader, tarPadding } from './tar.ts';

/** Destination of an archive's bytes; resolves when it accepts more. */
export type Sink = (bytes: Uint8Array) => Promise<void>;

const trailerMark = 'homeport-backup-sha256';
const sumsPerMember = 1_000;

/** The last block of an archive: the SHA-256 of everything before it. Programs that read tar files ignore it. */
export function trailerOf(sha256: string): Buffer {
  const block = Buffer.alloc(tarBlock);
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
  readonly #whole = createHash('sha256');
  #sums: string[] = [];
  #sumsWritten = 0;
  #members = 0;
  bytes = 0;

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  get members(): number {
    return this.#members;
  }

  async add(name: string, content: Uint8Array): Promise<void> {
    await this.stream({ name, size: content.length }, [content]);
  }

  /** Adds a member whose content must have exactly the announced size. Returns its SHA-256. */
  async stream(entry: TarEntry, content: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<string> {
    const hash = createHash('sha256');
    let size = 0;
    await this.#write(tarHeader(entry));
    for await (const chunk of content) {
      hash.update(chunk);
      size += chunk.length;
      if (size > entry.size) break;
      await this.#write(chunk);
    }
    if (size !== entry.size) throw new Error(`${entry.name} has another size than expected`);
    await this.#write(tarPadding(entry.size));
    const sha256 = hash.digest('hex');
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
    await this.#write(tarHeader({ name: 'end.json', size: bytes.length }));
    await this.#write(bytes);
    await this.#write(tarPadding(bytes.length));
    await this.#write(Buffer.alloc(2 * tarBlock));
    const sha256 = this.#whole.digest('hex');
    await this.#sink(trailerOf(sha256));
    this.bytes += tarBlock;
    return sha256;
  }

  async #writeSums(): Promise<void> {
    const bytes = Buffer.from(this.#sums.join(''));
    this.#sums = [];
    this.#sumsWritten += 1;
    await this.#write(tarHeader({ name: `sums/${String(this.#sumsWritten).padStart(6, '0')}`, size: bytes.length }));
    await this.#write(bytes);
    await this.#write(tarPadding(bytes.length));
  }

  async #write(bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0) return;
    this.#whole.update(bytes);
    this.bytes += bytes.length;
    await this.#sink(bytes);
  }
}
