import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseFormats, chooseLocale } from './choose-locale.ts';

test('prefers the chosen language, then the browser’s, then English', () => {
  assert.equal(chooseLocale('de', ['en-GB']), 'de');
  assert.equal(chooseLocale(null, ['fr-FR', 'de-AT', 'en']), 'de');
  assert.equal(chooseLocale(null, ['en-US', 'de']), 'en');
  assert.equal(chooseLocale('xx', []), 'en');
  assert.equal(chooseLocale(null, ['fr']), 'en');
});

test('formats dates and times by the whole locale of the browser', () => {
  assert.equal(chooseFormats('en', false, ['en-GB', 'en']), 'en-GB');
  assert.equal(chooseFormats('de', false, ['fr-FR', 'de-AT']), 'de-AT');
  assert.equal(chooseFormats('en', false, ['sv-SE', 'sv']), 'sv-SE');
  assert.equal(chooseFormats('en', false, ['sv-SE', 'en-GB']), 'en-GB');
  assert.equal(chooseFormats('en', false, ['en']), 'en');
});

test('formats by the chosen language in the region of the browser', () => {
  assert.equal(chooseFormats('en', true, ['de-AT', 'de']), 'en-AT');
  assert.equal(chooseFormats('de', true, ['en-GB']), 'de');
  assert.equal(chooseFormats('de', true, ['de-CH', 'en-US']), 'de-CH');
  assert.equal(chooseFormats('en', true, ['sv']), 'en');
});

test('ignores what is no locale', () => {
  assert.equal(chooseFormats('en', false, ['x_y', '', 'en-AU']), 'en-AU');
  assert.equal(chooseFormats('de', false, []), 'de');
});
