import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededBelow } from '../../../../contracts/test/seeded-random.ts';
import { withoutMetadata } from './picture-metadata.ts';

const place = 'GPS 52.52 13.40';

function segment(marker: number, content: string | Buffer): Buffer {
  const bytes = Buffer.from(content as string, 'latin1');
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(bytes.length + 2, 2);
  return Buffer.concat([head, bytes]);
}

/** EXIF data as a phone writes it, in either order of bytes: orientation, then the place. */
function tiff(orientation: number, isLittle: boolean): Buffer {
  const bytes = Buffer.alloc(40);
  bytes.write(isLittle ? 'II*\0' : 'MM\0*', 'latin1');
  const short = (value: number, at: number) =>
    isLittle ? bytes.writeUInt16LE(value, at) : bytes.writeUInt16BE(value, at);
  const long = (value: number, at: number) =>
    isLittle ? bytes.writeUInt32LE(value, at) : bytes.writeUInt32BE(value, at);
  long(8, 4);
  short(2, 8);
  for (const [index, [tag, value]] of [
    [0x010f, 7],
    [0x0112, orientation],
  ].entries()) {
    short(tag ?? 0, 10 + index * 12);
    short(3, 12 + index * 12);
    long(1, 14 + index * 12);
    short(value ?? 0, 18 + index * 12);
  }
  return Buffer.concat([bytes, Buffer.from(place)]);
}

const scan = Buffer.concat([segment(0xda, '\x01\x01\0\0?\0'), Buffer.from([1, 0xff, 0, 2, 0xff, 0xd3, 3])]);
const end = Buffer.from([0xff, 0xd9]);
const kept = {
  jfif: segment(0xe0, 'JFIF\0\x01\x01\0\0\x01\0\x01\0\0'),
  profile: segment(0xe2, 'ICC_PROFILE\0\x01\x01colors'),
  adobe: segment(0xee, 'Adobe\0d\0\0\0\0\x01'),
  tables: segment(0xdb, '\0'.repeat(65)),
};

function photo(orientation: number, isLittle = true): Buffer {
  const exif = Buffer.concat([Buffer.from('Exif\0\0'), tiff(orientation, isLittle)]);
  return Buffer.concat([
    ...[
      Buffer.from([0xff, 0xd8]),
      kept.jfif,
      segment(0xe1, exif),
      segment(0xe1, `http://ns.adobe.com/xap/1.0/\0${place}`),
    ],
    ...[kept.profile, segment(0xe2, `MPF\0${place}`), segment(0xed, `Photoshop 3.0\0${place}`), segment(0xfe, place)],
    ...[
      Buffer.from([0xff]),
      kept.adobe,
      kept.tables,
      scan,
      kept.tables,
      scan,
      end,
      Buffer.from(`second picture ${place}`),
    ],
  ]);
}

test('leaves a JPEG its picture, colors and orientation, and nothing about its place', () => {
  for (const isLittle of [true, false]) {
    const plain = withoutMetadata('image/jpeg', photo(6, isLittle));
    assert.equal(plain.includes('GPS'), false);
    const orientation = Buffer.from('4d4d002a00000008000101120003000000010006000000000000', 'hex');
    assert.deepEqual(
      plain,
      Buffer.concat([
        ...[Buffer.from([0xff, 0xd8]), kept.jfif, segment(0xe1, Buffer.concat([Buffer.from('Exif\0\0'), orientation]))],
        ...[kept.profile, kept.adobe, kept.tables, scan, kept.tables, scan, end],
      ]),
    );
  }
  for (const orientation of [0, 1, 9]) {
    assert.equal(withoutMetadata('image/jpeg', photo(orientation)).includes('Exif'), false);
  }
});

function chunk(name: string, content: string): Buffer {
  const bytes = Buffer.concat([Buffer.alloc(4), Buffer.from(name + content, 'latin1'), Buffer.from('crc!')]);
  bytes.writeUInt32BE(content.length);
  return bytes;
}

test('leaves a PNG its picture and colors, without texts, times and what follows its end', () => {
  const head = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
  const good = [chunk('IHDR', '0123456789abc'), chunk('iCCP', 'colors'), chunk('IDAT', 'pixels'), chunk('IEND', '')];
  const bad = ['tEXt', 'zTXt', 'iTXt', 'eXIf', 'tIME'].map((name) => chunk(name, place));
  const file = Buffer.concat([head, ...good.slice(0, 2), ...bad, ...good.slice(2), Buffer.from(place)]);
  assert.deepEqual(withoutMetadata('image/png', file), Buffer.concat([head, ...good]));
});

function webp(...chunks: Buffer[]): Buffer {
  const content = Buffer.concat([Buffer.from('WEBP'), ...chunks]);
  const head = Buffer.from('RIFF\0\0\0\0');
  head.writeUInt32LE(content.length, 4);
  return Buffer.concat([head, content]);
}

function riff(name: string, content: Buffer): Buffer {
  const head = Buffer.concat([Buffer.from(name), Buffer.alloc(4)]);
  head.writeUInt32LE(content.length, 4);
  return Buffer.concat([head, content, Buffer.alloc(content.length % 2)]);
}

test('leaves a WebP its picture and orientation, with flags and length that agree', () => {
  const header = (flags: number) => riff('VP8X', Buffer.from([flags, 0, 0, 0, 1, 0, 0, 1, 0, 0]));
  const pixels = riff('VP8 ', Buffer.from('odd'));
  const xmp = riff('XMP ', Buffer.from(place));
  for (const prefix of ['', 'Exif\0\0']) {
    const exif = riff('EXIF', Buffer.concat([Buffer.from(prefix), tiff(8, false)]));
    const plain = withoutMetadata('image/webp', webp(header(0x2c), pixels, exif, xmp));
    const left = riff('EXIF', Buffer.from('4d4d002a00000008000101120003000000010008000000000000', 'hex'));
    assert.deepEqual(plain, webp(header(0x28), pixels, left));
  }
  const upright = webp(header(0x2c), pixels, riff('EXIF', tiff(1, true)), xmp);
  assert.deepEqual(withoutMetadata('image/webp', upright), webp(header(0x20), pixels));
  const simple = webp(pixels);
  assert.deepEqual(withoutMetadata('image/webp', simple), simple);
});

test('reads hostile bytes in time of their length, and never more than it was given', () => {
  const below = seededBelow(4242);
  const files = [
    photo(6),
    Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), chunk('IDAT', 'pixels'), chunk('IEND', '')]),
    webp(riff('VP8X', Buffer.alloc(10)), riff('EXIF', tiff(6, true))),
  ];
  for (const [index, type] of (['image/jpeg', 'image/png', 'image/webp'] as const).entries()) {
    const whole = files[index] ?? Buffer.alloc(0);
    for (let length = 0; length <= whole.length; length += 1) withoutMetadata(type, whole.subarray(0, length));
    const cut = whole.subarray(0, 16);
    assert.deepEqual(withoutMetadata(type, cut).subarray(8), cut.subarray(8), type);
    for (let round = 0; round < 300; round += 1) {
      const changed = Buffer.from(whole);
      for (let count = 0; count < 4; count += 1) changed[below(changed.length)] = below(256);
      assert.ok(withoutMetadata(type, changed).length <= whole.length * 1.25 + 64);
    }
    for (const byte of [0, 0xff]) {
      const huge = Buffer.concat([whole.subarray(0, 12), Buffer.alloc(5 * 1024 * 1024, byte)]);
      const began = performance.now();
      withoutMetadata(type, huge);
      assert.ok(performance.now() - began < 500, `${type} of ${byte}: ${performance.now() - began} ms`);
    }
  }
});
