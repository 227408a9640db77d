import assert from 'node:assert/strict';
import { test } from 'node:test';
import { beforeFirst, trimEndOf, trimOf } from './trim-characters.ts';

test('trims only the named characters, at the end or on both sides', () => {
  assert.equal(trimEndOf('/a/b//', '/'), '/a/b');
  assert.equal(trimEndOf('///', '/'), '');
  assert.equal(trimOf('//a/b/', '/'), 'a/b');
  assert.equal(trimOf(' \t a \t', ' \t'), 'a');
  assert.equal(trimOf('', '/'), '');
});

test('cuts a text at the first mark', () => {
  assert.equal(beforeFirst('a#b#c', '#'), 'a');
  assert.equal(beforeFirst('abc', '#'), 'abc');
});
