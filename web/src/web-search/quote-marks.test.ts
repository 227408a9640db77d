import assert from 'node:assert/strict';
import { test } from 'node:test';
import { markQuotes } from './quote-marks.ts';

const marked = (text: string, quotes: string[]) =>
  markQuotes(text, quotes).map(({ text: piece, isQuote }) => (isQuote ? `<${piece}>` : piece));

test('marks quoted words, whatever white space and quotation marks', () => {
  assert.deepEqual(marked('The tide\n rises “twice” a day.', ['tide rises "twice"']), [
    'The ',
    '<tide\n rises “twice”>',
    ' a day.',
  ]);
  assert.deepEqual(marked('one two three', ['three', 'one']), ['<one>', ' two ', '<three>']);
  assert.deepEqual(marked('one two', ['absent', '']), ['one two']);
  assert.deepEqual(marked('one two three', ['one two', 'two three']), ['<one two>', ' three']);
});
