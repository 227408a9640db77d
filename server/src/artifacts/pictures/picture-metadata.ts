import type { ImageType } from '@homeport/contracts/files/image-bytes';

/**
 * Pictures without what cameras and programs write beside the picture: place, time, device, comments, and pictures behind
 * the end of the first. Colors and the orientation stay. Only the frame of the format is read, in time of its length;
 * bytes that don't follow the format come back as they are from there on.
 */

export function withoutMetadata(type: ImageType, bytes: Buffer): Buffer {
  if (type === 'image/jpeg') return plainJpeg(bytes);
  if (type === 'image/png') return plainPng(bytes);
  return type === 'image/webp' ? plainWebp(bytes) : bytes;
}

/** A picture made of parts of another one: a hostile one has hundreds of thousands. */
class Copy {
  readonly #source: Buffer;
  readonly #bytes: Buffer;
  #length = 0;
  /** The range of the source that is kept next. */
  #from = 0;
  #to = 0;

  constructor(source: Buffer) {
    this.#source = source;
    // A rewritten part can be a little longer than the one in its place.
    this.#bytes = Buffer.allocUnsafe(Math.ceil(source.length * 1.25) + 64);
  }

  keep(from: number, to: number): void {
    if (from !== this.#to) {
      this.#flush();
      this.#from = Math.min(from, this.#source.length);
    }
    this.#to = Math.min(to, this.#source.length);
  }

  insert(part: Buffer): void {
    this.#flush();
    this.#length += part.copy(this.#bytes, this.#length);
  }

  get length(): number {
    return this.#length + this.#to - this.#from;
  }

  end(): Buffer {
    this.#flush();
    return this.#bytes.subarray(0, this.#length);
  }

  #flush(): void {
    this.#length += this.#source.copy(this.#bytes, this.#length, this.#from, this.#to);
    this.#from = this.#to;
  }
}

const jpeg = { end: 0xd9, scan: 0xda, exif: 0xe1, app2: 0xe2, iptc: 0xed, comment: 0xfe } as const;
export const exifName = 'Exif\0\0';
const profileName = 'ICC_PROFILE\0';

function plainJpeg(bytes: Buffer): Buffer {
  const copy = new Copy(bytes);
  copy.keep(0, 2);
  let at = 2;
  while (at + 4 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] ?? 0;
    if (marker === jpeg.end) break;
    // Bytes of 255 before a marker are padding.
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    const next = at + 2 + bytes.readUInt16BE(at + 2);
    const end = marker === jpeg.scan ? endOfScan(bytes, next) : next;
    const orientation = marker === jpeg.exif ? exifOrientation(bytes.subarray(at + 4, end)) : undefined;
    if (orientation !== undefined) copy.insert(orientation);
    else if (!isPrivate(marker, bytes, at)) copy.keep(at, end);
    at = end;
  }
  const isEnd = bytes[at] === 0xff && bytes[at + 1] === jpeg.end;
  copy.keep(at, isEnd ? at + 2 : bytes.length);
  return copy.end();
}

/** Offset of the marker behind the compressed data of a scan. */
function endOfScan(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(0xff, from); at !== -1; at = bytes.indexOf(0xff, at + 1)) {
    const marker = bytes[at + 1] ?? 0;
    const isData = marker === 0 || marker === 0xff || (marker >= 0xd0 && marker <= 0xd7);
    if (!isData) return at;
  }
  return bytes.length;
}

/** The segment with the orientation alone; undefined without one. */
function exifOrientation(content: Buffer): Buffer | undefined {
  if (content.toString('latin1', 0, exifName.length) !== exifName) return undefined;
  const tiff = orientationOnly(content.subarray(exifName.length));
  if (tiff === undefined) return undefined;
  const head = Buffer.from([0xff, jpeg.exif, 0, 2 + exifName.length + tiff.length]);
  return Buffer.concat([head, Buffer.from(exifName), tiff]);
}

function isPrivate(marker: number, bytes: Buffer, at: number): boolean {
  if (marker === jpeg.app2) return bytes.toString('latin1', at + 4, at + 4 + profileName.length) !== profileName;
  return marker === jpeg.exif || marker === jpeg.comment || marker === jpeg.iptc;
}

