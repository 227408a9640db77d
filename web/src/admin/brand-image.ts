import { limits } from '@homeport/contracts/limits';

/** Images of the branding travel as data URLs of at most `limits.brandingImageMax` characters (contract section 3). */

const longestPrefix = 'data:image/svg+xml;base64,'.length;
/** Bytes of an image whose data URL is within the limit. */
export const brandImageBytes = Math.floor((limits.brandingImageMax - longestPrefix) / 4) * 3;

export type ImageFault = 'tooLarge' | 'notImage' | 'damaged';

/** The media type that the bytes themselves show, whatever the file is called; undefined for anything that is not allowed. */
export function sniffImage(bytes: Uint8Array): string | undefined {
  const has = (at: number, ...expected: number[]) => expected.every((byte, index) => bytes[at + index] === byte);
  if (has(0, 0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)) return 'image/png';
  if (has(0, 0xff, 0xd8, 0xff)) return 'image/jpeg';
  if (has(0, 0x52, 0x49, 0x46, 0x46) && has(8, 0x57, 0x45, 0x42, 0x50)) return 'image/webp';
  if (has(0, 0x00, 0x00, 0x01, 0x00)) return 'image/x-icon';
  const start = new TextDecoder().decode(bytes.subarray(0, 4096));
  return /^\s*(<\?xml[^>]*>\s*|<!--[\s\S]*?-->\s*|<!doctype svg[^>]*>\s*)*<svg[\s>/]/i.test(start)
    ? 'image/svg+xml'
    : undefined;
}

/** Reads a chosen file. Nothing is sent that the server would refuse. */
export async function readBrandImage(file: Blob): Promise<{ dataUrl: string } | { fault: ImageFault }> {
  if (file.size > brandImageBytes) return { fault: 'tooLarge' };
  const bytes = new Uint8Array(await file.arrayBuffer());
  const type = sniffImage(bytes);
  if (type === undefined) return { fault: 'notImage' };
  const dataUrl = `data:${type};base64,${encode(bytes)}`;
  return (await canShow(dataUrl)) ? { dataUrl } : { fault: 'damaged' };
}

function encode(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text);
}

async function canShow(dataUrl: string): Promise<boolean> {
  const image = new Image();
  image.src = dataUrl;
  return image.decode().then(
    () => true,
    () => false,
  );
}
