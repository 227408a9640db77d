import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '@homeport/contracts/errors';
import OpenAI from 'openai';
import { seededRandom } from '../../../../contracts/test/seeded-random.ts';
import type { ResponsesBody } from '../../../src/chat/model/protocols/responses-request.ts';
import {
  type Answer,
  awkwardTexts,
  cuts,
  fetchOf,
  mixed,
  piecesOf,
  type Random,
  readOurs,
  type Style,
  styles,
  toBytes,
  type WireEvent,
} from './provider-oracle.ts';

type Item = Record<string, unknown> & { type: string };

const unknown: WireEvent[] = [
  { type: 'keepalive', sequence_number: 900 },
  { type: 'response.mood.delta', sequence_number: 901, delta: 'never' },
  {
    type: 'response.in_progress',
    sequence_number: 902,
    response: { ...envelope(), status: 'in_progress', output: [] },
  },
];

let ids = 0;
const message = (...texts: string[]): Item => ({
  type: 'message',
  id: `msg_${ids++}`,
  role: 'assistant',
  status: 'completed',
  content: texts.map((text) => ({ type: 'output_text', text, annotations: [] })),
});
const refusal = (value: string): Item => ({
  type: 'message',
  id: `msg_${ids++}`,
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'refusal', refusal: value }],
});
const reasoning = (summaries: string[], extra: object = {}): Item => ({
  type: 'reasoning',
  id: `rs_${ids++}`,
  summary: summaries.map((text) => ({ type: 'summary_text', text })),
  encrypted_content: `gAAAA${ids}==`,
  ...extra,
});
const open = (...texts: string[]): Item => ({
  type: 'reasoning',
  id: `rs_${ids++}`,
  summary: [],
  content: texts.map((text) => ({ type: 'reasoning_text', text })),
});
const call = (name: string, input: object): Item => {
  const id = ids++;
  const json = JSON.stringify(input);
  return { type: 'function_call', id: `fc_${id}`, call_id: `call_${id}`, name, arguments: json, status: 'completed' };
};
const search: Item = {
  type: 'web_search_call',
  id: 'ws_1',
  status: 'completed',
  action: { type: 'search', query: 'x' },
};

const outputs: Item[][] = [
  ...awkwardTexts.map((text) => [message(text)]),
  [],
  [message('One.', ' Two.')],
  [message('First.'), message(' Second.')],
  [refusal('I cannot help with that.')],
  [reasoning(['Let me see.']), message('Seen 🙂.')],
  [reasoning(['One.', 'Two „ü“.']), message('Seen.')],
  [reasoning([]), message('Seen.')],
  [open('Thinking aloud.', ' More.'), message('Seen.')],
  [reasoning(['Look.']), call('look', { at: 1, deep: { list: [1, 'ü"'] } })],
  [reasoning([]), call('look', {}), call('look', { n: 2 })],
  [reasoning(['So.']), message('I look.'), call('look', { n: 1 }), reasoning(['And.']), call('find', { n: 2 })],
  [call('look', { n: 1 })],
  [search, message('It rains.')],
];
const ends: [string, string | undefined, string][] = [
  ['completed', undefined, 'stop'],
  ['incomplete', 'max_output_tokens', 'length'],
  ['incomplete', 'content_filter', 'content-filter'],
];
const usages = [
  { input_tokens: 12, output_tokens: 40, total_tokens: 52 },
  {
    input_tokens: 5000,
    output_tokens: 40,
    total_tokens: 5040,
    input_tokens_details: { cached_tokens: 4096, cache_write_tokens: 800 },
    output_tokens_details: { reasoning_tokens: 25 },
  },
];

function envelope() {
  return { id: 'resp_1', object: 'response', created_at: 1_760_000_000, model: 'gpt', error: null, tools: [] };
}

