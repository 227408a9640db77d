import { sniffBrandImage } from '@homeport/contracts/files/image-bytes';
import { limits } from '@homeport/contracts/limits';

/** Branding images are sent as data URLs of at most `limits.brandingImageMax` characters (contract.md section 3). */

const longestPrefix = 'data:image/svg+xml;base64,'.length;
/** The largest image, in bytes, whose data URL is within the limit. */
export const brandImageBytes = Math.floor((limits.brandingImageMax - longestPrefix) / 4) * 3;

export type ImageFault = 'tooLarge' | 'notImage' | 'damaged';

/** Reads a chosen file and rejects what the server would refuse. */
export async function readBrandImage(file: Blob): Promise<{ dataUrl: string } | { fault: ImageFault }> {
  if (file.size > brandImageBytes) return { fault: 'tooLarge' };
  const bytes = new Uint8Array(await file.arrayBuffer());
  const type = sniffBrandImage(bytes);
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
