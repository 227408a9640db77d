import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attachedOf, fileParts, parseAttached, storeAttached } from './attached-files.ts';

const file = { id: '0190', filename: 'a.txt', mediaType: 'text/plain', size: 3 };

test('restores stored files and skips invalid ones', () => {
  assert.deepEqual(parseAttached(storeAttached([file])), [file]);
  assert.equal(storeAttached([]), '');
  for (const stored of ['', 'no json', '{}', '[null, 3, {"id": 1}]']) assert.deepEqual(parseAttached(stored), []);
});

test('a file part refers to the artifact and fits the message', () => {
  assert.deepEqual(fileParts([{ ...file, filename: 'x'.repeat(400) }]), [
    { type: 'file', mediaType: 'text/plain', filename: 'x'.repeat(255), url: 'artifact://0190' },
  ]);
});

test('restores the files of a discarded message', () => {
  const parts = [...fileParts([file]), { type: 'text' as const, text: 'x' }];
  assert.deepEqual(attachedOf(parts), [{ id: '0190', filename: 'a.txt', mediaType: 'text/plain' }]);
});
