import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decisionOf, isApplied, withDecision } from './model-decision.ts';

test('keeps a choice of a model for each conversation', () => {
  const stored = withDecision(withDecision('', 'a', { kind: 'pin', modelId: 'm' }), 'b', { kind: 'default' });
  assert.deepEqual(decisionOf(stored, 'a'), { kind: 'pin', modelId: 'm' });
  assert.deepEqual(decisionOf(stored, 'b'), { kind: 'default' });
  assert.deepEqual(decisionOf(stored, 'c'), { kind: 'keep' });
  assert.deepEqual(decisionOf(withDecision(stored, 'a', { kind: 'keep' }), 'a'), { kind: 'keep' });
});

test('ignores damaged choices', () => {
  for (const damaged of ['{', 'null', '{"a":1}', '[["a",{"kind":"pin"}]]', '[["a",{"kind":"loud","modelId":"m"}],7]'])
    assert.deepEqual(decisionOf(damaged, 'a'), { kind: 'keep' });
});

test('a choice is applied once the conversation does the same by itself', () => {
  const pinned = { modelPinned: true, modelId: 'm' };
  const free = { modelPinned: false, modelId: null };
  assert.equal(isApplied({ kind: 'pin', modelId: 'm' }, pinned), true);
  assert.equal(isApplied({ kind: 'pin', modelId: 'n' }, pinned), false);
  assert.equal(isApplied({ kind: 'pin', modelId: 'm' }, free), false);
  assert.equal(isApplied({ kind: 'default' }, free), true);
  assert.equal(isApplied({ kind: 'default' }, pinned), false);
  assert.equal(isApplied({ kind: 'once', modelId: 'm' }, pinned), false);
});
