/** Detects the type of an image from its bytes, regardless of its name and declared type. */

export type ImageType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
/** Pictures that branding accepts. */
export type BrandImageType = Exclude<ImageType, 'image/gif'> | 'image/svg+xml' | 'image/x-icon';

/** The image type that these first bytes show, if any. */
export function sniffImage(head: Uint8Array): ImageType | undefined {
  const has = (at: number, text: string) =>
    [...text].every((letter, index) => head[at + index] === letter.charCodeAt(0));
  if (has(0, '\x89PNG\r\n\x1a\n')) return 'image/png';
  if (has(0, '\xff\xd8\xff')) return 'image/jpeg';
  if (has(0, 'GIF87a') || has(0, 'GIF89a')) return 'image/gif';
  return has(0, 'RIFF') && has(8, 'WEBP') ? 'image/webp' : undefined;
}

/** The same for a complete branding file; undefined if its type is not allowed. */
export function sniffBrandImage(bytes: Uint8Array): BrandImageType | undefined {
  const type = sniffImage(bytes);
  if (type !== undefined) return type === 'image/gif' ? undefined : type;
  if ([0, 0, 1, 0].every((byte, index) => bytes[index] === byte)) return 'image/x-icon';
  return isSvg(bytes) ? 'image/svg+xml' : undefined;
}

/**
 * True for UTF-8 text whose root element is `svg`, without entities: they could grow without bound, and no drawing
 * program needs them.
 */
function isSvg(bytes: Uint8Array): boolean {
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

/** Returns the end offset of the declaration, comment or document type at the beginning. */
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
