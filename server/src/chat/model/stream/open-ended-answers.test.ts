import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProviderKind } from '@homeport/contracts/catalogue/provider-kinds';
import { ManualClock } from '../../../../test/fakes/manual-clock.ts';
import { protocols } from '../protocols/protocols.ts';
import { readCompletion } from './event-reader.ts';
import { completionBounds } from './provider-stream.ts';

/** Servers that keep the connection open after the reason for the end. */

const chat = (delta: object, reason: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason: reason }],
});
const usage = { choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } };
const block = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Hi' } };
const candidate = { content: { role: 'model', parts: [{ text: 'Hi' }] } };

/** Sends these events and nothing after them. */
function open(kind: ProviderKind, events: readonly object[]) {
  const clock = new ManualClock();
  const state = { text: '', isClosed: false };
  const sent = Promise.withResolvers<void>();
  const body = {
    async *[Symbol.asyncIterator]() {
      for (const event of events) yield Buffer.from(`data: ${JSON.stringify(event)}\n\n`);
      sent.resolve();
      await new Promise(() => undefined);
    },
    destroy: () => {
      state.isClosed = true;
    },
  };
  const sink = {
    text: (delta: string) => (state.text += delta),
    reasoning: () => undefined,
    toolStart: () => undefined,
    toolDelta: () => undefined,
  };
  const parser = protocols[kind]().createParser(sink, () => 'id', completionBounds);
  const wait = (ms: number, signal: AbortSignal) => clock.sleep(ms, signal);
  const result = readCompletion(body, parser, new AbortController().signal, wait);
  return { clock, state, result, sent: sent.promise };
}

const cases: [kind: ProviderKind, events: object[]][] = [
  ['openai', [chat({ content: 'Hi' }), chat({}, 'stop')]],
  ['openai', [chat({ content: 'Hi' }), chat({}, 'stop'), usage]],
  ['anthropic', [block, { type: 'message_delta', delta: { stop_reason: 'end_turn' } }]],
  ['gemini', [{ candidates: [candidate] }, { candidates: [{ ...candidate, finishReason: 'STOP' }] }]],
];
for (const [kind, events] of cases) {
  test(`${kind}: an answer has ended three seconds after the reason for its end (${events.length} events)`, async () => {
    const { clock, state, result, sent } = open(kind, events);
    let isOver = false;
    const done = result.then((answer) => {
      isOver = true;
      return answer;
    });
    await sent;
    clock.advance(2_999);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(isOver, false);
    clock.advance(1);
    const answer = await done;
    assert.equal(answer.finishReason, 'stop');
    assert.equal(answer.usage?.outputTokens, events.includes(usage) ? 2 : undefined);
    assert.match(state.text, /^(?:Hi)+$/);
    assert.equal(state.isClosed, true, 'the connection is closed');
  });
}

test('does not end an answer that continues after a reason for its end', async () => {
  const { clock, result, sent } = open('openai', [chat({ content: 'Hi' }, 'stop'), chat({ content: ' there' })]);
  await sent;
  assert.equal(clock.waiting, 0);
  result.catch(() => undefined);
});
