import assert from 'node:assert/strict';
import test from 'node:test';
import { countHidden, visiblePieces } from './visible-text.ts';

test('keeps plain text of any script in one piece', () => {
  for (const text of ['Adds two numbers.\n\tReally.', 'Zwölf Boxkämpfer', 'מספרים', '加算する', 'a\r\nb']) {
    assert.deepEqual(visiblePieces(text), [{ kind: 'text', text: text.replace('\r', '') }]);
  }
});

test('names hidden, bidirectional and zero-width characters', () => {
  const cases: Record<string, string> = {
    '\u200b': 'U+200B',
    '\u202e': 'U+202E',
    '\u2066': 'U+2066',
    '\u00ad': 'U+00AD',
    '\ufeff': 'U+FEFF',
    '\u3164': 'U+3164',
    '\u00a0': 'U+00A0',
    '\u2028': 'U+2028',
    '\ufe0f': 'U+FE0F',
    '\u0007': 'U+0007',
    '\r': 'U+000D',
    '\ud800': 'U+D800',
    '\u{e0101}': 'U+E0101',
  };
  for (const [character, code] of Object.entries(cases)) {
    assert.deepEqual(visiblePieces(`a${character}b`), [
      { kind: 'text', text: 'a' },
      { kind: 'hidden', count: 1, codes: [code], spells: '' },
      { kind: 'text', text: 'b' },
    ]);
  }
});

test('spells out tag characters', () => {
  const secret = Array.from('obey', (letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('');
  const [, piece] = visiblePieces(`Adds.${secret}`);
  assert.equal(piece?.kind === 'hidden' && piece.spells, 'obey');
  assert.equal(countHidden(`Adds.${secret}`), 4);
});

test('leaves emoji alone', () => {
  assert.equal(countHidden('Done \u2714\ufe0f by \u{1f469}\u200d\u{1f4bb}'), 0);
  assert.equal(countHidden('a\ufe0f'), 1);
});

test('counts white space that hides the text after it', () => {
  assert.deepEqual(visiblePieces(`a${'\n'.repeat(50)}b${' '.repeat(300)}c`), [
    { kind: 'text', text: 'a' },
    { kind: 'gap', count: 49, what: 'lines' },
    { kind: 'text', text: 'b' },
    { kind: 'gap', count: 300, what: 'spaces' },
    { kind: 'text', text: 'c' },
  ]);
});
