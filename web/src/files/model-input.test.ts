import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modelInput } from './model-input.ts';

test('sends images and texts whole, audio and video by name, and leaves documents to the server', () => {
  const cases: [mediaType: string, size: number, reach: string][] = [
    ['image/png', 1_000, 'all'],
    ['image/png', 6 * 1024 * 1024, 'all'],
    ['image/png', 33 * 1024 * 1024, 'name'],
    ['image/gif', 6 * 1024 * 1024, 'name'],
    ['image/avif', 1_000, 'all'],
    ['image/heic', 1_000, 'document'],
    ['image/svg+xml', 1_000, 'all'],
    ['text/markdown', 1_000, 'all'],
    ['text/csv', 300 * 1024, 'document'],
    ['application/json', 1_000, 'all'],
    ['application/octet-stream', 1_000, 'document'],
    ['application/pdf', 1_000, 'document'],
    ['message/rfc822', 1_000, 'document'],
    ['application/epub+zip', 1_000, 'document'],
    ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 1_000, 'document'],
    ['video/mp4', 1_000, 'name'],
  ];
  for (const [mediaType, size, reach] of cases) assert.equal(modelInput({ mediaType, size }), reach, mediaType);
});
