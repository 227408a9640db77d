import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modelReach } from './model-reach.ts';

test('pictures and texts reach a model whole, long texts by their beginning, everything else by its name', () => {
  const cases: [mediaType: string, size: number, reach: string][] = [
    ['image/png', 1_000, 'all'],
    ['image/png', 6 * 1024 * 1024, 'name'],
    ['image/heic', 1_000, 'name'],
    ['image/svg+xml', 1_000, 'all'],
    ['text/markdown', 1_000, 'all'],
    ['text/csv', 300 * 1024, 'beginning'],
    ['application/json', 1_000, 'all'],
    ['application/octet-stream', 1_000, 'all'],
    ['application/pdf', 1_000, 'name'],
    ['application/zip', 1_000, 'name'],
    ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 1_000, 'name'],
    ['video/mp4', 1_000, 'name'],
  ];
  for (const [mediaType, size, reach] of cases) assert.equal(modelReach({ mediaType, size }), reach, mediaType);
});
