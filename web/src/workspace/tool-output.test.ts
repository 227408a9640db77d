import assert from 'node:assert/strict';
import test from 'node:test';
import { readEdits, readPublished } from './tool-output.ts';

test('finds a published artifact in every form of the output', () => {
  const id = '0192f0c0-0000-7000-8000-000000000001';
  const artifact = { id, path: 'out/chart.png', filename: 'chart.png', mediaType: 'image/png' };
  const found = { id, filename: 'chart.png', mediaType: 'image/png' };
  assert.deepEqual(readPublished({ artifact }, {}), found);
  assert.deepEqual(readPublished(artifact, {}), found);
  assert.deepEqual(readPublished({ id, path: 'out/chart.png', size: 7, link: '[x](artifact://y)' }, {}), found);
  assert.deepEqual(readPublished(`Published: [chart.png](artifact://${id})`, {}), { ...found, mediaType: '' });
  assert.deepEqual(readPublished(`artifact://${id}`, { path: '~/a/chart.png' }), { ...found, mediaType: '' });
  for (const nothing of [undefined, null, '', 'artifact://x', {}, [], 7]) {
    assert.equal(readPublished(nothing, {}), undefined);
  }
});

test('parses edits while they stream', () => {
  assert.deepEqual(readEdits({ edits: [{ oldText: 'a', newText: 'b' }, { oldText: 'c' }, 7, null] }), [
    { oldText: 'a', newText: 'b' },
    { oldText: 'c', newText: '' },
  ]);
  assert.deepEqual(readEdits({ oldText: 'a', newText: '' }), [{ oldText: 'a', newText: '' }]);
  for (const nothing of [undefined, 'text', [], { path: 'x' }]) assert.deepEqual(readEdits(nothing), []);
});
