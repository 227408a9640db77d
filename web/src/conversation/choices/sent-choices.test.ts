import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DraftStore } from '../draft/drafts.ts';
import { effortOf, effortsName, withEffort } from './effort.ts';
import { decisionOf, decisionsName, withDecision } from './model-decision.ts';
import { settleChoices } from './sent-choices.ts';

function createDrafts() {
  const items = new Map<string, string>();
  return new DraftStore('user-1', {
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => void items.set(key, value),
    removeItem: (key) => void items.delete(key),
  });
}

test('moves the choices of the start page to the conversation that its message creates', () => {
  const drafts = createDrafts();
  drafts.write(decisionsName, withDecision('', 'new', { kind: 'pin', modelId: 'm' }));
  drafts.write(effortsName, withEffort('', 'new', 'high'));
  settleChoices(drafts, { chatId: 'chat-1', draftName: 'new', createBody: '{}' });
  for (const [key, decision, effort] of [
    ['new', { kind: 'keep' }, undefined],
    ['chat-1', { kind: 'pin', modelId: 'm' }, 'high'],
  ] as const) {
    assert.deepEqual(decisionOf(drafts.read(decisionsName), key), decision);
    assert.equal(effortOf(drafts.read(effortsName), key), effort);
  }
});

test('keeps a model for the conversation until the server has it, and uses up a model for one turn', () => {
  const drafts = createDrafts();
  const after = (draftName: string) => {
    settleChoices(drafts, { chatId: 'chat-1', draftName, createBody: null });
    return decisionOf(drafts.read(decisionsName), 'chat-1');
  };
  drafts.write(decisionsName, withDecision('', 'chat-1', { kind: 'pin', modelId: 'm' }));
  assert.deepEqual(after('chat-1'), { kind: 'pin', modelId: 'm' });
  drafts.write(decisionsName, withDecision('', 'chat-1', { kind: 'once', modelId: 'm' }));
  assert.deepEqual(after('edit:7'), { kind: 'keep' });
});
