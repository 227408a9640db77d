import assert from 'node:assert/strict';
import { test } from 'node:test';
import { user } from '../../../test/played-conversation.ts';
import { endingOf } from './answer-ending.ts';

const answer = { ...user('a'), role: 'assistant' } as const;

test('offers to continue an answer that was cut at the output limit, and no other', () => {
  assert.deepEqual(endingOf({ ...answer, finishReason: 'length' }), {
    text: 'message.endLength',
    detail: undefined,
    canContinue: true,
  });
  for (const finishReason of ['content_filter', 'refusal', 'reasoning_only'] as const) {
    assert.equal(endingOf({ ...answer, finishReason })?.canContinue, false, finishReason);
  }
  for (const finishReason of [null, 'stop', 'tool_calls', 'error', 'other'] as const) {
    assert.equal(endingOf({ ...answer, finishReason }), undefined, String(finishReason));
  }
});

test('shows the maker’s explanation once, also when it is the text of the answer', () => {
  const refused = { ...answer, finishReason: 'refusal', finishDetail: 'Not this subject.' } as const;
  assert.equal(endingOf(refused)?.detail, 'Not this subject.');
  const parts = [{ type: 'text', text: 'Sorry. Not this subject.' } as const];
  assert.equal(endingOf({ ...refused, parts })?.detail, undefined);
});
