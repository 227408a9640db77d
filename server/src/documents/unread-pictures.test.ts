import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recognize } from './kinds.ts';

const box = (brand: string) => Buffer.from(`\0\0\0\u0018ftyp${brand}\0\0\0\0mif1`, 'latin1');
/** A bitmap of one pixel. */
const bitmap = Buffer.from(
  '424d3a0000000000000036000000280000000100000001000000010018000000000004000000130b0000130b00000000000000000000ff000000',
  'hex',
);

for (const [format, bytes] of [
  ['HEIC', box('heic')],
  ['HEIC', box('mif1')],
  ['AVIF', box('avif')],
  ['TIFF', Buffer.from('49492a0008000000', 'hex')],
  ['TIFF', Buffer.from('4d4d002a00000008', 'hex')],
  ['BMP', bitmap],
] as const) {
  test(`refuses a ${format} picture with what to do (${bytes.toString('hex', 0, 4)})`, () => {
    const advice = format === 'HEIC' ? 'Save it as JPEG or PNG' : 'when it is attached to a message';
    const reason = new RegExp(`a ${format} picture.*${advice}`);
    assert.throws(() => recognize(bytes, 1_000_000), { message: reason });
  });
}

test('reads a text that begins like the header of a bitmap', () => {
  assert.equal(recognize(Buffer.from('BM is short for bitmap, which this text is not.'), 1_000_000).kind, 'text');
});
