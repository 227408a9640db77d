import assert from 'node:assert/strict';
import { test } from 'node:test';
import { previewKindOf } from './preview-kind.ts';

test('offers a preview for pages, pictures, components, documents, tables and diagrams', () => {
  for (const [languages, kind] of [
    ['html HTML htm xhtml', 'html'],
    ['svg SVG', 'svg'],
    ['jsx tsx TSX javascriptreact typescriptreact react', 'react'],
    ['md markdown Markdown', 'markdown'],
    ['csv tsv', 'table'],
    ['mermaid Mermaid', 'diagram'],
  ] as const) {
    for (const language of languages.split(' ')) assert.equal(previewKindOf(language, 'x'), kind, language);
  }
  for (const language of ['', 'js', 'ts', 'python', 'css', 'json', 'xml', 'vue', 'php']) {
    assert.equal(previewKindOf(language, '<p>x</p>'), undefined, language);
  }
});

test('recognizes a page or picture whose language is missing or general', () => {
  for (const language of ['', 'text', 'xml', 'XML']) {
    assert.equal(previewKindOf(language, '<!DOCTYPE html>\n<html></html>'), 'html');
    assert.equal(previewKindOf(language, '\n<html lang="en">'), 'html');
    assert.equal(previewKindOf(language, '<svg viewBox="0 0 1 1"/>'), 'svg');
    assert.equal(previewKindOf(language, '<?xml version="1.0"?>\n<!-- Logo -->\n<svg/>'), 'svg');
    assert.equal(previewKindOf(language, '<svgs/>'), undefined);
    assert.equal(previewKindOf(language, 'See <svg>'), undefined);
  }
  assert.equal(previewKindOf('python', '<svg/>'), undefined);
});

test('looks at the beginning of a block only', () => {
  const started = performance.now();
  for (const text of [' '.repeat(1e6), `<?xml ${'a'.repeat(1e6)}`, '<!--'.repeat(2e5), `${'\n'.repeat(1e6)}<svg`]) {
    assert.equal(previewKindOf('', text), undefined);
  }
  assert.ok(performance.now() - started < 100);
});
