import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseEnvLines, parseMcpConfig } from './mcp-config.ts';

const program = { command: 'npx', args: ['-y', '@modelcontextprotocol/server-everything'], env: { KEY: 'a=b' } };

test('parses the usual configurations: a program, a URL, a single entry', () => {
  const pasted = parseMcpConfig(JSON.stringify({ mcpServers: { everything: program } }));
  assert.deepEqual(pasted, {
    name: 'everything',
    transport: 'stdio',
    url: '',
    headers: [],
    command: 'npx',
    args: program.args,
    env: [['KEY', 'a=b']],
  });
  assert.equal(parseMcpConfig(JSON.stringify({ everything: program }))?.name, 'everything');
  assert.equal(parseMcpConfig(JSON.stringify(program))?.command, 'npx');
  const remote = { type: 'sse', url: 'https://a.example/sse', headers: { 'x-key': 'k', odd: 1 } };
  const found = parseMcpConfig(JSON.stringify({ mcpServers: { remote } }));
  assert.deepEqual([found?.transport, found?.url, found?.headers], ['sse', remote.url, [['x-key', 'k']]]);
});

test('rejects other JSON', () => {
  for (const text of [
    '',
    'npx -y x',
    '[]',
    'null',
    '{}',
    '{"mcpServers": {}}',
    '{"mcpServers": {"a": 1}}',
    '{"a": {}}',
  ])
    assert.equal(parseMcpConfig(text), undefined, text);
});

test('parses environment variables, one per line', () => {
  assert.deepEqual(parseEnvLines('A=1\n\n B=x=y \n'), { env: { A: '1', B: 'x=y ' }, fault: undefined });
  assert.equal(parseEnvLines('A=1\nno value').fault, 2);
});