const pngHead = 8;
const pngFrame = 12;
const privateChunks = new Set(['tEXt', 'zTXt', 'iTXt', 'tIME', 'eXIf'].map(nameOf));
const lastChunk = nameOf('IEND');

function plainPng(bytes: Buffer): Buffer {
  const copy = new Copy(bytes);
  copy.keep(0, pngHead);
  let at = pngHead;
  while (at + pngFrame <= bytes.length) {
    const name = bytes.readUInt32BE(at + 4);
    const end = at + pngFrame + bytes.readUInt32BE(at);
    if (!privateChunks.has(name)) copy.keep(at, end);
    if (name === lastChunk) return copy.end();
    at = end;
  }
  copy.keep(at, bytes.length);
  return copy.end();
}

/** A name of four letters as a number, which is faster to compare. */
function nameOf(letters: string): number {
  return Buffer.from(letters, 'latin1').readUInt32BE();
}

const webpHead = 12;
const chunkHead = 8;
const webpChunks = { header: nameOf('VP8X'), exif: nameOf('EXIF'), xmp: nameOf('XMP ') } as const;
/** Flags of the extended header: the file has an EXIF chunk, or an XMP chunk. */
const webpFlags = { exif: 0x08, xmp: 0x04 } as const;

function plainWebp(bytes: Buffer): Buffer {
  if (bytes.length < webpHead) return bytes;
  const copy = new Copy(bytes);
  copy.keep(0, webpHead);
  let orientation: Buffer | undefined;
  let flags: number | undefined;
  let at = webpHead;
  while (at + chunkHead <= bytes.length) {
    const name = bytes.readUInt32BE(at);
    const length = bytes.readUInt32LE(at + 4);
    const end = at + chunkHead + length + (length % 2);
    if (name === webpChunks.header) flags ??= copy.length + chunkHead;
    if (name === webpChunks.exif) orientation = orientationOnly(withoutName(bytes.subarray(at + chunkHead, end)));
    else if (name !== webpChunks.xmp) copy.keep(at, end);
    at = end;
  }
  copy.keep(at, bytes.length);
  if (orientation !== undefined) {
    copy.insert(Buffer.from('EXIF\x1a\0\0\0', 'latin1'));
    copy.insert(orientation);
  }
  const plain = copy.end();
  plain.writeUInt32LE(plain.length - 8, 4);
  const present = flags === undefined ? undefined : plain[flags];
  if (flags !== undefined && present !== undefined) {
    const others = present & ~(webpFlags.exif | webpFlags.xmp);
    plain[flags] = orientation === undefined ? others : others | webpFlags.exif;
  }
  return plain;
}

/** Some programs write the name of the JPEG segment into WebP files, too. */
export function withoutName(content: Buffer): Buffer {
  return content.toString('latin1', 0, exifName.length) === exifName ? content.subarray(exifName.length) : content;
}

const orientationTag = 0x0112;
const shortType = 3;
const entryLength = 12;
const entriesMax = 200;

/** The directory of EXIF data with nothing but the orientation; undefined if the picture is upright, or it has none. */
function orientationOnly(tiff: Buffer): Buffer | undefined {
  const value = orientationIn(tiff);
  return value === undefined || value === 1 ? undefined : orientationDirectory(value);
}

/** The orientation, 1 to 8; undefined without one. */
export function orientationIn(tiff: Buffer): number | undefined {
  const isLittle = tiff.toString('latin1', 0, 2) === 'II';
  const short = (at: number) => (at + 2 > tiff.length ? 0 : isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  if (tiff.length < 8) return undefined;
  const directory = isLittle ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4);
  const count = Math.min(short(directory), entriesMax);
  for (let index = 0; index < count; index += 1) {
    const at = directory + 2 + index * entryLength;
    if (short(at) !== orientationTag) continue;
    const value = short(at + 8);
    return value >= 1 && value <= 8 ? value : undefined;
  }
  return undefined;
}

function orientationDirectory(value: number): Buffer {
  const tiff = Buffer.alloc(26);
  tiff.write('MM\0*', 'latin1');
  tiff.writeUInt32BE(8, 4);
  tiff.writeUInt16BE(1, 8);
  tiff.writeUInt16BE(orientationTag, 10);
  tiff.writeUInt16BE(shortType, 12);
  tiff.writeUInt32BE(1, 14);
  tiff.writeUInt16BE(value, 18);
  return tiff;
}
