import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '@homeport/contracts/chat/conversations';
import type { DynamicToolPart } from '@homeport/contracts/chat/frames';
import { newestPlan } from './plan-of.ts';

const call = (content: string, state: DynamicToolPart['state']): DynamicToolPart => ({
  type: 'dynamic-tool',
  toolName: 'plan',
  toolCallId: content,
  state,
  input: { items: [{ content, status: 'pending' }, { content: 'no status' }] },
});
const said = (...parts: Message['parts']): Message => ({
  id: 'm',
  chatId: 'c',
  parentId: null,
  siblingIds: [],
  role: 'assistant',
  status: 'complete',
  finishReason: null,
  finishDetail: null,
  createdAt: '',
  parts,
});

test('shows the newest plan, or the server’s if there is none', () => {
  const told = { items: [{ content: 'told', status: 'pending' as const }] };
  assert.equal(newestPlan([said()], null), undefined);
  assert.deepEqual(newestPlan([said({ type: 'text', text: 'no plan' })], told), told.items);
  const messages = [said(call('first', 'output-available')), said(call('refused', 'output-error'))];
  assert.deepEqual(newestPlan(messages, told), [{ content: 'first', status: 'pending' }]);
});
