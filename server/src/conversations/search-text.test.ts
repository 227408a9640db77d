import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownerLexeme, ownerQuery, searchQuery, searchText, searchTextMax } from './search-text.ts';

const texts: [text: string, words: string][] = [
  ['Hello, World!', 'hello world'],
  ['foo-bar_baz/report.pdf', 'foo bar baz report pdf'],
  ['  \n\t ', ''],
  ['👩🏽‍🚀 & |!', 'qzx1f469 qzx1f680'],
  ['C++ costs 5 €', 'c qzx2b qzx2b costs 5 qzx20ac'],
  ['§5', 'qzxa7 5'],
  ['ＦＵＬＬ width', 'full width'],
  ['ÜBER Straße', 'über straße'],
  ['日本語 text', '日 本 語 text'],
  ['lone \ud800 surrogate', 'lone surrogate'],
  [':someone', 'someone'],
];
for (const [text, words] of texts) {
  test(`the words of ${JSON.stringify(text)}`, () => assert.equal(searchText(text), words));
}

test('searches only a bounded part of a text', () => {
  assert.equal(searchText(`${'a '.repeat(searchTextMax)}end`).endsWith('end'), false);
});

const queries: [typed: string, query: string | undefined][] = [
  ['tea', "(('tea':*))"],
  ['green tea', "(('green') & ('tea':*))"],
  ['green "tea time"', "(('green') & ('tea' <-> 'time'))"],
  ['"unclosed phrase', "(('unclosed' <-> 'phrase'))"],
  ['tea -milk', "(('tea') & !('milk'))"],
  ['tea OR coffee', "(('tea')) | (('coffee':*))"],
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
