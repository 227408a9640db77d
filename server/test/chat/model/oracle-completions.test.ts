import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '@homeport/contracts/errors';
import OpenAI from 'openai';
import { seededRandom } from '../../../../contracts/test/seeded-random.ts';
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

type Chunk = Record<string, unknown>;
type Delta = Record<string, unknown>;
type ContentParts = {
  text?: string;
  refusal?: string;
  reasoning?: string;
  calls?: [id: string, name: string, input: object][];
};

const envelope = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_760_000_000, model: 'gpt' };
const unknown: WireEvent[] = [
  { type: 'chat.completion.mood', ...envelope, choices: [] },
  { type: 'keepalive', ...envelope, choices: [], obfuscation: 'never' },
  { type: 'x', ...envelope, choices: [{ index: 1, delta: { content: 'of another choice' }, finish_reason: null }] },
];

/** Contents of an answer, each with its possible finish reasons. */
const contents: [ContentParts, string[]][] = [
  ...awkwardTexts.map((text): [ContentParts, string[]] => [{ text }, ['stop', 'length']]),
  [{}, ['stop', 'content_filter']],
  [{ refusal: 'I cannot help with that „ü“.' }, ['stop', 'content_filter']],
  [{ text: 'Half of it', refusal: ' and no more' }, ['stop']],
  [{ reasoning: 'Let me see 🙂.', text: 'Seen.' }, ['stop', 'length']],
  [{ reasoning: 'Let me see.', calls: [['a', 'look', { at: 1, deep: { list: [1, 'ü"'] } }]] }, ['tool_calls']],
  [{ calls: [['a', 'look', {}]] }, ['tool_calls', 'stop']],
  [
    {
      text: 'Two things.',
      calls: [
        ['a', 'look', { n: 1 }],
        ['b', 'find', { n: 2 }],
      ],
    },
    ['tool_calls', 'length'],
  ],
  [
    {
      reasoning: 'Hm.',
      text: 'So.',
      calls: [
        ['a', 'look', {}],
        ['b', 'look', { n: '🙂' }],
        ['c', 'find', {}],
      ],
    },
    ['tool_calls'],
  ],
];
const usages = [
  undefined,
  { prompt_tokens: 12, completion_tokens: 40, total_tokens: 52 },
  {
    prompt_tokens: 5000,
    completion_tokens: 40,
    total_tokens: 5040,
    prompt_tokens_details: { cached_tokens: 4096, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 25, accepted_prediction_tokens: 0 },
  },
];

function chunksOf(contentParts: ContentParts, reason: string, usage: object | undefined, random: Random): Chunk[] {
  const chunk = (delta: Delta, finish_reason: string | null = null): Chunk => ({
    ...envelope,
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
    ...(usage === undefined ? {} : { usage: null }),
    obfuscation: 'aB3'.slice(0, 1 + Math.floor(random() * 3)),
  });
  const pieces = (member: string, whole = ''): Chunk[] =>
    piecesOf(whole, random).map((piece) => chunk({ [member]: piece }));
  return [
    chunk({ role: 'assistant', content: '', refusal: null }),
    ...pieces('reasoning_content', contentParts.reasoning),
    ...pieces('content', contentParts.text),
    ...pieces('refusal', contentParts.refusal),
    ...callDeltas(contentParts.calls ?? [], random).map((delta) => chunk({ tool_calls: [delta] })),
    chunk({}, reason),
    ...(usage === undefined ? [] : [{ ...envelope, choices: [], usage }]),
  ];
}

/** Calls begin one after the other; from then on the pieces of their arguments arrive in any order. */
function callDeltas(calls: NonNullable<ContentParts['calls']>, random: Random): object[] {
  const starts = calls.map(([id, name], index) => ({
    index,
    id: `call_${id}`,
    type: 'function',
    function: { name, arguments: '' },
  }));
  const pieces = calls.map(([, , input], index) =>
    piecesOf(JSON.stringify(input), random).map((piece) => ({ index, function: { arguments: piece } })),
  );
  return [...starts, ...mixed(pieces, random)];
}

