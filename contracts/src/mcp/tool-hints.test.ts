import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { McpTool } from './mcp.ts';
import { newlyAsking, startsAsking, statesHints } from './tool-hints.ts';

const tool = (name: string, annotations?: unknown): McpTool => ({ name, inputSchema: {}, annotations });

test('a tool starts as "Ask first" unless it only reads or stays within its server', () => {
  for (const [annotations, expected] of [
    [undefined, true],
    [null, true],
    ['readOnlyHint', true],
    [{}, true],
    [{ destructiveHint: false }, true],
    [{ destructiveHint: false, idempotentHint: true }, true],
    [{ openWorldHint: true, destructiveHint: false }, true],
    [{ readOnlyHint: 'true' }, true],
    [{ openWorldHint: 'false' }, true],
    [{ readOnlyHint: false, openWorldHint: true }, true],
    [{ readOnlyHint: true }, false],
    [{ readOnlyHint: true, openWorldHint: true }, false],
    [{ openWorldHint: false }, false],
    [{ openWorldHint: false, destructiveHint: true }, true],
    [{ readOnlyHint: true, destructiveHint: true }, true],
  ] as const)
    assert.equal(startsAsking(tool('a', annotations)), expected, JSON.stringify(annotations));
});

test('reports whether a server states any hint about a tool', () => {
  for (const nothing of [undefined, {}, { title: 'T' }, { readOnlyHint: 'yes' }, []])
    assert.equal(statesHints(tool('a', nothing)), false);
  assert.equal(statesHints(tool('a', { idempotentHint: false })), true);
});

test('leaves tools alone that were trusted with the same effect', () => {
  const before = [tool('send', {}), tool('read', { readOnlyHint: true })];
  const now = [
    tool('send', { openWorldHint: true }),
    tool('read', {}),
    tool('new', {}),
    tool('look', { readOnlyHint: true }),
  ];
  assert.deepEqual(
    newlyAsking(now, before).map(({ name }) => name),
    ['read', 'new'],
  );
  assert.deepEqual(
    newlyAsking(now, []).map(({ name }) => name),
    ['send', 'read', 'new'],
  );
});
