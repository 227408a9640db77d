import assert from 'node:assert/strict';
import { test } from 'node:test';
import { areSameWords, markQuotes, quoteBefore } from './quote-marks.ts';

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

test('finds the quote that stands before a number', () => {
  const quotes = ['tide rises', 'moon pulls', 'sun rests'].map((text, at) => ({ text, found: at < 2 }));
  assert.equal(quoteBefore('The “tide rises” and the “moon  pulls” ', quotes), 'moon pulls');
  assert.equal(quoteBefore('The “sun rests” ', quotes), undefined);
  assert.equal(quoteBefore('', quotes), undefined);
  assert.ok(areSameWords('moon\n pulls “it”', 'moon pulls "it"'));
  assert.ok(!areSameWords('moon', 'moon pulls'));
});
