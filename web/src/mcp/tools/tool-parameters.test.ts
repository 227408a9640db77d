import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toolHint, toolParameters } from './tool-parameters.ts';

const tool = (inputSchema: unknown, annotations?: unknown) => ({ name: 'look_up', inputSchema, annotations });

test('lists the parameters of a tool with type and description', () => {
  const schema = {
    type: 'object',
    required: ['key'],
    properties: {
      key: { type: 'string', description: 'What to look up' },
      kind: { enum: ['a', 2] },
      tags: { type: 'array', items: { type: 'string' } },
      size: { type: ['number', 'null'] },
      any: true,
    },
  };
  assert.deepEqual(toolParameters(tool(schema)), [
    { name: 'key', type: 'string', isRequired: true, description: 'What to look up' },
    { name: 'kind', type: '"a" | 2', isRequired: false, description: '' },
    { name: 'tags', type: 'string[]', isRequired: false, description: '' },
    { name: 'size', type: 'number | null', isRequired: false, description: '' },
    { name: 'any', type: '', isRequired: false, description: '' },
  ]);
});

test('accepts a schema of any shape', () => {
  for (const odd of [null, 'text', [], { properties: [] }, { properties: 'x', required: 'y' }]) {
    assert.deepEqual(toolParameters(tool(odd)), []);
  }
});

test('maps annotations to hints', () => {
  assert.equal(toolHint(tool({}, { readOnlyHint: true, destructiveHint: true })), 'readOnly');
  assert.equal(toolHint(tool({}, { destructiveHint: true })), 'destructive');
  assert.equal(toolHint(tool({}, { destructiveHint: 'yes' })), undefined);
  assert.equal(toolHint(tool({})), undefined);
});
