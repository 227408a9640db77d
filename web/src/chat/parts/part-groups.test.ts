import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessagePart } from '@homeport/contracts/chat/frames';
import { groupKey, groupParts } from './part-groups.ts';

const text: MessagePart = { type: 'text', text: 'words' };
const empty: MessagePart = { type: 'text', text: ' ' };
const thought: MessagePart = { type: 'reasoning', text: 'hm' };
const step: MessagePart = { type: 'step-start' };
const tool: MessagePart = { type: 'dynamic-tool', toolName: 'bash', toolCallId: 'c', state: 'output-available' };

test('groups three or more tool calls with the reasoning between them', () => {
  assert.deepEqual(groupParts([step, tool, step, tool, text]), [
    { kind: 'part', index: 1 },
    { kind: 'part', index: 3 },
    { kind: 'part', index: 4 },
  ]);
  assert.deepEqual(groupParts([thought, step, tool, empty, thought, tool, step, tool, text, tool]), [
    { kind: 'steps', indexes: [0, 2, 4, 5, 7] },
    { kind: 'part', index: 8 },
    { kind: 'part', index: 9 },
  ]);
});

test('makes no group of empty parts', () => assert.deepEqual(groupParts([step, empty]), []));

test('shows a tool that waits for approval on its own', () => {
  const waiting: MessagePart = { type: 'dynamic-tool', toolName: 'b', toolCallId: '2', state: 'approval-requested' };
  assert.deepEqual(groupParts([tool, tool, tool, waiting]), [
    { kind: 'steps', indexes: [0, 1, 2] },
    { kind: 'part', index: 3 },
  ]);
});

test('keeps the key of a waiting tool when earlier tools are folded', () => {
  const running = { ...tool, preliminary: true } as MessagePart;
  const waiting: MessagePart = { type: 'dynamic-tool', toolName: 'b', toolCallId: '2', state: 'approval-requested' };
  const keys = (parts: MessagePart[]) => groupParts(parts).map(groupKey);
  assert.deepEqual(keys([step, running, running, running, waiting]), ['1', '2', '3', '4']);
  assert.deepEqual(keys([step, tool, tool, tool, waiting]), ['steps 1', '4']);
});

test('shows running tools with output and published files on their own', () => {
  const running: MessagePart = { ...tool, preliminary: true } as MessagePart;
  const published: MessagePart = { ...tool, toolName: 'publish_artifact' } as MessagePart;
  assert.deepEqual(groupParts([tool, tool, tool, published, running]), [
    { kind: 'steps', indexes: [0, 1, 2] },
    { kind: 'part', index: 3 },
    { kind: 'part', index: 4 },
  ]);
});

test('shows a published image once', () => {
  const published = { ...tool, toolName: 'publish_artifact', output: { id: 'a', path: 'a.png' } } as MessagePart;
  const picture = (id: string): MessagePart => ({ type: 'file', mediaType: 'image/png', url: `artifact://${id}` });
  assert.deepEqual(groupParts([published, picture('a'), picture('b')]), [
    { kind: 'part', index: 0 },
    { kind: 'part', index: 2 },
  ]);
});
