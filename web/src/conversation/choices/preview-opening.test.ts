import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { takeFirstOpening, writePreviewOpening } from './preview-opening.ts';

let stored: Map<string, string>;
beforeEach(() => {
  stored = new Map();
  Object.assign(globalThis, {
    localStorage: {
      getItem: (key: string) => stored.get(key) ?? null,
      setItem: (key: string, value: string) => void stored.set(key, value),
    },
  });
});

test('opens the preview of a file once in each conversation', () => {
  assert.equal(takeFirstOpening('c1', '~/a.html'), true);
  assert.equal(takeFirstOpening('c1', '~/a.html'), false);
  assert.equal(takeFirstOpening('c1', '~/b.html'), true);
  assert.equal(takeFirstOpening('c2', '~/a.html'), true);
});

test('opens no preview for people who want links only', () => {
  writePreviewOpening('link');
  assert.equal(takeFirstOpening('c1', '~/a.html'), false);
  writePreviewOpening('open');
  assert.equal(takeFirstOpening('c1', '~/a.html'), true);
});

test('remembers the newest files and survives what is stored otherwise', () => {
  for (let index = 0; index < 300; index += 1) takeFirstOpening('c', `~/${index}.html`);
  assert.equal(takeFirstOpening('c', '~/299.html'), false);
  assert.equal(JSON.parse(stored.get('opened-previews:v1') ?? '').length, 200);
  for (const text of ['{', '5', '"a"']) {
    stored.set('opened-previews:v1', text);
    assert.equal(takeFirstOpening('c', '~/a.html'), true, text);
  }
});
