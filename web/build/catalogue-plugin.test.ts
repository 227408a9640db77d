import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { listAreas, textIdsModule } from './catalogue-plugin.ts';

test('the union of text ids names every area of the English texts', () => {
  const text = readFileSync(new URL('../src/i18n/text-ids.ts', import.meta.url), 'utf8');
  assert.equal(text, textIdsModule(), 'run npm run build, which writes it');
});

test('every language has the areas of English', () => {
  assert.deepEqual(listAreas('de'), listAreas('en'));
});
