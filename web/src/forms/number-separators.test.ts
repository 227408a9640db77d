import assert from 'node:assert/strict';
import { test } from 'node:test';
import { numberSeparators } from './number-separators.ts';

test('a number field groups digits as its language does', () => {
  assert.deepEqual(numberSeparators('en'), { thousandSeparator: ',', decimalSeparator: '.' });
  assert.deepEqual(numberSeparators('de'), { thousandSeparator: '.', decimalSeparator: ',' });
});
