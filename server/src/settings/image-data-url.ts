import { type BrandImageType, sniffBrandImage } from '@homeport/contracts/files/image-bytes';

/** Branding pictures, recognized by their bytes: the type in a data URL is only its sender's claim. */

const declaredTypes: Readonly<Record<string, BrandImageType>> = {
  'image/png': 'image/png',
  'image/jpeg': 'image/jpeg',
  'image/webp': 'image/webp',
  'image/svg+xml': 'image/svg+xml',
  'image/x-icon': 'image/x-icon',
  'image/vnd.microsoft.icon': 'image/x-icon',
};

const dataUrl = /^data:([a-z+./-]+)((?:;(?!base64,)[a-z0-9-]+(?:=[a-z0-9-]+)?)*)(;base64)?,(.+)$/is;

/** The type of a data URL whose bytes match it; undefined for anything else. */
export function imageTypeOf(url: string): BrandImageType | undefined {
  const [, mediaType = '', , base64, data = ''] = dataUrl.exec(url) ?? [];
  const declared = declaredTypes[mediaType.toLowerCase()];
  const bytes = base64 === undefined ? percentDecoded(data) : base64Decoded(data);
  if (declared === undefined || bytes === undefined) return undefined;
  return sniffBrandImage(bytes) === declared ? declared : undefined;
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
