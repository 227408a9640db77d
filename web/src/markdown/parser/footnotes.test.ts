import assert from 'node:assert/strict';
import { test } from 'node:test';
import '../../../test/browser-entities.ts';
import { specHtml } from '../../../test/spec-html.ts';
import { parseBlocks, StreamingBlocks } from './blocks.ts';
import { orderedFootnotes } from './footnotes.ts';

function notes(markdown: string): [label: string, html: string][] {
  return orderedFootnotes(parseBlocks(markdown).tokens).map(({ label, tokens }) => [
    label,
    specHtml(tokens).replaceAll('\n', ''),
  ]);
}

test('numbers notes by their first references, and puts those without one last', () => {
  const text = 'One[^b] two[^A] one[^b].\n\n[^unused]: U\n[^a]: First **a**\n[^b]: Second\n';
  assert.deepEqual(notes(text), [
    ['b', '<p>Second</p>'],
    ['a', '<p>First <strong>a</strong></p>'],
    ['unused', '<p>U</p>'],
  ]);
});

test('finds references in lists, tables and quotes', () => {
  const text = '- a[^3]\n\n| b[^2] |\n|---|\n| c[^1] |\n\n> d[^4]\n\n[^1]: 1\n[^2]: 2\n[^3]: 3\n[^4]: 4';
  assert.deepEqual(
    notes(text).map(([label]) => label),
    ['3', '2', '1', '4'],
  );
});

test('continues a note with further lines, and after an empty line with indented ones', () => {
  const text = 'a[^1]\n\n[^1]: one\ntwo\n\n    - three\n\n    four\n\nnot in it';
  assert.deepEqual(notes(text), [['1', '<p>onetwo</p><ul><li>three</li></ul><p>four</p>']]);
});

test('ends a paragraph at a definition, and keeps the first of two', () => {
  assert.deepEqual(notes('Text[^1]\n[^1]: a\n[^1]: b'), [['1', '<p>a</p>']]);
});

test('leaves a reference without a note and a link as they are', () => {
  assert.equal(specHtml(parseBlocks('a[^1] and [^2](https://example.org)').tokens).includes('a[^1] and <a'), true);
  assert.deepEqual(notes('a[^1]'), []);
});

test('streams notes to the same blocks as the whole', () => {
  const text = 'A[^1]\n\nB\n\nC\n\nD[^2]\n\n[^1]: one\n\n    more\n[^2]: two\n\nE\n\n> [!NOTE]\n> F[^1]\n\n\\[ x\n';
  const growing = new StreamingBlocks();
  for (let end = 1; end <= text.length; end += 1) growing.update(text.slice(0, end), false);
  assert.deepEqual(growing.update(text, true).tokens, parseBlocks(text).tokens);
});
