import assert from 'node:assert/strict';
import { test } from 'node:test';
import { line, oneLine } from './line.ts';

test('reduces a name to one line without bidirectional controls', () => {
  const cases: [string, string][] = [
    ['Ada Lovelace', 'Ada Lovelace'],
    ['  Ada\r\nLovelace\t', 'Ada Lovelace'],
    ['Ada\u0000\u0007\u009fLovelace', 'Ada Lovelace'],
    ['Ada\u2028Love\u2029lace', 'Ada Love lace'],
    ['invoice\u202egpj.exe', 'invoicegpj.exe'],
    ['\u2066Ada\u2069\u200f\u061c', 'Ada'],
    // Letters of every script stay, and so do emoji joined from several.
    ['שלום عليكم 👩‍👩‍👧 naïve', 'שלום عليكم 👩‍👩‍👧 naïve'],
    ['\u202e\n\u2028', ''],
  ];
  for (const [given, kept] of cases) assert.equal(oneLine(given), kept, JSON.stringify(given));
});

test('checks the length after cleaning', () => {
  assert.equal(line(2, 4).parse('\u202eAda\u202c\n'), 'Ada');
  assert.equal(line(2, 4).safeParse('A\u202e').success, false);
});
