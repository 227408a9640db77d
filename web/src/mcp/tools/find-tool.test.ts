import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { McpServer, McpTool } from '@homeport/contracts/mcp/mcp';
import { titleOfTool } from './find-tool.ts';

const serverOf = (tool: Partial<McpTool>, change: Partial<McpServer> = {}) =>
  ({
    name: 'Calendar',
    trustState: 'trusted',
    tools: [{ name: 'create_event', inputSchema: {}, ...tool }],
    ...change,
  }) as McpServer;
const titleOf = (...servers: McpServer[]) => titleOfTool(servers, 'mcp__Calendar__create_event');

test('shows the title of a tool, or that of its annotations', () => {
  assert.equal(titleOf(serverOf({ title: ' Create an event ' })), 'Create an event');
  assert.equal(titleOf(serverOf({ annotations: { title: 'Create an event' } })), 'Create an event');
  assert.equal(titleOf(serverOf({})), undefined);
});

test('shows no title that hides something, is long, or is not certain', () => {
  for (const title of ['Read\u202e only', 'a\nb', 'x'.repeat(81), '  ', 'a\u200bb'])
    assert.equal(titleOf(serverOf({ title })), undefined, JSON.stringify(title));
  const named = serverOf({ title: 'Create an event' });
  assert.equal(titleOf(named, named), undefined);
  assert.equal(titleOf(serverOf({ title: 'Create an event' }, { trustState: 'drifted' })), undefined);
});
