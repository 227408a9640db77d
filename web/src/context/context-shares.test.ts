import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AnswerContext } from '@homeport/contracts/chat/context';
import { countStates, sharesOf } from './context-shares.ts';

type Measured = Parameters<typeof sharesOf>[0];
const context = (change: Partial<Measured> = {}): Measured => ({
  instructions: [
    { layer: 'installation', text: 'a', tokens: 20 },
    { layer: 'moment', text: 'b', tokens: 30 },
  ],
  tools: [{ name: 'read', tokens: 50 }],
  summary: null,
  tokens: { total: 200, window: 1000, answerRoom: 300, messages: 60, files: 40, counted: false },
  ...change,
});
const amounts = (change?: Partial<Measured>) =>
  Object.fromEntries(sharesOf(context(change)).map(({ kind, tokens }) => [kind, tokens]));

test('adds the parts up to the window, without omitted messages', () => {
  assert.deepEqual(amounts(), { instructions: 50, tools: 50, messages: 60, files: 40, answerRoom: 300, free: 500 });
});

test('scales estimates to the provider’s total', () => {
  const tokens = { total: 400, window: 1000, answerRoom: 300, messages: 60, files: 40, counted: true };
  const parts = { instructions: 100, tools: 100, messages: 120, files: 80 };
  assert.deepEqual(amounts({ tokens }), { ...parts, answerRoom: 300, free: 300 });
  const mixed = { ...tokens, messages: 100, files: null };
  assert.deepEqual([amounts({ tokens: mixed }).messages, amounts({ tokens: mixed }).files], [200, undefined]);
});

test('limits the reserved output to the free window, without negative shares', () => {
  const tokens = { total: 900, window: 1000, answerRoom: 300, messages: 60, files: 40, counted: true };
  assert.equal(amounts({ tokens }).answerRoom, 100);
  assert.equal(amounts({ tokens: { ...tokens, total: 1200 } }).answerRoom, undefined);
  const empty = { instructions: [], tools: [], tokens: { ...tokens, total: 10, messages: 0, files: 0 } };
  assert.deepEqual(amounts(empty), { answerRoom: 300, free: 690 });
});

test('counts sent, summarized and omitted messages', () => {
  const states: AnswerContext['messages'][number]['state'][] = ['summarized', 'summarized', 'sent'];
  const messages = states.map((state, index) => ({ id: String(index), state, tokens: 1 }));
  assert.deepEqual(countStates(messages), { sent: 1, summarized: 2, omitted: 0 });
});
