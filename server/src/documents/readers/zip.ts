import { inflateRawSync } from 'node:zlib';
import { DocumentRefused, damaged, locked } from '../document.ts';

/**
 * The parts of a zip file by its directory; each is unpacked when it is asked for, and all of them together up to a
 * bound.
 */

type Entry = { method: number; flags: number; packed: number; offset: number };

const endMark = 0x06054b50;
const entryMark = 0x02014b50;
const partMark = 0x04034b50;
const endLength = 22;
const longestComment = 65_535;
const mostEntries = 20_000;
const encryptedFlag = 1;

export class ZipFile {
  readonly #bytes: Buffer;
  readonly #entries = new Map<string, Entry>();
  #room: number;

  /** Throws DocumentRefused for what is no whole zip file. */
  constructor(bytes: Uint8Array, maxUnpackedBytes: number) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#room = maxUnpackedBytes;
    try {
      this.#readDirectory();
    } catch (error) {
      throw error instanceof RangeError ? damaged(error) : error;
    }
  }

  get names(): string[] {
    return [...this.#entries.keys()];
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  /** Undefined when there is no such part. */
  read(name: string): Buffer | undefined {
    const entry = this.#entries.get(name);
    if (entry === undefined) return undefined;
    if ((entry.flags & encryptedFlag) !== 0) throw locked();
    try {
      return this.#unpack(entry);
    } catch (error) {
      throw error instanceof DocumentRefused ? error : damaged(error);
    }
  }

  /** Throws DocumentRefused when it is missing. */
  need(name: string): Buffer {
    const part = this.read(name);
    if (part === undefined) throw damaged(new Error(`${name} is missing`));
    return part;
  }

  #readDirectory(): void {
    const end = this.#findEnd();
    const count = this.#bytes.readUInt16LE(end + 10);
    let at = this.#bytes.readUInt32LE(end + 16);
    if (count > mostEntries) throw new DocumentRefused('unsafe', `The file has more than ${mostEntries} parts.`);
    for (let index = 0; index < count; index += 1) {
      if (this.#bytes.readUInt32LE(at) !== entryMark) throw damaged();
      const [nameLength, extraLength, commentLength] = [28, 30, 32].map((place) =>
        this.#bytes.readUInt16LE(at + place),
      );
      const name = this.#bytes.subarray(at + 46, at + 46 + (nameLength ?? 0)).toString('utf8');
      this.#entries.set(name, {
        flags: this.#bytes.readUInt16LE(at + 8),
        method: this.#bytes.readUInt16LE(at + 10),
        packed: this.#bytes.readUInt32LE(at + 20),
        offset: this.#bytes.readUInt32LE(at + 42),
      });
      at += 46 + (nameLength ?? 0) + (extraLength ?? 0) + (commentLength ?? 0);
    }
  }

  #findEnd(): number {
    const lowest = Math.max(0, this.#bytes.length - endLength - longestComment);
    for (let at = this.#bytes.length - endLength; at >= lowest; at -= 1) {
      if (this.#bytes.readUInt32LE(at) === endMark) return at;
    }
    throw damaged();
  }

  #unpack({ method, packed, offset }: Entry): Buffer {
    if (this.#bytes.readUInt32LE(offset) !== partMark) throw damaged();
    const start = offset + 30 + this.#bytes.readUInt16LE(offset + 26) + this.#bytes.readUInt16LE(offset + 28);
    if (start + packed > this.#bytes.length) throw damaged();
    const data = this.#bytes.subarray(start, start + packed);
    const part = method === 0 ? data : this.#inflate(method, data);
    this.#room -= part.length;
    if (this.#room < 0) throw tooMuch();
    return part;
  }

  #inflate(method: number, data: Buffer): Buffer {
    if (method !== 8) throw new DocumentRefused('unsupported', 'The file is packed in a way that is not read here.');
    try {
      return inflateRawSync(data, { maxOutputLength: Math.max(1, this.#room) });
    } catch (error) {
      const isFull = error instanceof RangeError && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
      throw isFull ? tooMuch() : error;
    }
  }
}

function tooMuch(): DocumentRefused {
  return new DocumentRefused('unsafe', 'The file unpacks to far more than its size and is not read.');
}
