import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textBlocks } from './document-text.ts';

test('turns lines with tabs into tables and keeps other text in order', () => {
  assert.deepEqual(textBlocks('Title\n\nName\tRent\nAda\t900\n\nThe end\tof it\n'), [
    { kind: 'lines', text: 'Title' },
    {
      kind: 'table',
      rows: [
        ['Name', 'Rent'],
        ['Ada', '900'],
      ],
    },
    { kind: 'lines', text: 'The end\tof it' },
  ]);
  assert.deepEqual(textBlocks(''), []);
  assert.deepEqual(textBlocks('\tindented\n\ttwice'), [{ kind: 'lines', text: '\tindented\n\ttwice' }]);
});
