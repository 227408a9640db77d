import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findHits, hasAllWords, searchWords, snippetOf } from './search-words.ts';

test('parses a search like the server', () => {
  const cases: [string, string[]][] = [
    ['  Harbour   plan ', ['harbour', 'plan']],
    ['"harbour plan" -draft', ['harbour', 'plan']],
    ['tide or wind', ['tide', 'wind']],
    ['a+b (c)', ['a+b', 'c']],
    ['C++ and C#', ['c++', 'and', 'c#']],
    ['§ 5', ['§', '5']],
    ['v2.3.1 of 2.3.1', ['v2.3.1', 'of', '2.3.1']],
    ['🚀 tea', ['🚀', 'tea']],
    ['tide TIDE', ['tide']],
    ['.*', []],
  ];
  for (const [query, words] of cases) assert.deepEqual(searchWords(query), words, query);
});

test('finds hits regardless of case and accents, at their offsets', () => {
  const text = 'The Harbour has a harbourmaster; a Cinderella-harbour, too.';
  const found = findHits(text, ['harbour']).map(({ start, end }) => [start, text.slice(start, end)]);
  assert.deepEqual(found, [
    [4, 'Harbour'],
    [18, 'harbour'],
    [46, 'harbour'],
  ]);
  assert.deepEqual(findHits('A résumé of Schriftgrößen', ['resume', 'größen']), [
    { start: 2, end: 8 },
    { start: 19, end: 25 },
  ]);
  assert.deepEqual(findHits('Released as v2.3.1', ['2.3.1']), [{ start: 13, end: 18 }]);
});

test('finds short words only where a word begins', () => {
  assert.deepEqual(findHits('a part of art', ['art']), [{ start: 10, end: 13 }]);
});

test('finds words of scripts without spaces inside a text', () => {
  assert.deepEqual(findHits('東京湾の港', ['港']), [{ start: 4, end: 5 }]);
});

test('bounds the words and hits of a search', () => {
  assert.equal(findHits('tide '.repeat(1000), ['tide'], 50).length, 50);
});

test('requires all words, in any order', () => {
  assert.equal(hasAllWords('plan of the harbour', ['harbour', 'plan']), true);
  assert.equal(hasAllWords('plan of the bay', ['harbour', 'plan']), false);
  assert.equal(hasAllWords('anything', []), false);
});

test('finds symbols and emoji', () => {
  const shown = (text: string, query: string) =>
    findHits(text, searchWords(query)).map(({ start, end }) => text.slice(start, end));
  assert.deepEqual(shown('Written in C++, not in C.', 'c++'), ['C++']);
  assert.deepEqual(shown('It costs $5 (see § 12).', '§ $5'), ['$5', '§']);
  assert.deepEqual(shown('To the moon 🚀!', '🚀'), ['🚀']);
});

test('a snippet is a short line around the first hit', () => {
  const text = `${'before '.repeat(40)}the **harbour**\n\nplan ${'after '.repeat(80)}`;
  const snippet = snippetOf(text, ['harbour', 'plan']);
  assert.ok(snippet);
  assert.match(snippet.text, /^…before before .*the harbour plan after .*…$/);
  assert.ok(snippet.text.length <= 162);
  assert.deepEqual(
    snippet.hits.map(({ start, end }) => snippet.text.slice(start, end)),
    ['harbour', 'plan'],
  );
  assert.equal(snippetOf('nothing here', ['harbour']), undefined);
});
