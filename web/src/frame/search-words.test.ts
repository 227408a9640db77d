import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findHits, hasAllWords, searchWords } from './search-words.ts';

test('reads a search as the server does', () => {
  const cases: [string, string[]][] = [
    ['  Harbour   plan ', ['harbour', 'plan']],
    ['"harbour plan" -draft', ['harbour', 'plan']],
    ['tide or wind', ['tide', 'wind']],
    ['a+b (c)', ['a', 'b', 'c']],
    ['tide TIDE', ['tide']],
    ['.*', []],
  ];
  for (const [query, words] of cases) assert.deepEqual(searchWords(query), words, query);
});

test('hits begin a word, in any case, and keep their place', () => {
  const text = 'The Harbour has a harbourmaster; a Cinderella-harbour, too.';
  const found = findHits(text, ['harbour']).map(({ start, end }) => [start, text.slice(start, end)]);
  assert.deepEqual(found, [
    [4, 'Harbour'],
    [18, 'harbour'],
    [46, 'harbour'],
  ]);
  assert.deepEqual(findHits('subharbour', ['harbour']), []);
});

test('scripts without spaces are found inside a text', () => {
  assert.deepEqual(findHits('東京湾の港', ['港']), [{ start: 4, end: 5 }]);
});

test('is bounded', () => {
  assert.equal(findHits('tide '.repeat(1000), ['tide'], 50).length, 50);
});

test('all words, in any order', () => {
  assert.equal(hasAllWords('plan of the harbour', ['harbour', 'plan']), true);
  assert.equal(hasAllWords('plan of the bay', ['harbour', 'plan']), false);
  assert.equal(hasAllWords('anything', []), false);
});
