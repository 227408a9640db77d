import assert from 'node:assert/strict';
import test from 'node:test';
import { readCommandOutput, readEdits, readPublished } from './tool-output.ts';

test('the end of a command is taken from the last line of its output, and from nowhere else', () => {
  assert.deepEqual(readCommandOutput('a\n[b]\nc\n[exit code 3, 1.20 s]'), {
    text: 'a\n[b]\nc',
    end: { kind: 'exit', code: 3 },
    seconds: '1.20',
  });
  assert.deepEqual(readCommandOutput('[timed out and was killed, 120 s]').end, { kind: 'timeout' });
  assert.deepEqual(readCommandOutput('x\n[ended by SIGKILL, 2.00 s]').end, { kind: 'signal', signal: 'SIGKILL' });
  assert.deepEqual(readCommandOutput('[exit code 0, 1 s]\nand more').end, undefined);
  assert.deepEqual(readCommandOutput('plain'), { text: 'plain', end: undefined, seconds: undefined });
});

test('a published artifact is found in every form of the answer', () => {
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

test('edits are read while they arrive', () => {
  assert.deepEqual(readEdits({ edits: [{ oldText: 'a', newText: 'b' }, { oldText: 'c' }, 7, null] }), [
    { oldText: 'a', newText: 'b' },
    { oldText: 'c', newText: '' },
  ]);
  assert.deepEqual(readEdits({ oldText: 'a', newText: '' }), [{ oldText: 'a', newText: '' }]);
  for (const nothing of [undefined, 'text', [], { path: 'x' }]) assert.deepEqual(readEdits(nothing), []);
});
