import mime from 'mime';

/** Types as they are told, and types as the bytes say. Only the latter decide what is ever shown inline. */

const typeShape = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/;
const unknownType = 'application/octet-stream';

/** The type that a sender gave if it says anything, else the usual one of the name's extension. Lower case, no parameters. */
export function mediaTypeOf(given: string | undefined, filename: string): string {
  const type = given?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (typeShape.test(type) && type !== unknownType) return type;
  return mime.getType(filename) ?? unknownType;
}

export type ImageType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';

/** The kind of image that these first bytes begin, if they do. */
export function sniffImage(head: Uint8Array): ImageType | undefined {
  const text = Buffer.from(head.subarray(0, 12)).toString('latin1');
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (text.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (text.startsWith('GIF87a') || text.startsWith('GIF89a')) return 'image/gif';
  return text.startsWith('RIFF') && text.slice(8, 12) === 'WEBP' ? 'image/webp' : undefined;
}

export function isPdf(head: Uint8Array): boolean {
  return Buffer.from(head.subarray(0, 5)).toString('latin1') === '%PDF-';
}

/** The bytes as UTF-8 text, or undefined when they are none. A character that is cut at the end is left out when `isCut`. */
export function decodeText(bytes: Uint8Array, isCut: boolean): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: isCut });
    return text.includes('\u0000') ? undefined : text;
  } catch {
    return undefined;
  }
}
