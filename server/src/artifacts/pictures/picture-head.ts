import { type ImageType, sniffImage } from '@homeport/contracts/files/image-bytes';
import { exifName, orientationIn, withoutName } from './picture-metadata.ts';

/** The format, size and orientation of a picture, read from its frame alone, in time of its length. */

export type PictureType = ImageType | 'image/bmp' | 'image/tiff' | 'image/avif' | 'image/heic';
export type PictureHead = {
  /** In pixels, as stored; 0 if the head does not say. */
  width: number;
  height: number;
  /** The orientation of EXIF, 1 (upright) to 8. */
  orientation: number;
};

const heicBrands = new Set(['heic', 'heix', 'heim', 'heis', 'hevc', 'hevx', 'mif1', 'msf1']);
const avifBrands = new Set(['avif', 'avis']);
const tiffMarks: readonly string[] = ['II*\0', 'MM\0*', 'II+\0', 'MM\0+'];
/** The brands of a HEIF file are in its first box. */
const brandsMax = 256;

/** The format that these first bytes show; undefined for other files. */
export function pictureType(head: Buffer): PictureType | undefined {
  const taken = sniffImage(head);
  if (taken !== undefined) return taken;
  const mark = head.toString('latin1', 0, 4);
  if (tiffMarks.includes(mark)) return 'image/tiff';
  if (head.toString('latin1', 4, 8) === 'ftyp') return heifType(head);
  // The file header (14 bytes), with the reserved fields empty, and the size of the header after it.
  const isBitmap = mark.startsWith('BM') && head.length >= 26 && head.readUInt32LE(6) === 0;
  return isBitmap && head.readUInt32LE(14) <= 124 ? 'image/bmp' : undefined;
}

/** AVIF and HEIC share the brand `mif1`, so all brands count. */
function heifType(head: Buffer): PictureType | undefined {
  const end = Math.min(head.readUInt32BE(0), head.length, brandsMax);
  const brands: string[] = [];
  for (let at = 8; at + 4 <= end; at += 4) brands.push(head.toString('latin1', at, at + 4));
  if (brands.some((brand) => avifBrands.has(brand))) return 'image/avif';
  return brands.some((brand) => heicBrands.has(brand)) ? 'image/heic' : undefined;
}

/** Size and orientation of a picture in a format that models take. */
export function readPictureHead(type: ImageType, bytes: Buffer): PictureHead {
  if (type === 'image/jpeg') return readJpeg(bytes);
  if (type === 'image/png') return readPng(bytes);
  if (type === 'image/webp') return readWebp(bytes);
  return { ...upright, width: short(bytes, 6, 'LE'), height: short(bytes, 8, 'LE') };
}

const upright = { width: 0, height: 0, orientation: 1 };

function short(bytes: Buffer, at: number, order: 'LE' | 'BE'): number {
  if (at + 2 > bytes.length) return 0;
  return order === 'LE' ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at);
}

function long(bytes: Buffer, at: number): number {
  return at + 4 > bytes.length ? 0 : bytes.readUInt32BE(at);
}

const exifMarker = 0xe1;
const scanMarker = 0xda;
/** Markers of a frame header (SOF0 to SOF15) are C0 to CF, except those of tables and of arithmetic coding. */
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

function readJpeg(bytes: Buffer): PictureHead {
  let orientation = 1;
  let at = 2;
  while (at + 4 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] ?? 0;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (isFrame(marker)) {
      return { width: short(bytes, at + 7, 'BE'), height: short(bytes, at + 5, 'BE'), orientation };
    }
    if (marker === scanMarker) break;
    const end = at + 2 + bytes.readUInt16BE(at + 2);
    const content = bytes.subarray(at + 4, end);
    const isExif = marker === exifMarker && content.toString('latin1', 0, exifName.length) === exifName;
    if (isExif) orientation = orientationIn(withoutName(content)) ?? orientation;
    at = end;
  }
  return { ...upright, orientation };
}

function readPng(bytes: Buffer): PictureHead {
  const size = { width: long(bytes, 16), height: long(bytes, 20) };
  for (let at = 8; at + 12 <= bytes.length; at += 12 + long(bytes, at)) {
    if (bytes.toString('latin1', at + 4, at + 8) !== 'eXIf') continue;
    const content = bytes.subarray(at + 8, at + 8 + long(bytes, at));
    return { ...size, orientation: orientationIn(content) ?? 1 };
  }
  return { ...size, orientation: 1 };
}

function readWebp(bytes: Buffer): PictureHead {
  const form = bytes.toString('latin1', 12, 16);
  if (form === 'VP8 ')
    return { ...upright, width: short(bytes, 26, 'LE') & 0x3fff, height: short(bytes, 28, 'LE') & 0x3fff };
  if (form === 'VP8L' && bytes.length >= 25) {
    const bits = bytes.readUInt32LE(21);
    return { ...upright, width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  if (form !== 'VP8X' || bytes.length < 30) return upright;
  const size = { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
  let at = 12;
  while (at + 8 <= bytes.length) {
    const end = at + 8 + bytes.readUInt32LE(at + 4);
    if (bytes.toString('latin1', at, at + 4) === 'EXIF') {
      return { ...size, orientation: orientationIn(withoutName(bytes.subarray(at + 8, end))) ?? 1 };
    }
    at = end + (end % 2);
  }
  return { ...size, orientation: 1 };
}
