/** Pictures that neither models nor browsers take, by their first bytes, with what to do about them. */

const brands: Readonly<Record<string, string>> = {
  heic: 'HEIC',
  heix: 'HEIC',
  heim: 'HEIC',
  heis: 'HEIC',
  hevc: 'HEIC',
  hevx: 'HEIC',
  mif1: 'HEIF',
  msf1: 'HEIF',
  avif: 'AVIF',
  avis: 'AVIF',
};
const tiff: readonly string[] = ['II*\0', 'MM\0*', 'II+\0', 'MM\0+'];

/** The reason why this picture is not read; undefined for other files. */
export function unreadPicture(bytes: Buffer): string | undefined {
  const format = formatOf(bytes);
  if (format === undefined) return undefined;
  return `This is a ${format} picture, which models cannot see. Save it as JPEG or PNG.`;
}

function formatOf(bytes: Buffer): string | undefined {
  const head = bytes.toString('latin1', 0, 12);
  if (head.slice(4, 8) === 'ftyp') return brands[head.slice(8)];
  if (tiff.includes(head.slice(0, 4))) return 'TIFF';
  // The file header (14 bytes), with the reserved fields empty, and the size of the header after it.
  const isBitmap = head.startsWith('BM') && bytes.length >= 26 && bytes.readUInt32LE(6) === 0;
  return isBitmap && bytes.readUInt32LE(14) <= 124 ? 'BMP' : undefined;
}
