import assert from 'node:assert/strict';
import test from 'node:test';
import type { McpTool } from '@homeport/contracts/mcp/mcp';
import { diffTool } from './tool-diff.ts';

const tool: McpTool = {
  name: 'add',
  description: 'Adds two numbers.',
  inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } },
};

test('finds no difference if only the order of keys differs', () => {
  const same = { properties: { b: { type: 'number' }, a: { type: 'number' } }, type: 'object' };
  assert.deepEqual(diffTool(tool, { ...tool, inputSchema: same }), []);
});

test('lists each changed field, word by word or line by line', () => {
  const changed = { ...tool, title: 'Add', description: 'Adds three numbers.', inputSchema: { type: 'object' } };
  const diff = diffTool(tool, changed);
  assert.deepEqual(
    diff.map(({ field, kind }) => `${field} ${kind}`),
    ['title added', 'description modified', 'inputSchema modified'],
  );
  assert.deepEqual(diff[1]?.runs, [
    { kind: 'same', text: 'Adds ' },
    { kind: 'removed', text: 'two' },
    { kind: 'added', text: 'three' },
    { kind: 'same', text: ' numbers.' },
  ]);
});

test('reconstructs both texts from a difference of any size', () => {
  for (const size of [5, 40, 3000]) {
    const before = Array.from({ length: size }, (_, index) => `w${index}`).join(' ');
    const after = Array.from({ length: size }, (_, index) => `w${(index * 7) % size}`).join(' ');
    const [field] = diffTool({ ...tool, description: before }, { ...tool, description: after });
    const text = (kind: string) =>
      field?.runs
        .filter((run) => run.kind !== kind)
        .map((run) => run.text)
        .join('');
    assert.equal(text('added'), before);
    assert.equal(text('removed'), after);
  }
});
