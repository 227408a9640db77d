import assert from 'node:assert/strict';
import { test } from 'node:test';
import { joinPasted, parsePasted, storePasted } from './pasted-texts.ts';
import { withQuote } from './quote.ts';

test('restores pasted texts from storage and ignores invalid data', () => {
  assert.deepEqual(parsePasted(storePasted(['one', 'two'])), ['one', 'two']);
  assert.deepEqual(parsePasted(storePasted([])), []);
  for (const broken of ['{', '{"a":1}', 'null', '[1,null]']) assert.deepEqual(parsePasted(broken), []);
});

test('pasted texts follow what was written', () => {
  assert.equal(joinPasted('look:', ['a', 'b']), 'look:\n\na\n\nb');
  assert.equal(joinPasted('  ', ['a']), 'a');
});

test('appends a quotation with room for the reply', () => {
  assert.equal(withQuote('', 'a\n\nb'), '> a\n>\n> b\n\n');
  assert.equal(withQuote('so \n', 'a'), 'so\n\n> a\n\n');
});
