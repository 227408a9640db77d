import assert from 'node:assert/strict';
import { test } from 'node:test';
import { handOverFiles, takeFiles } from './handed-over-files.ts';

test('hands the chosen files to the page of their assistant, once', () => {
  const files = [new File(['text'], 'law.txt')];
  handOverFiles('a', files);
  assert.deepEqual(takeFiles('b'), []);
  assert.deepEqual(takeFiles('a'), files);
  assert.deepEqual(takeFiles('a'), []);
});
