/** The tar format (POSIX ustar with pax names), as far as backups use it. */

export const tarBlock = 512;

type TarKind = 'file' | 'folder' | 'link';
/** `target`: where a symbolic link points. */
export type TarEntry = { name: string; size: number; kind?: TarKind; mode?: number; target?: string };

const kinds: Readonly<Record<TarKind, string>> = { file: '0', link: '2', folder: '5' };
const paxKind = 'x';
const nameMax = 100;
const sizeMax = 8 ** 11 - 1;
/** The most that a header of names may take. */
export const paxMax = 64 * 1024;

/** The bytes before an entry's content; names and sizes that the plain form cannot hold get a pax header. */
export function tarHeader(entry: TarEntry): Buffer {
  const records: [string, string][] = [];
  const isLong = (text: string): boolean => Buffer.byteLength(text) > nameMax || !/^[\x20-\x7e]*$/.test(text);
  if (isLong(entry.name)) records.push(['path', entry.name]);
  if (entry.target !== undefined && isLong(entry.target)) records.push(['linkpath', entry.target]);
  if (entry.size > sizeMax) records.push(['size', String(entry.size)]);
  const plain = block(entry, kinds[entry.kind ?? 'file']);
  if (records.length === 0) return plain;
  const content = Buffer.from(records.map(([key, value]) => paxRecord(key, value)).join(''));
  const before = block({ name: 'pax', size: content.length }, paxKind);
  return Buffer.concat([before, content, tarPadding(content.length), plain]);
}

/** Zeros up to the next block. */
export function tarPadding(size: number): Buffer {
  return Buffer.alloc((tarBlock - (size % tarBlock)) % tarBlock);
}

/** Parses a header; `kind` is undefined for kinds that backups never contain. Returns undefined if it is damaged. */
export function readTarHeader(bytes: Buffer): (TarEntry & { isPax: boolean }) | undefined {
  const sum = octal(bytes, 148, 8);
  if (sum !== checksum(bytes) || bytes.toString('latin1', 257, 262) !== 'ustar') return undefined;
  const type = bytes.toString('latin1', 156, 157);
  const kind = (['file', 'folder', 'link'] as const).find((name) => kinds[name] === type);
  const [size, mode] = [octal(bytes, 124, 12), octal(bytes, 100, 8)];
  if ((kind === undefined && type !== paxKind) || size === undefined || mode === undefined) return undefined;
  const entry = { name: text(bytes, 0, nameMax), size, mode, isPax: type === paxKind };
  return { ...entry, kind: kind ?? 'file', ...(kind === 'link' ? { target: text(bytes, 157, nameMax) } : {}) };
}

/** The names and sizes of a pax header; undefined if it is damaged. */
export function readPax(content: Buffer): Map<string, string> | undefined {
  const records = new Map<string, string>();
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(0x20, at);
    const length = Number(content.toString('latin1', at, space));
    if (space < at || !Number.isInteger(length) || length < 5 || at + length > content.length) return undefined;
    const record = content.toString('utf8', space + 1, at + length - 1);
    const equals = record.indexOf('=');
    if (equals < 1) return undefined;
    records.set(record.slice(0, equals), record.slice(equals + 1));
    at += length;
  }
  return records;
}

function block(entry: TarEntry, type: string): Buffer {
  const bytes = Buffer.alloc(tarBlock);
  bytes.write(entry.name.slice(0, nameMax), 0, nameMax, 'utf8');
  const number = (value: number, at: number, length: number): void => {
    bytes.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at, 'latin1');
  };
  number(entry.mode ?? 0o600, 100, 8);
  number(0, 108, 8);
  number(0, 116, 8);
  number(Math.min(entry.size, sizeMax), 124, 12);
  number(0, 136, 12);
  bytes.write(type, 156, 'latin1');
  bytes.write((entry.target ?? '').slice(0, nameMax), 157, nameMax, 'utf8');
  bytes.write('ustar\x0000', 257, 'latin1');
  bytes.write(`${checksum(bytes).toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return bytes;
}

function paxRecord(key: string, value: string): string {
  const bare = Buffer.byteLength(` ${key}=${value}\n`);
  let length = bare + String(bare).length;
  if (String(length).length > String(bare).length) length = bare + String(length).length;
  return `${length} ${key}=${value}\n`;
}

/** The sum of all bytes, with spaces in the place of the sum itself. */
function checksum(bytes: Buffer): number {
  let sum = 8 * 0x20;
  for (let at = 0; at < tarBlock; at += 1) if (at < 148 || at >= 156) sum += bytes[at] ?? 0;
  return sum;
}

function octal(bytes: Buffer, at: number, length: number): number | undefined {
  const digits = text(bytes, at, length).trim();
  return /^[0-7]+$/.test(digits) ? Number.parseInt(digits, 8) : undefined;
}

function text(bytes: Buffer, at: number, length: number): string {
  const field = bytes.subarray(at, at + length);
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end === -1 ? length : end);
}
