import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelRequest } from '../../protocol.ts';
import { createTextCalls } from './text-calls.ts';

const tools = ['look', 'bash'].map((name) => ({ name, description: '', inputSchema: { type: 'object' } }));
const block = '<tool_call>\n{"name": "look", "arguments": {"place": "the shelf"}}\n</tool_call>';
const called = [{ name: 'look', arguments: '{"place":"the shelf"}' }];

function read(text: string, { size = 3, content = 'Where is it?' } = {}) {
  let said = '';
  const started: string[] = [];
  const sink = {
    text(delta: string) {
      said += delta;
    },
    reasoning() {},
    toolStart: ({ name }: { name: string }) => void started.push(name),
    toolDelta() {},
  };
  const reader = createTextCalls(sink, () => 'id');
  for (let at = 0; at < text.length; at += size) reader.sink.text(text.slice(at, at + size));
  const request: Pick<ModelRequest, 'tools' | 'messages'> = { tools, messages: [{ role: 'user', content }] };
  const { toolCalls, finishReason } = reader.finish({ finishReason: 'stop', usage: undefined, toolCalls: [] }, request);
  assert.deepEqual(
    started,
    toolCalls.map(({ name }) => name),
  );
  assert.equal(finishReason, toolCalls.length > 0 ? 'tool-calls' : 'stop');
  return { said, calls: toolCalls.map(({ name, arguments: text }) => ({ name, arguments: text })) };
}

for (const size of [1, 3, 7, 1000]) {
  test(`reads calls in text, ${size} characters at a time`, () => {
    assert.deepEqual(read(block, { size }), { said: '', calls: called });
    assert.deepEqual(read(`I look.\n\n${block}\n`, { size }), { said: 'I look.\n\n', calls: called });
    assert.deepEqual(read(`${block}\n${block.replace('shelf', 'floor')}`, { size }).calls.length, 2);
    assert.deepEqual(read(block.replace('\n</tool_call>', ''), { size }).calls, called);
  });
}

const texts: [string, string, string?][] = [
  ['in code', `Write:\n\`\`\`\n${block}\n\`\`\`\n`],
  ['within a line', `Models write ${block}`],
  ['before other text', `${block}\nThat is how it works.`],
  ['with an unknown name', block.replace('look', 'rm')],
  ['without JSON', '<tool_call>\nlook at it\n</tool_call>'],
  ['that is broken', '<tool_call>{"name": "look", "arguments": {</tool_call>'],
  ['quoted from the request', block, `Read this: ${JSON.stringify(block)}`],
  ['quoted in another form', block, 'A file says {"arguments":{"place":"the shelf"},"name":"look"}'],
  ['of another kind', 'a < b and <tool_calls> and <tool_cal'],
  ['that never ends', `<tool_call>{"name":"look","arguments":{"a":"${'x'.repeat(300_000)}"}}</tool_call>`],
];
for (const [name, text, content] of texts) {
  test(`leaves a call as text ${name}`, () => {
    for (const size of [5, 4096]) {
      assert.deepEqual(read(text, { size, ...(content === undefined ? {} : { content }) }), { said: text, calls: [] });
    }
  });
}
