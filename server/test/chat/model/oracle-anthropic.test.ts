import assert from 'node:assert/strict';
import { test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { ApiError } from '@homeport/contracts/errors';
import { seededRandom } from '../../../../contracts/test/seeded-random.ts';
import type { AnthropicBody } from '../../../src/chat/model/protocols/anthropic-request.ts';
import {
  type Answer,
  awkwardTexts,
  cuts,
  fetchOf,
  mixed,
  piecesOf,
  type Random,
  readOurs,
  styles,
  toBytes,
  type WireEvent,
} from './provider-oracle.ts';

type Block = Record<string, unknown> & { type: string };
type Delta = Record<string, unknown>;

const finishReasons: Record<string, string> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool-calls',
  refusal: 'content-filter',
  pause_turn: 'other',
};
const unknown: WireEvent[] = [
  { type: 'ping' },
  { type: 'content_block_glimpse', index: 0, delta: { type: 'text_delta', text: 'never' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'mood_delta', mood: 'calm', text: 'never' } },
  { type: 'usage_report', usage: { input_tokens: 999_999 } },
];

const text = (value: string): Block => ({ type: 'text', text: value });
const thinking = (value: string, signature: string): Block => ({ type: 'thinking', thinking: value, signature });
const redacted: Block = { type: 'redacted_thinking', data: 'ZW5jcnlwdGVk' };
const tool = (id: string, input: object): Block => ({ type: 'tool_use', id: `toolu_${id}`, name: `look_${id}`, input });
const search: Block[] = [
  { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'weather 🙂' } },
  { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [{ type: 'web_search_result', url: 'x' }] },
];
const cited = { ...text('It rains.'), citations: [{ type: 'char_location', cited_text: 'rain' }] };

/** Contents of an answer, each with its possible finish reasons. */
const contents: [Block[], string[]][] = [
  ...awkwardTexts.map((value): [Block[], string[]] => [[text(value)], ['end_turn', 'max_tokens', 'stop_sequence']]),
  [[], ['end_turn', 'refusal']],
  [
    [text('I cannot'), text(' say that.')],
    ['refusal', 'model_context_window_exceeded'],
  ],
  [
    [thinking('Let me see 🙂.', 'c2ln'), text('Seen.')],
    ['end_turn', 'max_tokens'],
  ],
  [[thinking('', 'b21pdHRlZA=='), text('Seen.')], ['end_turn']],
  [
    [redacted, text('Seen.')],
    ['end_turn', 'pause_turn'],
  ],
  [[tool('a', { at: 1, deep: { list: [1, 'ü"'] } })], ['tool_use']],
  [[tool('a', {})], ['tool_use']],
  [
    [text('Two things.'), tool('a', { n: 1 }), tool('b', { n: 2 })],
    ['tool_use', 'max_tokens'],
  ],
  [[thinking('First.', 'czE='), text('So.'), tool('a', { n: 1 })], ['tool_use']],
  [[thinking('First.', 'czE='), redacted, tool('a', {}), tool('b', { n: 2 })], ['tool_use']],
  [[thinking('One.', 'czE='), text('So.'), thinking('Two.', 'czI='), tool('a', { n: 1 })], ['tool_use']],
  [
    [...search, cited],
    ['end_turn', 'pause_turn'],
  ],
  [[...search, thinking('Hm.', 'czM='), tool('a', { n: 1 })], ['tool_use']],
  [[{ type: 'hologram', shape: 'cube' }, text('Look.')], ['end_turn']],
];
const usages: [object, object][] = [
  [{ input_tokens: 12, output_tokens: 1 }, { output_tokens: 40 }],
  [
    { input_tokens: 3, cache_creation_input_tokens: 1000, cache_read_input_tokens: 5000, output_tokens: 1 },
    { output_tokens: 40, output_tokens_details: { thinking_tokens: 25 } },
  ],
  [
    { input_tokens: 3, output_tokens: 1, cache_read_input_tokens: null },
    { input_tokens: 7, output_tokens: 40, cache_read_input_tokens: 2, cache_creation_input_tokens: 0 },
  ],
];

function eventsOf(blocks: readonly Block[], stopReason: string, usage: [object, object], random: Random): WireEvent[] {
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content: [], stop_reason: null };
  return [
    { type: 'message_start', message: { ...message, stop_sequence: null, usage: usage[0] } },
    ...blocksInOrder(blocks, random),
    { type: 'message_delta', delta: { stop_reason: stopReason, stop_sequence: null }, usage: usage[1] },
    { type: 'message_stop' },
  ];
}

/** One block after the other; but trailing calls can be interleaved. */
function blocksInOrder(blocks: readonly Block[], random: Random): WireEvent[] {
  const wireEvents = blocks.map((block, index): WireEvent[] => [
    { type: 'content_block_start', index, content_block: beginning(block) },
    ...deltasOf(block, random).map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]);
  const calls = blocks.findLastIndex(({ type }) => type !== 'tool_use') + 1;
  if (random() < 0.5) return wireEvents.flat();
  const starts = wireEvents.slice(calls).flatMap((events) => events.slice(0, 1));
  const rest = wireEvents.slice(calls).map((events) => events.slice(1));
  return [...wireEvents.slice(0, calls).flat(), ...starts, ...mixed(rest, random)];
}

