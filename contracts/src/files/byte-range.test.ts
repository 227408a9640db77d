import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ByteRange, parseRange } from './byte-range.ts';

const cases: [header: string | undefined, size: number, range: ByteRange | 'unsatisfiable' | undefined][] = [
  [undefined, 10, undefined],
  ['', 10, undefined],
  ['bytes=0-0', 10, { start: 0, end: 0 }],
  ['bytes=2-5', 10, { start: 2, end: 5 }],
  ['Bytes=2-', 10, { start: 2, end: 9 }],
  ['bytes=2-999', 10, { start: 2, end: 9 }],
  ['bytes=-3', 10, { start: 7, end: 9 }],
  ['bytes=-999', 10, { start: 0, end: 9 }],
  ['bytes=-0', 10, 'unsatisfiable'],
  ['bytes=10-', 10, 'unsatisfiable'],
  ['bytes=9999999999999999-', 10, 'unsatisfiable'],
  ['bytes=0-', 0, 'unsatisfiable'],
  ['bytes=-5', 0, 'unsatisfiable'],
  ['bytes=5-2', 10, undefined],
  ['bytes=-', 10, undefined],
  ['bytes=0-1,3-4', 10, undefined],
  ['bytes=99999999999999999-', 10, undefined],
  ['items=0-1', 10, undefined],
  ['bytes=a-b', 10, undefined],
  ['bytes=0x1-2', 10, undefined],
];

for (const [header, size, range] of cases) {
  test(`${header} of ${size} bytes`, () => assert.deepEqual(parseRange(header, size), range));
}
