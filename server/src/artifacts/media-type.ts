import mime from 'mime';

/** Claimed types, and types by the bytes. Only the latter decide what is ever shown inline. */

const typeShape = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/;
const unknownType = 'application/octet-stream';

/**
 * The sender's type if it says anything, otherwise the usual one for the name's extension. Lower case, no parameters.
 */
export function mediaTypeOf(given: string | undefined, filename: string): string {
  const type = given?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (typeShape.test(type) && type !== unknownType) return type;
  return mime.getType(filename) ?? unknownType;
}

export function isPdf(head: Uint8Array): boolean {
  return Buffer.from(head.subarray(0, 5)).toString('latin1') === '%PDF-';
}

/** True for formats that can consist of plain characters only, and yet are not readable as they are. */
export function isMarkedUp(head: Uint8Array): boolean {
  return isPdf(head) || Buffer.from(head.subarray(0, 5)).toString('latin1') === '{\\rtf';
}

/** The bytes as UTF-8 text, or undefined if they are not. With `isCut`, a character cut off at the end is dropped. */
export function decodeText(bytes: Uint8Array, isCut: boolean): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: isCut });
    return text.includes('\u0000') ? undefined : text;
  } catch {
    return undefined;
  }
}
