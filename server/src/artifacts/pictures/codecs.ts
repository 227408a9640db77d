import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PictureType } from './picture-head.ts';
import { type Pixels, shrink, turnUpright } from './pixels.ts';

/**
 * Decoders of pictures and the encoder of JPEG. Only for the process that parses foreign bytes. Decoders throw for what
 * they cannot read.
 */

/** Larger pictures are not decoded: each pixel takes up to 20 bytes, in AVIF twice as many. */
const pixelsMax = 50_000_000;
const avifPixelsMax = 20_000_000;

/** The picture has more pixels than this process decodes. */
export class TooManyPixels extends Error {
  constructor(width: number, height: number) {
    super(`${width} × ${height} pixels`);
  }
}

export type Turned = Pixels & { orientation: number };

type Decoder = (bytes: Buffer) => Promise<Turned>;

/** Formats without one are not converted. */
export const decoders: Partial<Record<PictureType, Decoder>> = {
  'image/jpeg': async (bytes) => {
    const { default: decode, init } = await import('@jsquash/jpeg/decode.js');
    await init({ wasmBinary: codec('jpeg', 'dec/mozjpeg_dec.wasm') });
    return upright(await decode(arrayOf(bytes)));
  },
  'image/png': async (bytes) => {
    const { default: decode, init } = await import('@jsquash/png/decode.js');
    await init(codec('png', 'pkg/squoosh_png_bg.wasm'));
    return upright(await decode(arrayOf(bytes)));
  },
  'image/webp': async (bytes) => {
    const { default: decode, init } = await import('@jsquash/webp/decode.js');
    await init({ wasmBinary: codec('webp', 'dec/webp_dec.wasm') });
    return upright(await decode(arrayOf(bytes)));
  },
  'image/avif': async (bytes) => {
    const { width, height } = avifSize(bytes);
    checkPixels(width, height, avifPixelsMax);
    const { default: decode, init } = await import('@jsquash/avif/decode.js');
    await init({ wasmBinary: codec('avif', 'dec/avif_dec.wasm') });
    const pixels = await decode(arrayOf(bytes));
    if (pixels === null) throw new Error('not an AVIF picture');
    return { ...upright(pixels), orientation: avifOrientation(bytes) };
  },
  'image/tiff': readTiff,
  'image/bmp': readBitmap,
};

/** JPEG of a good quality, without the slow search for the smallest file. */
export async function encodeJpeg(pixels: Pixels): Promise<Uint8Array> {
  const { default: encode, init } = await import('@jsquash/jpeg/encode.js');
  await init({ wasmBinary: codec('jpeg', 'enc/mozjpeg_enc.wasm') });
  return new Uint8Array(await encode(pixels as ImageData, { quality: 85, progressive: false }));
}

/** The same picture upright, on white and within `longest` pixels. */
export function fitPixels({ orientation, ...pixels }: Turned, longest: number): Pixels {
  return turnUpright(shrink(pixels, longest), orientation);
}

/** Throws TooManyPixels. */
export function checkPixels(width: number, height: number, most = pixelsMax): void {
  if (width * height > most) throw new TooManyPixels(width, height);
}

type ImageData = Pixels & { data: Uint8ClampedArray<ArrayBuffer>; colorSpace: 'srgb' };

function upright({ data, width, height }: Pixels): Turned {
  return { data, width, height, orientation: 1 };
}

function arrayOf(bytes: Buffer): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}

/** The program of a codec, beside the bundle or in its package. */
function codec(name: 'jpeg' | 'png' | 'webp' | 'avif', file: string): Buffer {
  const isBuilt = !import.meta.url.endsWith('.ts');
  const folder = isBuilt
    ? fileURLToPath(new URL(`./codecs/${name}/`, import.meta.url))
    : join(dirname(createRequire(import.meta.url).resolve(`@jsquash/${name}/package.json`)), 'codec');
  return readFileSync(join(folder, file));
}

const widthTag = 't256';
const heightTag = 't257';
const orientationTag = 't274';

/** The largest page: the first one can be a thumbnail. */
async function readTiff(bytes: Buffer): Promise<Turned> {
  const { decode, decodeImage, toRGBA8 } = (await import('utif2')).default;
  const content = arrayOf(bytes);
  const number = (value: unknown): number => (Array.isArray(value) ? Number(value[0]) || 0 : 0);
  const pages = decode(content).map((page) => ({
    page,
    width: number(page[widthTag]),
    height: number(page[heightTag]),
    orientation: number(page[orientationTag]) || 1,
  }));
  const [first] = pages.sort((one, other) => other.width * other.height - one.width * one.height);
  if (first === undefined || first.width * first.height === 0) throw new Error('no picture in the file');
  const { page, width, height, orientation } = first;
  checkPixels(width, height);
  decodeImage(content, page);
  return { data: toRGBA8(page), width, height, orientation };
}

async function readBitmap(bytes: Buffer): Promise<Turned> {
  if (bytes.length < 26) throw new Error('cut short');
  const [width, height] = [bytes.readInt32LE(18), Math.abs(bytes.readInt32LE(22))];
  if (width <= 0 || height === 0) throw new Error('no picture in the file');
  checkPixels(width, height);
  const { decode } = await import('bmp-ts');
  const { data } = decode(bytes);
  // The package's own order is alpha, blue, green, red; most programs leave the fourth byte of a pixel empty.
  for (let at = 0; at + 3 < data.length; at += 4) {
    const [blue, green, red] = [data[at + 1] ?? 0, data[at + 2] ?? 0, data[at + 3] ?? 0];
    [data[at], data[at + 1], data[at + 2], data[at + 3]] = [red, green, blue, 255];
  }
  return upright({ data, width, height });
}

/** Of the largest picture in the file, from the boxes `ispe`. */
function avifSize(bytes: Buffer): { width: number; height: number } {
  let largest = { width: 0, height: 0 };
  for (let at = bytes.indexOf('ispe'); at !== -1 && at + 16 <= bytes.length; at = bytes.indexOf('ispe', at + 4)) {
    const size = { width: bytes.readUInt32BE(at + 8), height: bytes.readUInt32BE(at + 12) };
    if (size.width * size.height > largest.width * largest.height) largest = size;
  }
  return largest;
}

/** From the box `irot`, in quarter turns against the clock, which the decoder does not apply. */
function avifOrientation(bytes: Buffer): number {
  const at = bytes.indexOf('\0\0\0\x09irot', 0, 'latin1');
  return at === -1 ? 1 : ([1, 8, 3, 6][(bytes[at + 8] ?? 0) & 3] ?? 1);
}
