import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '@homeport/contracts/limits';
import { mcpBounds } from '../bounds.ts';
import { makePlain } from './plain-messages.ts';

const many = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));

test('truncates lists at the reader’s bound and reduces unknown blocks to a word', () => {
  const result = {
    content: [{ type: 'text', text: 'kept', icons: many(9_000, () => 1) }, {}, 7, ...many(50_000, () => ({}))],
    prompts: many(5_000, (at) => ({ name: `p${at}`, arguments: many(9, () => ({ name: 'x' })) })),
    tools: many(5_000, (at) => ({ name: `t${at}`, inputSchema: { kept: many(200, (each) => each) }, icons: [1] })),
  };
  const before = structuredClone(result.tools[0]);
  assert.equal(makePlain({ jsonrpc: '2.0', id: 1, result }), undefined);
  assert.deepEqual(
    [result.content.length, result.prompts.length, result.tools.length],
    [mcpBounds.blocks, limits.mcpListed, mcpBounds.tools + 1],
  );
  assert.deepEqual(result.content[0], { type: 'text', text: 'kept' });
  assert.deepEqual(result.content[1], { type: 'text', text: '[The tool returned content of an unknown type]' });
  const { icons: _, ...tool } = before ?? assert.fail();
  assert.deepEqual(result.tools[0], tool, 'what a fingerprint covers stays');
});

test('keeps the used members of files and links', () => {
  const blocks: [block: object, plain: object][] = [
    [
      { type: 'image', mimeType: 'image/png', data: 'AAAA', _meta: {} },
      { type: 'image', mimeType: 'image/png', data: 'AAAA' },
    ],
    [
      { type: 'audio', mimeType: 'a/b', data: '!' },
      { type: 'text', text: '[An unreadable audio was left out]' },
    ],
    [
      { type: 'resource_link', uri: 'x:1' },
      { type: 'resource_link', uri: 'x:1', name: '', title: '', description: '' },
    ],
    [
      { type: 'resource', resource: { uri: 'x:1', text: 't' } },
      { type: 'resource', resource: { uri: 'x:1', text: 't' } },
    ],
    [
      { type: 'resource', resource: { uri: 'x:1', blob: 'A' } },
      { type: 'text', text: '[An unreadable resource x:1 was left out]' },
    ],
  ];
  const result = { content: blocks.map(([block]) => block) };
  makePlain({ id: 1, result });
  assert.deepEqual(
    result.content,
    blocks.map(([, plain]) => plain),
  );
});

test('truncates questions slightly above the accepted size and closes the connection on too many at once', () => {
  const properties = Object.fromEntries(many(9_000, (at) => [`f${at}`, { type: 'string', enum: many(300, String) }]));
  const question = () => ({ message: 'x', requestedSchema: { type: 'object', properties: { ...properties } } });
  const params = question();
  makePlain({ id: 1, method: 'elicitation/create', params });
  const fields = Object.values(params.requestedSchema.properties);
  assert.equal(fields.length, limits.elicitationChoices + 1);
  assert.ok(fields.length > limits.elicitationFields, 'still refused as too much');
  assert.equal(fields[0]?.enum.length, limits.elicitationChoices + 1);

  const asking = (count: number) => ({
    id: 1,
    result: { inputRequests: Object.fromEntries(many(count, (at) => [`q${at}`, { params: question() }])) },
  });
  const few = asking(mcpBounds.elicitations);
  assert.equal(makePlain(few), undefined);
  assert.equal(
    Object.keys(few.result.inputRequests.q0?.params.requestedSchema.properties ?? {}).length,
    limits.elicitationChoices + 1,
  );
  assert.match(makePlain(asking(mcpBounds.elicitations + 1)) ?? '', /too much at once/);
});

test('reads null members of a handshake as absent ones, and a server without a version', () => {
  const result = {
    protocolVersion: '2025-06-18',
    instructions: null,
    capabilities: { tools: { listChanged: null }, prompts: null },
    serverInfo: { name: 'x', title: null },
  };
  assert.equal(makePlain({ jsonrpc: '2.0', id: 1, result }), undefined);
  assert.deepEqual(result, {
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'x', version: '' },
  });
});

const kept = { content: [{ type: 'text', text: 'kept' }] };
const odd: [habit: string, result: Record<string, unknown>, plain: object][] = [
  ['no content', { content: null }, { content: [] }],
  ['a text as content', { content: 'words' }, { content: [{ type: 'text', text: 'words' }] }],
  ['a single block', { content: { type: 'text', text: 'words' } }, { content: [{ type: 'text', text: 'words' }] }],
  ['texts in place of blocks', { content: ['a', 'b'] }, { content: [textOf('a'), textOf('b')] }],
  ['null members', { ...kept, structuredContent: null, isError: null, _meta: null }, kept],
  ['an error written as text', { ...kept, isError: 'True' }, { ...kept, isError: true }],
  ['the result of 2024-10-07', { toolResult: { rows: [1] } }, { content: [textOf('{"rows":[1]}')] }],
  ['a structured list alone', { structuredContent: [1, 2] }, { content: [textOf('[1,2]')] }],
  [
    'a structured list beside its text',
    { content: [textOf('[1]')], structuredContent: [1] },
    { content: [textOf('[1]')] },
  ],
  [
    'a structured list beside another text',
    { ...kept, structuredContent: [1] },
    { content: [...kept.content, textOf('[1]')] },
  ],
  ['a number as text', { content: [{ type: 'text', text: 7 }] }, { content: [textOf('7')] }],
  ['an object as text', { content: [{ type: 'text', text: { a: 1 } }] }, { content: [textOf('{"a":1}')] }],
  ['no text', { content: [{ type: 'text', text: null }] }, { content: [textOf('')] }],
  ['JSON', { content: [{ type: 'json', json: { a: 1 } }] }, { content: [textOf('{"a":1}')] }],
];
for (const [habit, result, plain] of odd) {
  test(`reads the result of a tool with ${habit}`, () => {
    makePlain({ jsonrpc: '2.0', id: 1, result });
    assert.deepEqual(result, plain);
  });
}

function textOf(text: string): object {
  return { type: 'text', text };
}
