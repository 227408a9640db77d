import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import encodeAvif, { init as initAvif } from '@jsquash/avif/encode.js';
import encodePng, { init as initPng } from '@jsquash/png/encode.js';
import { encode as encodeBmp } from 'bmp-ts';
import utif from 'utif2';
import { decoders, encodeJpeg } from '../../src/artifacts/pictures/codecs.ts';
import type { Pixels } from '../../src/artifacts/pictures/pixels.ts';

/** Pictures in all formats that are converted, made by the packages' own encoders. */

type Rgb = readonly [red: number, green: number, blue: number];

const [red, green, blue, white]: [Rgb, Rgb, Rgb, Rgb] = [
  [255, 0, 0],
  [0, 128, 0],
  [0, 0, 255],
  [255, 255, 255],
];
const colors = { red, green, blue, white };

/** Red, green, blue and white quarters, from the top left to the bottom right. */
export function quarters(width: number, height: number): Pixels {
  const data = new Uint8ClampedArray(width * height * 4);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const isRight = x >= width / 2;
      const color = y < height / 2 ? (isRight ? green : red) : isRight ? white : blue;
      data.set([...color, 255], (y * width + x) * 4);
    }
  }
  return { data, width, height };
}

/** A JPEG with an EXIF segment: the orientation, and a place that must not leave the installation. */
export async function makeJpeg(pixels: Pixels, orientation = 1): Promise<Buffer> {
  const jpeg = Buffer.from(await encodeJpeg(pixels));
  const tiff = Buffer.alloc(26);
  tiff.write('MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01', 'latin1');
  tiff.writeUInt16BE(orientation, 18);
  const content = Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), tiff, Buffer.from('GPS 52.5 13.4')]);
  const head = Buffer.from([0xff, 0xe1, 0, content.length + 2]);
  return Buffer.concat([jpeg.subarray(0, 2), head, content, jpeg.subarray(2)]);
}

export async function makePng(pixels: Pixels): Promise<Buffer> {
  await initPng(program('png', 'pkg/squoosh_png_bg.wasm'));
  return Buffer.from(await encodePng(imageData(pixels)));
}

export async function makeAvif(pixels: Pixels): Promise<Buffer> {
  await initAvif({ wasmBinary: program('avif', 'enc/avif_enc.wasm') });
  return Buffer.from(await encodeAvif(imageData(pixels), { speed: 10 }));
}

function imageData({ data, width, height }: Pixels) {
  return { data: Uint8ClampedArray.from(data), width, height, colorSpace: 'srgb' as const };
}

export function makeTiff({ data, width, height }: Pixels): Buffer {
  return Buffer.from(utif.encodeImage(Uint8Array.from(data), width, height));
}

export function makeBmp({ data, width, height }: Pixels): Buffer {
  const swapped = Buffer.alloc(data.length);
  for (let at = 0; at < data.length; at += 4) {
    swapped.set([255, data[at + 2] ?? 0, data[at + 1] ?? 0, data[at] ?? 0], at);
  }
  return encodeBmp({ data: swapped, width, height, bitPP: 24 }).data;
}

/** The size of a JPEG, and the names of the colors in its corners, line by line. */
export async function look(jpeg: Buffer): Promise<{ width: number; height: number; corners: string[] }> {
  const read = await decoders['image/jpeg']?.(jpeg);
  if (read === undefined) throw new Error('no picture');
  const { data, width, height } = read;
  const at = (x: number, y: number) => data.subarray((y * width + x) * 4, (y * width + x) * 4 + 3);
  const corners = [at(2, 2), at(width - 3, 2), at(2, height - 3), at(width - 3, height - 3)].map(nameOf);
  return { width, height, corners };
}

function nameOf(pixel: Uint8Array | Uint8ClampedArray): string {
  const isNear = (color: Rgb) => color.every((value, index) => Math.abs(value - (pixel[index] ?? 0)) < 30);
  return Object.entries(colors).find(([, color]) => isNear(color))?.[0] ?? pixel.join(',');
}

function program(name: string, file: string): Buffer {
  const { resolve } = createRequire(import.meta.url);
  return readFileSync(join(dirname(resolve(`@jsquash/${name}/package.json`)), 'codec', file));
}
