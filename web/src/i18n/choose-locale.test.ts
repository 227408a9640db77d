import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseLocale } from './choose-locale.ts';

test('prefers the chosen language, then the browser’s, then English', () => {
  assert.equal(chooseLocale('de', ['en-GB']), 'de');
  assert.equal(chooseLocale(null, ['fr-FR', 'de-AT', 'en']), 'de');
  assert.equal(chooseLocale(null, ['en-US', 'de']), 'en');
  assert.equal(chooseLocale('xx', []), 'en');
  assert.equal(chooseLocale(null, ['fr']), 'en');
});