function eventsOf(output: readonly Item[], status: string, reason: string | undefined, usage: object, random: Random) {
  const started = { ...envelope(), status: 'in_progress', output: [], usage: null, incomplete_details: null };
  const events: WireEvent[] = [
    { type: 'response.created', response: started },
    { type: 'response.in_progress', response: started },
  ];
  const wireEvents = output.map((item, at): WireEvent[] => [
    { type: 'response.output_item.added', output_index: at, item: beginning(item) },
    ...deltasOf(item, random).map((event) => ({ ...event, output_index: at, item_id: item.id })),
    { type: 'response.output_item.done', output_index: at, item },
  ]);
  // Trailing calls can be interleaved.
  const calls = random() < 0.5 ? output.length : output.findLastIndex(({ type }) => type !== 'function_call') + 1;
  events.push(...wireEvents.slice(0, calls).flat(), ...wireEvents.slice(calls).flatMap((item) => item.slice(0, 1)));
  events.push(
    ...mixed(
      wireEvents.slice(calls).map((item) => item.slice(1)),
      random,
    ),
  );
  const details = reason === undefined ? null : { reason };
  const response = { ...envelope(), status, output, usage, incomplete_details: details };
  events.push({ type: `response.${status}`, response });
  return events.map((event, at) => ({ ...event, sequence_number: at }));
}

function beginning(item: Item): Item {
  if (item.type === 'message') return { ...item, status: 'in_progress', content: [] };
  if (item.type === 'function_call') return { ...item, status: 'in_progress', arguments: '' };
  return item.type === 'reasoning' ? { ...item, summary: [], content: [] } : { ...item, status: 'in_progress' };
}

function deltasOf(item: Item, random: Random): WireEvent[] {
  const deltas = (type: string, whole: unknown, place: object): WireEvent[] =>
    piecesOf(String(whole), random).map((delta) => ({
      type,
      ...place,
      delta,
      obfuscation: 'aB3'.slice(0, delta.length),
    }));
  if (item.type === 'function_call') {
    return [
      ...deltas('response.function_call_arguments.delta', item.arguments, {}),
      { type: 'response.function_call_arguments.done', arguments: item.arguments, name: item.name },
    ];
  }
  const contents = records(item.content).flatMap((part, content_index): WireEvent[] => {
    const place = { content_index };
    const empty = part.type === 'refusal' ? { ...part, refusal: '' } : { ...part, text: '' };
    const [name, whole] = part.type === 'refusal' ? ['refusal', part.refusal] : [String(part.type), part.text];
    return [
      { type: 'response.content_part.added', ...place, part: empty },
      ...deltas(`response.${name}.delta`, whole, name === 'output_text' ? { ...place, logprobs: [] } : place),
      { type: `response.${name}.done`, ...place, [name === 'refusal' ? 'refusal' : 'text']: whole, logprobs: [] },
      { type: 'response.content_part.done', ...place, part },
    ];
  });
  const summaries = item.type === 'reasoning' ? records(item.summary) : [];
  return [
    ...summaries.flatMap((part, summary_index): WireEvent[] => [
      { type: 'response.reasoning_summary_part.added', summary_index, part: { ...part, text: '' } },
      ...deltas('response.reasoning_summary_text.delta', part.text, { summary_index }),
      { type: 'response.reasoning_summary_text.done', summary_index, text: part.text },
      { type: 'response.reasoning_summary_part.done', summary_index, part },
    ]),
    ...contents,
  ];
}

function records(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value : [];
}

async function readTheirs(bytes: Uint8Array): Promise<{ answer: Answer; output: Item[] }> {
  const client = new OpenAI({ apiKey: 'sk-test', fetch: fetchOf(bytes), maxRetries: 0 });
  const response = await client.responses.stream({ model: 'gpt', input: 'Hi' }).finalResponse();
  const answer: Answer = { text: '', reasoning: '', calls: [], finish: '', usage: undefined };
  const thoughts: string[] = [];
  let isRefused = false;
  for (const item of response.output) {
    if (item.type === 'message') {
      for (const part of item.content) answer.text += part.type === 'refusal' ? part.refusal : part.text;
      isRefused ||= item.content.some((part) => part.type === 'refusal');
    } else if (item.type === 'function_call') {
      answer.calls.push({ name: item.name, input: JSON.parse(item.arguments) });
    } else if (item.type === 'reasoning') {
      thoughts.push(...item.summary.map((part) => part.text), ...(item.content ?? []).map((part) => part.text));
    }
  }
  answer.reasoning = thoughts.join('\n\n');
  const reason = response.incomplete_details?.reason;
  const cut = reason === 'max_output_tokens' ? 'length' : reason === 'content_filter' ? 'content-filter' : undefined;
  answer.finish = isRefused ? 'content-filter' : (cut ?? (answer.calls.length > 0 ? 'tool-calls' : 'stop'));
  const { usage } = response;
  assert.ok(usage !== undefined);
  const input: { cached_tokens?: number; cache_write_tokens?: number } | undefined = usage.input_tokens_details;
  answer.usage = {
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
    ...(input === undefined
      ? {}
      : { reasoningTokens: usage.output_tokens_details.reasoning_tokens, cachedInputTokens: input.cached_tokens ?? 0 }),
    ...(input?.cache_write_tokens === undefined ? {} : { cacheWriteTokens: input.cache_write_tokens }),
  };
  return { answer, output: JSON.parse(JSON.stringify(response.output)) };
}

