import assert from 'node:assert/strict';
import { test } from 'node:test';
import { indexedText, ownerLexeme, ownerQuery, searchQuery, searchText, searchTextMax } from './search-text.ts';

const texts: [text: string, words: string][] = [
  ['Hello, World!', 'hello world'],
  ['foo-bar_baz/report.pdf', 'foo bar baz report pdf'],
  ['  \n\t ', ''],
  ['👩🏽‍🚀 & |!', 'qzx1f469 qzx1f680'],
  ['C++ costs 5 €', 'c qzx2b qzx2b costs 5 qzx20ac'],
  ['§5', 'qzxa7 5'],
  ['ＦＵＬＬ width', 'full width'],
  ['ÜBER Straße', 'uber strasse'],
  ['résumé of İstanbul, Łódź', 'resume of istanbul lodz'],
  ['v2.3.1 in v8', 'v 2 3 1 in v 8'],
  ['한국어', '한국어'],
  ['日本語 text', '日 本 語 text'],
  ['lone \ud800 surrogate', 'lone surrogate'],
  [':someone', 'someone'],
];
for (const [text, words] of texts) {
  test(`the words of ${JSON.stringify(text)}`, () => assert.equal(searchText(text), words));
}

test('indexes the endings of longer words', () => {
  assert.equal(indexedText('getUser now'), 'getuser now qzwetuser qzwtuser qzwuser');
  assert.equal(indexedText('x'.repeat(41)), 'x'.repeat(41));
  const words = Array.from({ length: 20_000 }, (_, index) => `word${index}`).join(' ');
  assert.ok(indexedText(words).length < 500_000);
});

test('searches only a bounded part of a text', () => {
  assert.equal(searchText(`${'a '.repeat(searchTextMax)}end`).endsWith('end'), false);
});

const queries: [typed: string, query: string | undefined][] = [
  ['tea', "(('tea':*))"],
  ['green tea', "((('green':*) | 'qzwgreen':*) & ('tea':*))"],
  ['green "tea time"', "((('green':*) | 'qzwgreen':*) & ('tea' <-> 'time'))"],
  ['größen', "((('grossen':*) | 'qzwgrossen':*))"],
  ['2.3.1', "(('2' <-> '3' <-> '1'))"],
  ['"unclosed phrase', "(('unclosed' <-> 'phrase'))"],
  ['tea -milk', "(('tea') & !('milk'))"],
  ['tea OR coffee', "(('tea')) | ((('coffee':*) | 'qzwcoffee':*))"],
  ['or', undefined],
  ['tea or -milk', "(('tea'))"],
  ['-milk', undefined],
  ['foo-bar', "(('foo' <-> 'bar':*))"],
  ['日本', "(('日' <-> '本'))"],
  ['x', "(('x'))"],
  ['', undefined],
  ["'", undefined],
  ['&|!():*<->', undefined],
  ['""', undefined],
  ['😀', "(('qzx1f600'))"],
  ['c++', "(('c' <-> 'qzx2b' <-> 'qzx2b'))"],
  ['§ 5', "(('qzxa7') & ('5'))"],
];
for (const [typed, query] of queries) {
  test(`looks for ${JSON.stringify(typed)}`, () => assert.equal(searchQuery(typed), query));
}

test('quotes an owner lexeme for a query', () => {
  assert.equal(ownerLexeme('u1'), ':u1');
  assert.equal(ownerQuery("a'b\\c"), "':a''b\\\\c'");
});
