import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProviderKind } from '@homeport/contracts/catalogue/provider-kinds';
import { ApiError } from '@homeport/contracts/errors';
import { protocols } from '../protocols/protocols.ts';
import { readCompletion } from './event-reader.ts';
import { completionBounds } from './provider-stream.ts';

/** Answers in the forms of servers that differ from their protocol, each read whole and in single bytes. */

type Read = { text?: string; reasoning?: string; calls?: string[]; input?: number; finish?: string };

async function read(kind: ProviderKind, wire: string, size: number): Promise<Read | string> {
  const heard = { text: '', reasoning: '' };
  const bytes = Buffer.from(wire);
  const sink = {
    text(delta: string) {
      heard.text += delta;
    },
    reasoning(delta: string) {
      heard.reasoning += delta;
    },
    toolStart: () => {},
    toolDelta: () => {},
  };
  async function* body() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  try {
    const parser = protocols[kind]().createParser(sink, () => 'made', completionBounds);
    const { toolCalls, usage, finishReason } = await readCompletion(body(), parser, new AbortController().signal);
    const answer: Read = { finish: finishReason };
    if (heard.text !== '') answer.text = heard.text;
    if (heard.reasoning !== '') answer.reasoning = heard.reasoning;
    if (toolCalls.length > 0) answer.calls = toolCalls.map((call) => `${call.name} ${call.arguments}`);
    if (usage !== undefined) answer.input = usage.inputTokens;
    return answer;
  } catch (error) {
    assert.ok(error instanceof ApiError, String(error));
    const { reason, providerMessage } = error.details as { reason?: string; providerMessage?: string };
    return `${reason}: ${providerMessage}`;
  }
}

const stream = (...events: unknown[]): string =>
  events.map((event) => (typeof event === 'string' ? `${event}\n\n` : `data: ${JSON.stringify(event)}\n\n`)).join('');
const chunk = (delta: unknown, finish: unknown = null, more = {}) => ({
  choices: [{ index: 0, delta, finish_reason: finish, ...more }],
});
const call = (entry: object) => chunk({ tool_calls: [entry] });
const look = { name: 'look', arguments: '{"a":1}' };
const ends = chunk({}, 'stop');
const done = 'data: [DONE]';
const hi: Read = { text: 'hi', finish: 'stop' };
const called: Read = { calls: ['look {"a":1}'], finish: 'tool-calls' };

const completions: Record<string, [wire: string, expected: Read | string]> = {
  'a text beside the delta': [stream({ choices: [{ index: 0, text: 'hi', finish_reason: null }] }, ends), hi],
  'content as texts and parts': [
    stream(chunk({ content: ['h'] }), chunk({ content: { type: 'text', text: 'i' } }), ends),
    hi,
  ],
  'the whole message at the end': [
    stream(chunk({ content: 'hi' }), { choices: [{ index: 0, message: { content: 'hi' }, finish_reason: 'stop' }] }),
    hi,
  ],
  'the first choice in the second place': [
    stream(
      {
        choices: [
          { index: 1, delta: { content: 'X' } },
          { index: 0, delta: { content: 'hi' } },
        ],
      },
      ends,
    ),
    hi,
  ],
  'a finish reason that is the word null': [
    stream(chunk({ content: 'hi' }, 'null'), done),
    { text: 'hi', finish: 'other' },
  ],
  'pings with a name or a word': [
    stream('event: heartbeat\ndata: keep-alive', 'data: ping', 'data: null', chunk({ content: 'hi' }), ends),
    hi,
  ],
  'empty errors with each event': [stream({ ...chunk({ content: 'hi' }), error: '' }, { ...ends, error: {} }), hi],
  'usage in the choice': [
    stream(chunk({ content: 'hi' }), chunk({}, 'stop', { usage: { prompt_tokens: 7, completion_tokens: 1 } })),
    { ...hi, input: 7 },
  ],
  'usage of Groq, as digits, then an empty one': [
    stream(
      chunk({ content: 'hi' }),
      { ...ends, x_groq: { usage: { prompt_tokens: '7' } } },
      { choices: [], usage: {} },
    ),
    { ...hi, input: 7 },
  ],
  'reasoning in an object': [
    stream(chunk({ reasoning: { content: 'hm' } }), chunk({ content: 'hi' }), ends),
    { ...hi, reasoning: 'hm' },
  ],
  'reasoning in other members': [
    stream(chunk({ reasoning_text: 'h' }), chunk({ thinking: 'm' }), chunk({ content: 'hi' }), ends),
    { ...hi, reasoning: 'hm' },
  ],
  'reasoning as a part of the content': [
    stream(
      chunk({
        content: [
          { type: 'reasoning', text: 'hm' },
          { type: 'text', text: 'hi' },
        ],
      }),
      ends,
    ),
    { ...hi, reasoning: 'hm' },
  ],
  'a call without a function': [stream(call({ id: 'a', ...look }), ends), called],
  'a call with parameters': [stream(call({ function: { name: 'look', parameters: { a: 1 } } }), ends), called],
  'a call that is no list': [stream(chunk({ tool_calls: { id: 'a', function: look } }), ends), called],
  'a call beside the delta': [stream(chunk({}, 'tool_calls', { tool_calls: [{ id: 'a', function: look }] })), called],
  'interleaved calls with indexes as texts': [
    stream(
      call({ index: '0', id: 1, function: { name: 'look', arguments: '{"a"' } }),
      call({ index: '1', id: 2, function: { name: 'see', arguments: '{"b"' } }),
      call({ index: '0', function: { arguments: ':1}' } }),
      call({ index: '1', function: { arguments: ':2}' } }),
      ends,
    ),
    { calls: ['look {"a":1}', 'see {"b":2}'], finish: 'tool-calls' },
  ],
  'an error as plain text': [stream('event: error\ndata: Rate limit exceeded'), 'rate_limit: Rate limit exceeded'],
  'an error in the place of an event': [stream('data: upstream connect error'), 'other: upstream connect error'],
  'an error without a name': [
    stream({ code: 'Throttling', message: 'Too many requests' }),
    'rate_limit: Too many requests',
  ],
  'an error with its kind beside it': [
    JSON.stringify({ error: 'No room', error_type: 'overloaded' }),
    'overloaded: No room',
  ],
  'an error in a status': [
    stream({ choices: null, base_resp: { status_code: 1008, status_msg: 'insufficient balance' } }),
    'credit: insufficient balance',
  ],
  'a refused key in a status': [
    JSON.stringify({ base_resp: { status_code: 1004, status_msg: 'login fail: carry the key in the header' } }),
    'key: login fail: carry the key in the header',
  ],
  'a whole error without a name': [JSON.stringify({ detail: 'Invalid API key' }), 'key: Invalid API key'],
  'a whole error with codes of its own': [
    JSON.stringify({ error_code: 18, error_msg: 'Rate limit reached' }),
    'rate_limit: Rate limit reached',
  ],
};

