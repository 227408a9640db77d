import { notReadable } from '../../document.ts';
import { decodeAs } from './decoders.ts';
import { guessEncoding } from './guess.ts';

/** Which encoding bytes are in: by their mark, else what they say of themselves, else what they look like. */

const looked = 64 * 1024;

/** For XML, which may name its encoding. UTF-8 where nothing says otherwise. */
export function decoderFor(bytes: Uint8Array) {
  return new TextDecoder(byMark(bytes) ?? wideWithoutMark(bytes) ?? byName(bytes) ?? 'utf-8');
}

/** A page of HTML, which should name its encoding, and often does not. */
export function decodeHtml(bytes: Uint8Array): string {
  const named = byMark(bytes) ?? byName(bytes);
  return named === undefined ? decodeAnyText(bytes) : new TextDecoder(named).decode(bytes);
}

function byName(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 2048)).toString('latin1');
  // regex-bound: the first 2,048 bytes
  const named = /<\?xml[^>]*\bencoding\s*=\s*["']([\w-]+)|<meta[^>]*\bcharset\s*=\s*["']?\s*([\w-]+)/i.exec(head);
  try {
    return new TextDecoder(named?.[1] ?? named?.[2] ?? '').encoding;
  } catch {
    return undefined;
  }
}

/** Plain text in whatever common encoding. Throws DocumentRefused for what is no text. */
export function decodeAnyText(bytes: Uint8Array): string {
  const marked = widest(bytes) ?? byMark(bytes) ?? wideWithoutMark(bytes) ?? byEscapes(bytes) ?? byDeclaration(bytes);
  if (marked !== undefined) return asText(decodeAs(marked, bytes));
  try {
    return asText(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return asText(decodeAs(guessEncoding(bytes), bytes));
  }
}

/** Files of XML and HTML that are read as text name their encoding like others. */
function byDeclaration(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.subarray(0, 256)).toString('latin1').trimStart();
  return start.startsWith('<?xml') || start.startsWith('<html') || start.startsWith('<!') ? byName(bytes) : undefined;
}

/** UTF-32, with a mark or without one: of four bytes, one is always zero and another nearly always. */
function widest(bytes: Uint8Array): string | undefined {
  const length = Math.min(bytes.length, looked) & ~3;
  if (length < 8) return undefined;
  const zeros = [0, 0, 0, 0];
  for (let at = 0; at < length; at += 1) if (bytes[at] === 0) zeros[at % 4] = (zeros[at % 4] ?? 0) + 1;
  const [first = 0, second = 0, third = 0, fourth = 0] = zeros.map((count) => (4 * count) / length);
  if (fourth === 1 && third > 0.7 && first < 0.2) return 'utf-32le';
  return first === 1 && second > 0.7 && fourth < 0.2 ? 'utf-32be' : undefined;
}

function byMark(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return undefined;
}

/** In text of two bytes a character, every other byte is nearly always zero or that of its alphabet. */
function wideWithoutMark(bytes: Uint8Array): string | undefined {
  const length = Math.min(bytes.length, looked) & ~1;
  if (length < 4) return undefined;
  const counts = [new Uint32Array(256), new Uint32Array(256)];
  for (let at = 0; at < length; at += 1) {
    const column = counts[at % 2];
    const byte = bytes[at] ?? 0;
    if (column !== undefined) column[byte] = (column[byte] ?? 0) + 1;
  }
  const [even, odd] = counts.map((column) => ({
    zeros: column[0] ?? 0,
    topTwo: column
      .toSorted((a, b) => b - a)
      .slice(0, 2)
      .reduce((sum, count) => sum + count, 0),
  }));
  if (even === undefined || odd === undefined) return undefined;
  const isHigh = (one: typeof even, other: typeof even): boolean =>
    one.zeros > length / 50 && other.zeros < length / 100 && one.topTwo > 0.45 * length;
  if (isHigh(odd, even)) return 'utf-16le';
  return isHigh(even, odd) ? 'utf-16be' : undefined;
}

const escapes = new Map([
  ['\u001b$B', 'iso-2022-jp'],
  ['\u001b$@', 'iso-2022-jp'],
  ['\u001b$)C', 'iso-2022-kr'],
]);

/** Japanese and Korean in seven bits switch between their alphabets. */
function byEscapes(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, looked));
  for (const [mark, name] of escapes) if (head.includes(mark)) return name;
  return undefined;
}

function asText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they tell text from other bytes
  const strange = text.slice(0, looked).match(/[\u0000-\u0008\u000e-\u001a\u001c-\u001f]/g)?.length ?? 0;
  if (strange > Math.min(text.length, looked) / 100) throw notReadable();
  return text;
}