test('parses Responses streams as OpenAI’s own client does', async () => {
  let count = 0;
  for (const output of outputs) {
    for (const [status, reason, finish] of ends) {
      for (const style of styles) {
        const random = seededRandom(count++);
        const usage = usages[count % usages.length];
        assert.ok(usage !== undefined);
        const events = eventsOf(output, status, reason, usage, random);
        const bytes = toBytes(events, style, unknown);
        const name = `${JSON.stringify(output)} ${status} ${finish} ${JSON.stringify(style)}`;
        // Their client throws at unknown events.
        const theirs = await readTheirs(toBytes(events, { ...style, noise: false }));
        for (const cut of cuts(random)) {
          const { stepState, failure, ...ours } = await readOurs('openai-responses', bytes, cut);
          assert.equal(failure, undefined, name);
          assert.deepEqual(ours, theirs.answer, name);
          if (stepState !== undefined)
            assert.deepEqual(stepState.filter(isReasoning), theirs.output.filter(isReasoning).map(plain), name);
        }
      }
    }
  }
  assert.ok(count >= 120, String(count));
});

const isReasoning = (item: unknown): boolean =>
  typeof item === 'object' && item !== null && Reflect.get(item, 'type') === 'reasoning';

function plain({ id, summary, encrypted_content }: Item): object {
  return { type: 'reasoning', id, summary, encrypted_content };
}

test('reports errors in a stream, in both shapes and as a failed response', async () => {
  const random = seededRandom(1);
  const begun = eventsOf([message('Half of it')], 'completed', undefined, {}, random).slice(0, 6);
  const secret = 'secret words of the provider';
  const failed = {
    ...envelope(),
    status: 'failed',
    output: [],
    error: { code: 'rate_limit_exceeded', message: secret },
  };
  const cases: [WireEvent, object][] = [
    [
      { type: 'error', code: 'server_error', message: secret, param: null },
      { status: 503, reason: 'overloaded' },
    ],
    [
      { type: 'error', error: { type: 'insufficient_quota', code: 'insufficient_quota', message: secret } },
      { status: 402, reason: 'quota' },
    ],
    [
      { type: 'response.failed', response: failed },
      { status: 429, reason: 'rate_limit' },
    ],
  ];
  const [style] = styles;
  assert.ok(style !== undefined);
  for (const [event, details] of cases) {
    const ours = await readOurs('openai-responses', toBytes([...begun, event], style), 'everywhere');
    assert.ok(ours.failure instanceof ApiError);
    assert.deepEqual(ours.failure.details, { ...details, values: {}, providerMessage: secret });
    assert.ok(!ours.failure.message.includes('secret'));
    assert.ok(ours.text !== '' && 'Half of it'.startsWith(ours.text));
  }
});

test('reads servers that omit events or positions', async () => {
  const output = [message('It is seen.'), call('look', { n: 1 })];
  const events = eventsOf(output, 'completed', undefined, usages[0] ?? {}, seededRandom(2));
  const bare: Style = { named: false, lineEnd: '\n', noise: false };
  const variants = [
    events.filter((event) => event.type === 'response.completed'),
    events.filter((event) => !event.type.endsWith('.added')),
    events.filter((event) => event.type.endsWith('.delta') || event.type === 'response.completed'),
    events.map(({ output_index: _place, sequence_number: _number, ...event }: WireEvent) => event),
  ];
  for (const [at, variant] of variants.entries()) {
    const ours = await readOurs('openai-responses', toBytes(variant, bare), 'nowhere');
    assert.equal(ours.failure, undefined, String(at));
    assert.deepEqual([ours.text, ours.finish, ours.calls.length], ['It is seen.', 'tool-calls', 1], String(at));
    assert.deepEqual(ours.calls[0]?.input, { n: 1 }, String(at));
  }
});

/** Compiles only while Homeport's requests are requests of OpenAI’s API. */
export function isTheirRequest(body: ResponsesBody): OpenAI.Responses.ResponseCreateParamsStreaming {
  return body satisfies OpenAI.Responses.ResponseCreateParamsStreaming;
}
