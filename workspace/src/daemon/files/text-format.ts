import { DaemonError } from '../daemon-error.ts';

/** How a text file writes its characters and ends its lines; kept when the file is changed. */
export type TextFormat = {
  encoding: 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';
  /** It begins with a byte order mark. */
  bom: boolean;
  eol: '\n' | '\r\n';
};

export const plainFormat: TextFormat = { encoding: 'utf-8', bom: false, eol: '\n' };

/** Control characters that no text has, beside tab, line breaks, form feed and escape. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they tell binary data.
const binary = /[\u0000-\u0007\u000e-\u001a\u001c-\u001f]/;

/** The text of a file, without its byte order mark; undefined for binary data. Every byte is kept by `encodeText`. */
export function readFormat(bytes: Buffer): { text: string; format: TextFormat } | undefined {
  const { encoding, mark } = detect(bytes);
  const decoded = decode(bytes.subarray(mark), encoding);
  if (decoded === undefined || binary.test(decoded)) return undefined;
  return { text: decoded, format: { encoding, bom: mark > 0, eol: lineEnd(decoded) } };
}

function detect(bytes: Buffer): { encoding: TextFormat['encoding']; mark: number } {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return { encoding: 'utf-16le', mark: 2 };
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return { encoding: 'utf-16be', mark: 2 };
  const mark = bytes.subarray(0, 3).toString('latin1') === '\u00ef\u00bb\u00bf' ? 3 : 0;
  return { encoding: decode(bytes, 'utf-8') === undefined ? 'windows-1252' : 'utf-8', mark };
}

function decode(bytes: Buffer, encoding: TextFormat['encoding']): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Windows line ends only if the text has no other. */
function lineEnd(text: string): TextFormat['eol'] {
  const breaks = text.split('\n').length - 1;
  return breaks > 0 && text.split('\r\n').length - 1 === breaks ? '\r\n' : '\n';
}

/** The bytes of a text. Throws `invalid_request` for a character that the encoding lacks. */
export function encodeText(text: string, { encoding, bom }: TextFormat): Buffer {
  if (encoding === 'windows-1252') return encodeWindows(text);
  const marked = bom ? `\ufeff${text}` : text;
  if (encoding === 'utf-8') return Buffer.from(marked);
  const bytes = Buffer.from(marked, 'utf16le');
  return encoding === 'utf-16be' ? bytes.swap16() : bytes;
}

const windowsBytes = new Map(
  Array.from({ length: 256 }, (_, byte) => [new TextDecoder('windows-1252').decode(Uint8Array.of(byte)), byte]),
);

function encodeWindows(text: string): Buffer {
  const bytes = Buffer.allocUnsafe(text.length);
  let length = 0;
  for (const character of text) {
    const byte = windowsBytes.get(character);
    if (byte === undefined) {
      const code = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
      throw new DaemonError(
        'invalid_request',
        `The file is written in windows-1252, which lacks ${character} (${code}). Convert it first: iconv -f windows-1252 -t utf-8`,
      );
    }
    bytes[length++] = byte;
  }
  return bytes.subarray(0, length);
}

/** A text with the line ends of a format; one that has Windows line ends already stays as it is. */
export function withLineEnds(text: string, { eol }: Pick<TextFormat, 'eol'>): string {
  return eol === '\n' || text.includes('\r') ? text : text.replaceAll('\n', '\r\n');
}
