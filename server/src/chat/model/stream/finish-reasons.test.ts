import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProviderKind } from '@homeport/contracts/catalogue/provider-kinds';
import { finishDetailMax } from '@homeport/contracts/chat/finish-reasons';
import { ApiError } from '@homeport/contracts/errors';
import { endOf } from '../../turn/answer-end.ts';
import { protocols } from '../protocols/protocols.ts';
import { readCompletion } from './event-reader.ts';
import { completionBounds } from './provider-stream.ts';

/** Reads an answer of these events, with what a message keeps of its end. */
async function endOfEvents(kind: ProviderKind, events: readonly object[]) {
  const written = { text: '', reasoning: '' };
  const sink = {
    text: (delta: string) => (written.text += delta),
    reasoning: (delta: string) => (written.reasoning += delta),
    toolStart: () => undefined,
    toolDelta: () => undefined,
  };
  const body = {
    async *[Symbol.asyncIterator]() {
      for (const event of events) yield Buffer.from(`data: ${JSON.stringify(event)}\n\n`);
    },
  };
  const parser = protocols[kind]().createParser(sink, () => 'id', completionBounds);
  const result = await readCompletion(body, parser, new AbortController().signal);
  return { ...endOf(result, written), isMalformed: result.isMalformed };
}

const chat = (delta: object, reason: string | null = null, more: object = {}) => ({
  choices: [{ index: 0, delta, finish_reason: reason, ...more }],
});
const gemini = (reason: string, more: object = {}, parts: object[] = [{ text: 'Hi' }]) => ({
  candidates: [{ content: { role: 'model', parts }, finishReason: reason, ...more }],
});
const anthropic = (reason: string, details?: object) => [
  { type: 'message_start', message: { usage: { input_tokens: 1 } } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Hi' } },
  { type: 'message_delta', delta: { stop_reason: reason, stop_details: details } },
  { type: 'message_stop' },
];
const thought = { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: 'Hm' } };
const item = (content: object) => ({ type: 'message', content: [content] });
const responses = (status: string, content: object, reason?: string) => [
  {
    type: `response.${status}`,
    response: { status, output: [item(content)], incomplete_details: reason === undefined ? null : { reason } },
  },
];
const text = { type: 'output_text', text: 'Hi' };

type Case = [name: string, kind: ProviderKind, events: object[], reason: string, detail?: string];
const cases: Case[] = [
  ['a plain end', 'openai', [chat({ content: 'Hi' }), chat({}, 'stop')], 'stop'],
  ['the output limit', 'openai', [chat({ content: 'Hi' }), chat({}, 'length')], 'length'],
  ['the output limit in another word', 'openai', [chat({ content: 'Hi' }, 'MAX_TOKENS')], 'length'],
  ['a filter', 'openai', [chat({ content: 'Hi' }), chat({}, 'content_filter')], 'content_filter'],
  [
    'a filter with its categories',
    'openai',
    [
      chat({}, 'content_filter', {
        content_filter_results: { hate: { filtered: true }, violence: { filtered: false } },
      }),
    ],
    'content_filter',
    'hate',
  ],
  [
    'a refusal in its own member',
    'openai',
    [chat({ refusal: 'I can’t ' }), chat({ refusal: 'do that.' }), chat({}, 'stop')],
    'refusal',
    'I can’t do that.',
  ],
  ['a refusal that a gateway maps', 'openai', [chat({}, 'stop', { native_finish_reason: 'refusal' })], 'refusal'],
  [
    'only thoughts',
    'openai',
    [chat({ reasoning_content: 'Hm' }), chat({ content: '\n' }), chat({}, 'stop')],
    'reasoning_only',
  ],
  [
    'only thoughts, then the limit',
    'openai',
    [chat({ reasoning_content: 'Hm' }), chat({}, 'length')],
    'reasoning_only',
  ],
  ['an unknown word', 'openai', [chat({ content: 'Hi' }, 'whatever')], 'other'],
  ['a plain end', 'anthropic', anthropic('end_turn'), 'stop'],
  ['the output limit', 'anthropic', anthropic('max_tokens'), 'length'],
  ['the window', 'anthropic', anthropic('model_context_window_exceeded'), 'length'],
  [
    'a refusal with its explanation',
    'anthropic',
    anthropic('refusal', { type: 'refusal', category: 'cyber', explanation: 'Not this\u0007 subject.' }),
    'refusal',
    'Not this  subject.',
  ],
  [
    'only thoughts',
    'anthropic',
    [thought, { type: 'message_delta', delta: { stop_reason: 'end_turn' } }, { type: 'message_stop' }],
    'reasoning_only',
  ],
  ['a plain end', 'gemini', [gemini('STOP')], 'stop'],
  ['the output limit', 'gemini', [gemini('MAX_TOKENS')], 'length'],
  [
    'a filter with its words',
    'gemini',
    [gemini('SAFETY', { finishMessage: 'Blocked for safety.' })],
    'content_filter',
    'Blocked for safety.',
  ],
  ['a filter without words', 'gemini', [gemini('RECITATION')], 'content_filter', 'RECITATION'],
  [
    'a blocked request',
    'gemini',
    [{ promptFeedback: { blockReason: 'OTHER', blockReasonMessage: 'Blocked.' } }],
    'content_filter',
    'Blocked.',
  ],
  ['only thoughts', 'gemini', [gemini('STOP', {}, [{ text: 'Hm', thought: true }])], 'reasoning_only'],
  ['a plain end', 'openai-responses', responses('completed', text), 'stop'],
  ['the output limit', 'openai-responses', responses('incomplete', text, 'max_output_tokens'), 'length'],
  ['a filter', 'openai-responses', responses('incomplete', text, 'content_filter'), 'content_filter'],
  ['a refusal', 'openai-responses', responses('completed', { type: 'refusal', refusal: 'No.' }), 'refusal', 'No.'],
];
for (const [name, kind, events, reason, detail = null] of cases) {
  test(`${kind}: names ${name} ${reason}`, async () => {
    const { isMalformed: _, ...end } = await endOfEvents(kind, events);
    assert.deepEqual(end, { reason, detail });
  });
}

for (const reason of ['network_error', 'abort', 'insufficient_system_resource']) {
  test(`reports an answer that ends with ${reason} as broken off`, async () => {
    const read = endOfEvents('openai', [chat({ content: 'Hi' }), chat({}, reason)]);
    await assert.rejects(read, (error) => error instanceof ApiError && error.code === 'provider_unreachable');
  });
}

test('recognizes a call that the server could not read in the words of each server', async () => {
  const native = chat({}, 'stop', { native_finish_reason: 'MALFORMED_FUNCTION_CALL' });
  const malformed: [ProviderKind, object][] = [
    ['gemini', gemini('MALFORMED_FUNCTION_CALL', { finishMessage: 'Malformed function call: x' }, [])],
    ['gemini', gemini('UNEXPECTED_TOOL_CALL', {}, [])],
    ['openai', chat({}, 'function_call_filter: MALFORMED_FUNCTION_CALL')],
    ['openai', chat({}, 'malformed_function_call')],
    ['openai', native],
  ];
  for (const [kind, event] of malformed) {
    assert.equal((await endOfEvents(kind, [event])).isMalformed, true, JSON.stringify(event));
  }
});

test('keeps at most 2,000 characters of an explanation', async () => {
  const { detail } = await endOfEvents('gemini', [gemini('SAFETY', { finishMessage: 'x'.repeat(9_000) })]);
  assert.equal(detail?.length, finishDetailMax);
});
