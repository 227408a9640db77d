import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keySequence, withCtrl } from './terminal-key-codes.ts';

test('sends the same sequences as a keyboard', () => {
  assert.deepEqual([keySequence('escape', false), keySequence('tab', true)], ['\x1b', '\t']);
  assert.deepEqual([keySequence('up', false), keySequence('left', true)], ['\x1b[A', '\x1bOD']);
  assert.deepEqual(['c', 'C', '[', ' ', 'ü', '1', 'cd'].map(withCtrl), ['\x03', '\x03', '\x1b', '\0', 'ü', '1', 'cd']);
});