function beginning(block: Block): Block {
  if (block.type === 'text') return { type: 'text', text: '' };
  if (block.type === 'thinking') return { type: 'thinking', thinking: '', signature: '' };
  return 'input' in block ? { ...block, input: {} } : block;
}

function deltasOf(block: Block, random: Random): Delta[] {
  const pieces = (whole: unknown) => piecesOf(String(whole), random);
  if (block.type === 'text') {
    const citations = Array.isArray(block.citations) ? block.citations : [];
    return [
      ...pieces(block.text).map((piece) => ({ type: 'text_delta', text: piece })),
      ...citations.map((citation) => ({ type: 'citations_delta', citation })),
    ];
  }
  if (block.type === 'thinking') {
    const wireEvents = pieces(block.thinking).map((piece) => ({ type: 'thinking_delta', thinking: piece }));
    return [...wireEvents, { type: 'signature_delta', signature: block.signature }];
  }
  if (!('input' in block)) return [];
  const json = Object.keys(Object(block.input)).length === 0 ? '' : JSON.stringify(block.input);
  return ['', ...pieces(json)].map((piece) => ({ type: 'input_json_delta', partial_json: piece }));
}

type Theirs = { answer: Answer; content: Block[] };

async function readTheirs(bytes: Uint8Array): Promise<Theirs> {
  const client = new Anthropic({ apiKey: 'sk-test', fetch: fetchOf(bytes), maxRetries: 0 });
  const ask = { model: 'claude', max_tokens: 100, messages: [{ role: 'user' as const, content: 'Hi' }] };
  const message = await client.messages.stream(ask).finalMessage();
  const answer: Answer = { text: '', reasoning: '', calls: [], finish: '', usage: undefined };
  for (const block of message.content) {
    if (block.type === 'text') answer.text += block.text;
    else if (block.type === 'thinking') answer.reasoning += block.thinking;
    else if (block.type === 'tool_use') answer.calls.push({ name: block.name, input: block.input });
  }
  answer.finish = finishReasons[message.stop_reason ?? ''] ?? 'none';
  if (answer.calls.length > 0 && answer.finish === 'stop') answer.finish = 'tool-calls';
  const { usage } = message;
  const cached = usage.cache_read_input_tokens ?? undefined;
  const written = usage.cache_creation_input_tokens ?? undefined;
  const reasoningTokens = usage.output_tokens_details?.thinking_tokens;
  answer.usage = {
    inputTokens: usage.input_tokens + (cached ?? 0) + (written ?? 0),
    outputTokens: usage.output_tokens,
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
    ...(cached === undefined ? {} : { cachedInputTokens: cached }),
    ...(written === undefined ? {} : { cacheWriteTokens: written }),
  };
  return { answer, content: JSON.parse(JSON.stringify(message.content)) };
}

test('parses Anthropic’s streams as its own client does', async () => {
  let count = 0;
  for (const [blocks, reasons] of contents) {
    for (const reason of reasons) {
      for (const style of [...styles, ...styles]) {
        const random = seededRandom(count++);
        const usage = usages[count % usages.length];
        assert.ok(usage !== undefined);
        const bytes = toBytes(eventsOf(blocks, reason, usage, random), style, unknown);
        const name = `${JSON.stringify(blocks)} ${reason} ${JSON.stringify(style)}`;
        const theirs = await readTheirs(bytes);
        for (const cut of cuts(random)) {
          const { stepState, failure, ...ours } = await readOurs('anthropic', bytes, cut);
          assert.equal(failure, undefined, name);
          assert.deepEqual(ours, theirs.answer, name);
          if (stepState === undefined) continue;
          const returned = theirs.content.filter((block) => block.type !== 'text' || block.text !== '');
          assert.deepEqual(stepState, returned.map(withoutCitations), name);
        }
      }
    }
  }
  assert.ok(count >= 120, String(count));
});

function withoutCitations({ citations: _citations, ...block }: Block): object {
  return block;
}

test('both clients report an error in a stream that began well, with the text before it', async () => {
  const kinds = ['overloaded_error', 'api_error', 'rate_limit_error', 'invalid_request_error', 'mystery_error'];
  for (const [at, type] of kinds.entries()) {
    const random = seededRandom(at);
    const events = eventsOf(
      [text('Half of it')],
      'end_turn',
      [{ input_tokens: 1, output_tokens: 1 }, { output_tokens: 2 }],
      random,
    );
    const error = { type: 'error', error: { type, message: 'secret words of the provider' } };
    const [style] = styles;
    assert.ok(style !== undefined);
    const bytes = toBytes([...events.slice(0, 4), error], style);
    await assert.rejects(readTheirs(bytes));
    const ours = await readOurs('anthropic', bytes, 'everywhere');
    assert.ok(ours.failure instanceof ApiError);
    assert.ok(!ours.failure.message.includes('secret') && ours.text !== '' && 'Half of it'.startsWith(ours.text));
    const providerMessage = 'secret words of the provider';
    const details = { status: 529, reason: 'overloaded', values: {}, providerMessage };
    if (type === 'overloaded_error') assert.deepEqual(ours.failure.details, details);
  }
});

/** Compiles only while Homeport's requests are requests of Anthropic’s API. */
export function isTheirRequest(body: AnthropicBody): Anthropic.MessageCreateParamsStreaming {
  return body satisfies Anthropic.MessageCreateParamsStreaming;
}