const part = (parts: unknown, finishReason?: string) => ({ candidates: [{ content: { parts }, finishReason }] });
const gemini: typeof completions = {
  'a call in the other spelling': [stream(part([{ function_call: { name: 'look', args: { a: 1 } } }], 'STOP')), called],
  'arguments as a text': [stream(part([{ functionCall: { name: 'look', args: '{"a":1}' } }], 'STOP')), called],
  'chunks in a member': [stream({ response: part([{ text: 'hi' }], 'STOP') }), hi],
  'a whole answer without a reason': [JSON.stringify(part([{ text: 'hi' }])), { text: 'hi', finish: 'other' }],
  'an error as a text': [stream({ error: 'Model is overloaded' }), 'overloaded: Model is overloaded'],
};

const stopped = {
  type: 'message_delta',
  delta: { stop_reason: 'end_turn' },
  usage: { input_tokens: 0, output_tokens: 1 },
};
const textDelta = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hi' } };
const anthropic: typeof completions = {
  'a block without its beginning': [stream(textDelta, stopped), { ...hi, input: 0 }],
  'counts that a later event repeats as 0': [
    stream({ type: 'message_start', message: { usage: { input_tokens: 7 } } }, textDelta, stopped),
    { ...hi, input: 7 },
  ],
  'types in the names of events only': [
    stream(
      'event: content_block_delta\ndata: {"index":0,"delta":{"type":"text_delta","text":"hi"}}',
      'event: ping\ndata: ping',
      stopped,
    ),
    { ...hi, input: 0 },
  ],
  'an error without a type': [
    stream('event: error\ndata: {"error":{"message":"Too many requests","code":429}}'),
    'rate_limit: Too many requests',
  ],
  'content that is a text': [JSON.stringify({ type: 'message', content: 'hi', stop_reason: 'end_turn' }), hi],
};

const completed = { type: 'response.completed', response: { status: 'completed', output: [] } };
const item = { type: 'function_call', id: 'f', call_id: 'c', name: 'look' };
const responses: typeof completions = {
  'text in the event that ends it': [
    stream({ type: 'response.output_text.done', output_index: 0, text: 'hi' }, completed),
    hi,
  ],
  'arguments in the event that ends them': [
    stream(
      { type: 'response.output_item.added', output_index: 0, item: { ...item, arguments: '' } },
      { type: 'response.function_call_arguments.done', output_index: 0, arguments: '{"a":1}' },
      completed,
    ),
    called,
  ],
  'arguments as an object': [
    stream({ type: 'response.output_item.done', output_index: 0, item: { ...item, arguments: { a: 1 } } }, completed),
    called,
  ],
  'the text of the whole alone': [
    JSON.stringify({ object: 'response', status: 'completed', output: [], output_text: 'hi' }),
    hi,
  ],
  'content that is a text': [
    stream({ ...completed, response: { status: 'completed', output: [{ type: 'message', content: 'hi' }] } }),
    hi,
  ],
  'an end without the whole': [
    stream({ type: 'response.output_text.delta', output_index: 0, delta: 'hi' }, done),
    { text: 'hi', finish: 'other' },
  ],
  'an untyped error': [stream({ error: 'Model is overloaded' }), 'overloaded: Model is overloaded'],
};

const tables: Record<ProviderKind, typeof completions> = {
  openai: completions,
  gemini,
  anthropic,
  'openai-responses': responses,
};
for (const kind of ['openai', 'gemini', 'anthropic', 'openai-responses'] as const) {
  for (const [habit, [wire, expected]] of Object.entries(tables[kind])) {
    test(`reads ${habit} (${kind})`, async () => {
      for (const size of [1, wire.length * 2]) assert.deepEqual(await read(kind, wire, size), expected);
    });
  }
}
