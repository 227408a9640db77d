import { pipeline } from 'node:stream/promises';
import { crc32, createDeflateRaw, deflateRawSync } from 'node:zlib';

/** One thing to pack. `name` is safe to unpack (safeName) and ends with a slash only for a folder. */
export type ZipEntry = {
  name: string;
  modifiedAt: Date;
  /** Permission bits. */
  mode: number;
  /** Undefined for folders. Small files come whole: a stream for each would cost more than everything else. */
  content: { bytes: AsyncIterable<Buffer>; sizeMax: number } | Buffer | undefined;
};

/** An entry of the central directory. */
type Written = { entry: ZipEntry; name: Buffer; offset: number; size: number; packed: number; crc: number };

const signatures = { local: 0x04034b50, sizes: 0x08074b50, central: 0x02014b50, end: 0x06054b50 };
const signatures64 = { end: 0x06064b50, locator: 0x07064b50 };
/** Sizes follow the data; names are UTF-8. */
const flags = 0x0808;
const version = { plain: 20, zip64: 45 };
const full = 0xffff_ffff;
/** Far enough below 4 GiB to leave room for what compression may add. */
const large = 2 ** 31;

/**
 * A .zip (APPNOTE.TXT 6.3) of entries as they come; only its directory is kept in memory. Above 4 GiB by its zip64
 * extension.
 */
export async function* writeZip(entries: AsyncIterable<ZipEntry>): AsyncGenerator<Buffer> {
  const written: Written[] = [];
  let offset = 0;
  for await (const entry of entries) {
    const facts: Written = { entry, name: Buffer.from(entry.name), offset, size: 0, packed: 0, crc: 0 };
    const whole = isWhole(entry) ? packWhole(entry.content, facts) : undefined;
    const head = localHeader(facts);
    yield whole === undefined ? head : Buffer.concat([head, whole]);
    offset += head.length + (whole?.length ?? 0);
    if (entry.content !== undefined && !Buffer.isBuffer(entry.content)) {
      for await (const chunk of pack(entry.content.bytes, facts)) {
        facts.packed += chunk.length;
        yield chunk;
      }
      const sizes = sizesAfter(facts);
      yield sizes;
      offset += facts.packed + sizes.length;
    }
    written.push(facts);
  }
  yield* directory(written, offset);
}

function isWhole(entry: ZipEntry): entry is ZipEntry & { content: Buffer } {
  return Buffer.isBuffer(entry.content);
}

/** Nothing is stored uncompressed. */
function packWhole(content: Buffer, facts: Written): Buffer {
  const packed = content.length === 0 ? content : deflateRawSync(content, { level: 1 });
  Object.assign(facts, { size: content.length, packed: packed.length, crc: crc32(content) });
  return packed;
}

async function* pack(bytes: AsyncIterable<Buffer>, facts: Written): AsyncGenerator<Buffer> {
  const deflate = createDeflateRaw({ level: 1 });
  const feeding = pipeline(bytes, (source: AsyncIterable<Buffer>) => count(source, facts), deflate);
  // Handled below; a reader that stops early must not leave an unhandled rejection.
  feeding.catch(() => undefined);
  try {
    for await (const chunk of deflate) yield chunk;
    await feeding;
  } finally {
    deflate.destroy();
  }
}

async function* count(source: AsyncIterable<Buffer>, facts: Written): AsyncGenerator<Buffer> {
  for await (const chunk of source) {
    facts.size += chunk.length;
    facts.crc = crc32(chunk, facts.crc);
    yield chunk;
  }
}

function isLarge({ entry }: Written): boolean {
  return entry.content !== undefined && !Buffer.isBuffer(entry.content) && entry.content.sizeMax >= large;
}

function localHeader(facts: Written): Buffer {
  const extra = isLarge(facts) ? extra64([0, 0]) : Buffer.alloc(0);
  // Zero if they follow the data.
  const sizes = isLarge(facts) ? [full, full] : [facts.packed, facts.size];
  return Buffer.concat([
    words('4 2 2 2 4 4 4 4 2 2', [
      ...[signatures.local, isLarge(facts) ? version.zip64 : version.plain, flagsOf(facts), methodOf(facts)],
      ...[dosTime(facts.entry.modifiedAt), facts.crc, ...sizes, facts.name.length, extra.length],
    ]),
    facts.name,
    extra,
  ]);
}

function sizesAfter(facts: Written): Buffer {
  const form = isLarge(facts) ? '4 4 8 8' : '4 4 4 4';
  return words(form, [signatures.sizes, facts.crc, facts.packed, facts.size]);
}

function* directory(written: readonly Written[], offset: number): Generator<Buffer> {
  let size = 0;
  for (const facts of written) {
    const record = centralHeader(facts);
    size += record.length;
    yield record;
  }
  const count = written.length;
  if (count >= 0xffff || offset >= full || size >= full) {
    const made = [version.zip64, version.zip64, 0, 0, count, count, size, offset];
    yield words('4 8 2 2 4 4 8 8 8 8', [signatures64.end, 44, ...made]);
    yield words('4 4 8 4', [signatures64.locator, 0, offset + size, 1]);
  }
  const shown = Math.min(count, 0xffff);
  yield words('4 2 2 2 2 4 4 2', [signatures.end, 0, 0, shown, shown, Math.min(size, full), Math.min(offset, full), 0]);
}

function centralHeader(facts: Written): Buffer {
  const isWide = isLarge(facts) || facts.offset >= full;
  const extra = isWide ? extra64([facts.size, facts.packed, facts.offset]) : Buffer.alloc(0);
  const shown = (value: number) => (isWide ? full : value);
  const madeBy = (3 << 8) | (isWide ? version.zip64 : version.plain);
  const kind = facts.entry.content === undefined ? 0o040000 : 0o100000;
  const attributes = (kind | facts.entry.mode) * 0x1_0000 + (facts.entry.content === undefined ? 0x10 : 0);
  return Buffer.concat([
    words('4 2 2 2 2 4 4 4 4 2 2 2 2 2 4 4', [
      ...[signatures.central, madeBy, isWide ? version.zip64 : version.plain, flagsOf(facts), methodOf(facts)],
      ...[dosTime(facts.entry.modifiedAt), facts.crc, shown(facts.packed), shown(facts.size)],
      ...[facts.name.length, extra.length, 0, 0, 0, attributes, shown(facts.offset)],
    ]),
    facts.name,
    extra,
  ]);
}

function methodOf({ entry }: Written): number {
  return entry.content === undefined || (isWhole(entry) && entry.content.length === 0) ? 0 : 8;
}

function flagsOf({ entry }: Written): number {
  return entry.content === undefined || isWhole(entry) ? flags & ~0x0008 : flags;
}

function extra64(values: number[]): Buffer {
  return words(`2 2 ${values.map(() => '8').join(' ')}`, [1, values.length * 8, ...values]);
}

/** Little-endian numbers of the given widths. */
function words(widths: string, values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(widths.length * 4);
  let length = 0;
  for (const [index, value] of values.entries()) {
    const width = Number(widths[index * 2]);
    if (width === 8) bytes.writeBigUInt64LE(BigInt(value), length);
    else bytes.writeUIntLE(value, length, width);
    length += width;
  }
  return bytes.subarray(0, length);
}

/** DOS times have steps of two seconds and begin in 1980 and end in 2107. */
function dosTime(at: Date): number {
  const year = Math.min(Math.max(at.getUTCFullYear(), 1980), 2107);
  const date = ((year - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate();
  const time = (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1);
  return date * 0x1_0000 + time;
}
