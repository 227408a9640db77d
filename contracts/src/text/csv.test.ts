import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csvCell } from './csv.ts';

const cells: [value: string | number | null, cell: string][] = [
  ['plain', 'plain'],
  [null, ''],
  [-5, '-5'],
  [-0.25, '-0.25'],
  ['-5', "'-5"],
  ['a;b', '"a;b"'],
  ['a\tb', '"a\tb"'],
  ['a,b "c"', '"a,b ""c"""'],
  ['=1', "'=1"],
  ['  @SUM(A1)', "'  @SUM(A1)"],
  ['\u200b\u00a0=1', "'\u200b\u00a0=1"],
  ['\uff1d1', "'\uff1d1"],
  ['\tplain', '"\'\tplain"'],
  ['\r=1', '"\'\r\'=1"'],
  ['a;=1', '"a;\'=1"'],
  ['a\t +1', '"a\t\' +1"'],
  ['a\n-1', '"a\n\'-1"'],
  ['a;;b=c', '"a;;b=c"'],
];

for (const [value, cell] of cells) {
  test(`the cell ${JSON.stringify(value)} is written as ${JSON.stringify(cell)}`, () => {
    assert.equal(csvCell(value), cell);
  });
}

test('escapes cells that begin like a formula, for every separator', () => {
  const parts = ['=', '+', '-', '@', '\t', '\r', '\n', ';', ',', '"', ' ', '\uff1d', 'a'];
  for (const one of parts)
    for (const two of parts)
      for (const three of parts) {
        const line = ['x', csvCell(one + two + three), 'y'].join(',');
        for (const separator of [/;/, /\t/, /[\r\n]+/, /[;\t\r\n]+/])
          for (const cell of line.split(separator)) assert.doesNotMatch(cell.trim(), /^[=+\-@\uff1d]/, line);
      }
});
