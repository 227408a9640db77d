import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findTool, readArguments } from './call-repair.ts';

const tools = [
  { name: 'list_files' },
  { name: 'bash' },
  { name: 'mcp__files__read' },
  { name: 'mcp__web__read' },
  { name: 'mcp__web__get_page' },
  { name: 'hidden_tool', isOffered: false },
];

const names: [string, string | undefined][] = [
  ['list_files', 'list_files'],
  ['default_api.list_files', 'list_files'],
  ['default_api:list_files', 'list_files'],
  ['functions.list_files', 'list_files'],
  ['functions.list_files:0', 'list_files'],
  ['functions/bash', 'bash'],
  ['list_files<|channel|>commentary', 'list_files'],
  ['list_files<|channel|>json', 'list_files'],
  ['bash<|constrain|>', 'bash'],
  ['List_Files', 'list_files'],
  ['ListFiles', 'list_files'],
  ['list-files', 'list_files'],
  [' "list_files"\n', 'list_files'],
  ['bash()', 'bash'],
  ['get_page', 'mcp__web__get_page'],
  ['read', undefined],
  ['hidden_tool', 'hidden_tool'],
  ['Hidden_Tool', undefined],
  ['rm', undefined],
  ['', undefined],
  ['list_files_now', undefined],
  ['x'.repeat(100_000), undefined],
];
for (const [name, found] of names) {
  test(`finds the tool that a model means: ${JSON.stringify(name.slice(0, 40))}`, () => {
    assert.equal(findTool(tools, name)?.name, found);
  });
}

const schema = {
  type: 'object',
  properties: {
    path: { type: 'string' },
    offset: { type: 'integer' },
    all: { type: 'boolean' },
    lines: { type: 'array', items: { type: 'number' } },
    where: { type: 'object', properties: { id: { anyOf: [{ type: 'integer' }, { type: 'null' }] } } },
  },
  required: ['path'],
  additionalProperties: false,
};
const texts: [string, unknown][] = [
  ['{"path":"a"}', { path: 'a' }],
  ['{"path":"12","offset":"12"}', { path: '12', offset: 12 }],
  ['{"path":"a","offset":-3,"all":"True"}', { path: 'a', offset: -3, all: true }],
  ['{"path":"a","lines":["1",2.5]}', { path: 'a', lines: [1, 2.5] }],
  ['{"path":"a","lines":"[1, 2]","where":"{\\"id\\": \\"7\\"}"}', { path: 'a', lines: [1, 2], where: { id: 7 } }],
  ['{"path":12,"lines":"3"}', { path: '12', lines: [3] }],
  ['{"path":"a, ]","lines":[1,2,],}', { path: 'a, ]', lines: [1, 2] }],
  ['{"path":"a","offset":null}', { path: 'a', offset: null }],
  ['"{\\"path\\":\\"a\\"}"', { path: 'a' }],
  [JSON.stringify(JSON.stringify(JSON.stringify({ path: 'a' }))), { path: 'a' }],
  ['```json\n{"path":"a"}\n```', { path: 'a' }],
  ['```{"path":"a"}```', { path: 'a' }],
  ['{"path": "a"}{}', { path: 'a' }],
  ['{"path": "a"}{"path": "a"}', { path: 'a' }],
  ['{}{"path": "a"}', { path: 'a' }],
  ['null{"path": "a"}', { path: 'a' }],
  ['{"path":"line1\nline2\t\u0001"}', { path: 'line1\nline2\t\u0001' }],
  ['```json\n{"path":"a\nb","offset":"2"}{}\n```', { path: 'a\nb', offset: 2 }],
  ['[{"path":"a"}]', { path: 'a' }],
  ['{"arguments":{"path":"a"}}', { path: 'a' }],
  ['{"path":"a"} and then {"path":"b"}', undefined],
  ['{"path":"a"}{"path":"b"}', undefined],
  ['{"path":"a"', undefined],
  ['```json\n{"offset":"x"}\n```', undefined],
  // As written, so that the tool says what is wrong.
  ['{"offset":"x"}', { offset: 'x' }],
  ['{"path":"a","offset":"1.5"}', { path: 'a', offset: '1.5' }],
  ['null', {}],
  ['7', undefined],
];
for (const [text, input] of texts) {
  test(`reads the arguments of a call: ${JSON.stringify(text.slice(0, 60))}`, () => {
    assert.deepEqual(readArguments(text, schema), input);
  });
}

test('leaves arguments alone that fit already', () => {
  const loose = { type: 'object', properties: { value: {}, text: { type: 'string' } } };
  assert.deepEqual(readArguments('{"value":"5","text":"true","more":"{}"}', loose), {
    value: '5',
    text: 'true',
    more: '{}',
  });
});

test('reads hostile arguments in bounded time', () => {
  const hostile = [
    '{"path":"'.repeat(50_000),
    '['.repeat(200_000),
    `${'"'.repeat(100_001)}{}`,
    `{"a":${'{"a":'.repeat(100)}1${'}'.repeat(101)}`,
  ];
  for (const text of hostile) readArguments(text, schema);
  assert.deepEqual(readArguments('"{\\"path\\":\\"a\\",\\"__proto__\\":{\\"x\\":1}}"', schema), { path: 'a' });
});