async function readTheirs(bytes: Uint8Array): Promise<Answer> {
  const client = new OpenAI({ apiKey: 'sk-test', fetch: fetchOf(bytes), maxRetries: 0 });
  const stream = client.chat.completions.stream({ model: 'gpt', messages: [{ role: 'user', content: 'Hi' }] });
  let reasoning = '';
  stream.on('chunk', ({ choices }) => {
    const thought: unknown = Object(choices[0]?.delta).reasoning_content;
    if (typeof thought === 'string') reasoning += thought;
  });
  const { choices, usage } = await stream.finalChatCompletion();
  const [choice] = choices;
  assert.ok(choice !== undefined);
  const { content, refusal, tool_calls: calls = [] } = choice.message;
  const reasons: Record<string, string> = { length: 'length', content_filter: 'content-filter' };
  const cached = usage?.prompt_tokens_details?.cached_tokens;
  const thought = usage?.completion_tokens_details?.reasoning_tokens;
  return {
    text: `${content ?? ''}${refusal ?? ''}`,
    reasoning,
    calls: calls.flatMap((call) =>
      call.type === 'function' ? [{ name: call.function.name, input: JSON.parse(call.function.arguments) }] : [],
    ),
    finish: reasons[choice.finish_reason] ?? (calls.length > 0 ? 'tool-calls' : 'stop'),
    usage: usage && {
      inputTokens: usage.prompt_tokens,
      outputTokens: usage.completion_tokens,
      ...(thought === undefined ? {} : { reasoningTokens: thought }),
      ...(cached === undefined ? {} : { cachedInputTokens: cached }),
    },
  };
}

test('parses chat completions as OpenAI’s own client does', async () => {
  let count = 0;
  for (const [contentParts, reasons] of contents) {
    for (const reason of reasons) {
      for (const usage of usages) {
        for (const style of styles) {
          const random = seededRandom(count++);
          const chunks = [...chunksOf(contentParts, reason, usage, random), '[DONE]'];
          const name = `${JSON.stringify(contentParts)} ${reason} ${JSON.stringify(style)}`;
          // Their client accepts a choice of any number as its own.
          const theirs = await readTheirs(toBytes(chunks, { ...style, noise: false }));
          for (const cut of cuts(random)) {
            const { stepState, failure, ...ours } = await readOurs('openai', toBytes(chunks, style, unknown), cut);
            assert.equal(failure, undefined, name);
            if (stepState !== undefined)
              assert.deepEqual(Object.keys(Object(stepState[0])), ['members', 'calls'], name);
            assert.deepEqual(ours, theirs, name);
          }
        }
      }
    }
  }
  assert.ok(count >= 120, String(count));
});

test('both clients report an error in a stream that began well, with the text before it', async () => {
  const [style] = styles;
  assert.ok(style !== undefined);
  const begun = chunksOf({ text: 'Half of it' }, 'stop', undefined, seededRandom(1)).slice(0, 3);
  const errors: [error: object, status: number, reason: string][] = [
    [{ message: 'secret words', type: 'server_error', code: 503 }, 503, 'overloaded'],
    [{ message: 'secret words', type: 'insufficient_quota', code: 'insufficient_quota' }, 402, 'quota'],
    [{ message: 'secret words', type: 'rate_limit_error', code: null }, 429, 'rate_limit'],
    [{ message: 'secret words', type: 'mystery' }, 200, 'other'],
  ];
  for (const [error, status, reason] of errors) {
    const bytes = toBytes([...begun, { error }], style);
    await assert.rejects(readTheirs(bytes));
    const ours = await readOurs('openai', bytes, 'everywhere');
    assert.ok(ours.failure instanceof ApiError && !ours.failure.message.includes('secret'));
    assert.deepEqual(ours.failure.details, { status, reason, values: {}, providerMessage: 'secret words' });
    assert.ok(ours.text !== '' && 'Half of it'.startsWith(ours.text));
  }
});
