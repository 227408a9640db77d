/** Pictures of the branding, judged by their bytes: what a data URL says of itself is its sender's word. */

export type ImageType = 'image/png' | 'image/jpeg' | 'image/webp' | 'image/svg+xml' | 'image/x-icon';

const declaredTypes: Readonly<Record<string, ImageType>> = {
  'image/png': 'image/png',
  'image/jpeg': 'image/jpeg',
  'image/webp': 'image/webp',
  'image/svg+xml': 'image/svg+xml',
  'image/x-icon': 'image/x-icon',
  'image/vnd.microsoft.icon': 'image/x-icon',
};

const dataUrl = /^data:([a-z+./-]+)((?:;(?!base64,)[a-z0-9-]+(?:=[a-z0-9-]+)?)*)(;base64)?,(.+)$/is;

/** The type of a data URL whose bytes are the picture that it says; undefined for everything else. */
export function imageTypeOf(url: string): ImageType | undefined {
  const [, mediaType = '', , base64, data = ''] = dataUrl.exec(url) ?? [];
  const declared = declaredTypes[mediaType.toLowerCase()];
  const bytes = base64 === undefined ? percentDecoded(data) : base64Decoded(data);
  if (declared === undefined || bytes === undefined) return undefined;
  return sniffImage(bytes) === declared ? declared : undefined;
}

/** What the bytes themselves say; undefined for none of the permitted types. */
export function sniffImage(bytes: Buffer): ImageType | undefined {
  if (startsWith(bytes, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return 'image/png';
  if (startsWith(bytes, [0xff, 0xd8, 0xff])) return 'image/jpeg';
  if (startsWith(bytes, [0x00, 0x00, 0x01, 0x00])) return 'image/x-icon';
  if (bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP') return 'image/webp';
  return isSvg(bytes) ? 'image/svg+xml' : undefined;
}

function startsWith(bytes: Buffer, signature: number[]): boolean {
  return signature.every((byte, index) => bytes[index] === byte);
}

/** True for UTF-8 text whose root element is `svg`. Entities could grow without bound, and no drawing program needs them. */
function isSvg(bytes: Buffer): boolean {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return false;
  }
  if (/<!ENTITY/i.test(text)) return false;
  let rest = text.trimStart();
  for (;;) {
    const end = endOfProlog(rest);
    if (end === undefined) return /^<svg[\s/>]/.test(rest) && /<\/svg\s*>\s*$|^<svg[^>]*\/>\s*$/.test(rest);
    rest = rest.slice(end).trimStart();
  }
}

/** Where the declaration, comment or document type at the beginning ends. */
function endOfProlog(text: string): number | undefined {
  for (const [begin, end] of [
    ['<?', '?>'],
    ['<!--', '-->'],
    ['<!DOCTYPE', '>'],
  ] as const) {
    if (!text.startsWith(begin)) continue;
    const at = text.indexOf(end, begin.length);
    return at < 0 ? undefined : at + end.length;
  }
  return undefined;
}

function base64Decoded(data: string): Buffer | undefined {
  const text = data.includes('%') ? percentDecoded(data)?.toString('latin1') : data;
  return text !== undefined && /^[a-z0-9+/]+={0,2}$/i.test(text) ? Buffer.from(text, 'base64') : undefined;
}

function percentDecoded(data: string): Buffer | undefined {
  try {
    return Buffer.from(decodeURIComponent(data), 'utf8');
  } catch {
    return undefined;
  }
}
