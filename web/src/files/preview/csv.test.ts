import assert from 'node:assert/strict';
import test from 'node:test';
import { parseTable } from './csv.ts';

test('parses quotes, delimiters inside them and every line ending', () => {
  assert.deepEqual(parseTable('a,b\r\n"x, ""y""","1\n2"\n', 9).rows, [
    ['a', 'b'],
    ['x, "y"', '1\n2'],
  ]);
  assert.deepEqual(parseTable('\ufeffa;b\n1,5;2', 9).rows, [
    ['a', 'b'],
    ['1,5', '2'],
  ]);
  assert.deepEqual(parseTable('a\tb', 9).rows, [['a', 'b']]);
  assert.deepEqual(parseTable('', 9).rows, []);
});

test('returns at most the requested rows', () => {
  assert.deepEqual(parseTable('a\nb\nc\n', 2), { rows: [['a'], ['b']], isCut: true });
  assert.deepEqual(parseTable('a\nb\n', 2), { rows: [['a'], ['b']], isCut: false });
});
