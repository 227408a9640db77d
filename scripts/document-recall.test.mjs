import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wordRecall } from './document-recall.mjs';

test('counts the expected words that a text has, each as often as expected', () => {
  assert.equal(wordRecall('One two, two.', 'two ONE two'), 1);
  assert.equal(wordRecall('one two two three', '# one\n- two'), 1 / 2);
  assert.equal(wordRecall('', 'anything'), 1);
  assert.equal(wordRecall('東京都 2026', '東京 2026'), 3 / 4);
  assert.equal(wordRecall('soft\u00adware ﬁle', 'software file more'), 1);
});
