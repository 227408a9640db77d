import { notReadable } from '../document.ts';

/** Which encoding bytes are in: by their mark, else what they say of themselves, else what they look like. */

const looked = 64 * 1024;

/** For XML and HTML, which may name their encoding. UTF-8 where nothing says otherwise. */
export function decoderFor(bytes: Uint8Array, fallback = 'utf-8') {
  const marked = byMark(bytes) ?? wideWithoutMark(bytes);
  if (marked !== undefined) return new TextDecoder(marked);
  const head = Buffer.from(bytes.subarray(0, 2048)).toString('latin1');
  const named = /<\?xml[^>]*\bencoding\s*=\s*["']([\w-]+)|<meta[^>]*\bcharset\s*=\s*["']?\s*([\w-]+)/i.exec(head);
  try {
    return new TextDecoder(named?.[1] ?? named?.[2] ?? fallback);
  } catch {
    return new TextDecoder(fallback);
  }
}

/** Plain text in whatever common encoding. Throws DocumentRefused for what is no text. */
export function decodeAnyText(bytes: Uint8Array): string {
  const marked = byMark(bytes) ?? wideWithoutMark(bytes);
  if (marked !== undefined) return asText(new TextDecoder(marked).decode(bytes));
  try {
    return asText(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return asText(new TextDecoder('windows-1252').decode(bytes));
  }
}

function byMark(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return undefined;
}

/** In text of two bytes a character, every other byte is mostly zero. */
function wideWithoutMark(bytes: Uint8Array): string | undefined {
  const length = Math.min(bytes.length, looked) & ~1;
  if (length < 4) return undefined;
  const zeros = [0, 0];
  for (let at = 0; at < length; at += 1) if (bytes[at] === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  if (odd > length / 5 && even < length / 100) return 'utf-16le';
  if (even > length / 5 && odd < length / 100) return 'utf-16be';
  return undefined;
}

function asText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they tell text from other bytes
  const strange = text.slice(0, looked).match(/[\u0000-\u0008\u000e-\u001a\u001c-\u001f]/g)?.length ?? 0;
  if (strange > Math.min(text.length, looked) / 100) throw notReadable();
  return text;
}
