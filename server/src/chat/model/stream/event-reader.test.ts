import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProviderKind } from '@homeport/contracts/catalogue/provider-kinds';
import fc from 'fast-check';
import type { CompletionResult } from '../protocol.ts';
import { protocols } from '../protocols/protocols.ts';
import { readCompletion } from './event-reader.ts';
import { completionBounds } from './provider-stream.ts';

type Read = { result: CompletionResult | undefined; error: unknown; heard: string[] };

async function read(chunks: Uint8Array[], kind: ProviderKind = 'openai'): Promise<Read> {
  const heard: string[] = [];
  const add = (kind: string, delta: string): void => {
    const last = heard.at(-1);
    if (last?.startsWith(`${kind}:`)) heard[heard.length - 1] = last + delta;
    else heard.push(`${kind}:${delta}`);
  };
  const sink = {
    text: (delta: string) => add('text', delta),
    reasoning: (delta: string) => add('reasoning', delta),
    toolStart: (call: { id: string; name: string }) => void heard.push(`tool ${call.id} ${call.name}`),
    toolDelta: (id: string, delta: string) => add(`arguments ${id}`, delta),
  };
  let ids = 0;
  const body = {
    async *[Symbol.asyncIterator]() {
      yield* chunks;
    },
  };
  try {
    const signal = new AbortController().signal;
    const parser = protocols[kind]().createParser(sink, () => `made${ids++}`, completionBounds);
    const result = await readCompletion(body, parser, signal);
    return { result, error: undefined, heard };
  } catch (error) {
    return { result: undefined, error, heard };
  }
}

const event = (value: unknown, end = '\n\n'): string =>
  `data: ${typeof value === 'string' ? value : JSON.stringify(value)}${end}`;
const delta = (value: unknown, finish: string | null = null): unknown => ({
  id: 'x',
  choices: [{ index: 0, delta: value, finish_reason: finish }],
});
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function cut(data: Uint8Array, at: number[]): Uint8Array[] {
  const places = [...new Set(at.map((place) => place % (data.length + 1)))].sort((a, b) => a - b);
  return [0, ...places].map((from, index) => data.subarray(from, places[index] ?? data.length));
}

const wildText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('<think>', '</think>', '<th', 'ink>', '"', '\\', '\n', '🙂', '","content":"', 'plain'),
);
const wildDelta = fc.oneof(
  { weight: 6, arbitrary: wildText.map((content) => ({ content })) },
  { weight: 1, arbitrary: wildText.map((reasoning) => ({ reasoning_content: reasoning })) },
  { weight: 1, arbitrary: wildText.map((content) => ({ role: 'assistant', content, tool_calls: null })) },
);

test('reads the same answer for every split of the stream, with LF, CR or CRLF line ends', async () => {
  const property = fc.asyncProperty(
    fc.array(wildDelta, { maxLength: 12 }),
    fc.array(fc.nat(), { maxLength: 12 }),
    fc.constantFrom('\n\n', '\r\n\r\n', '\r\r', '\n: keep-alive\n\n'),
    async (deltas, places, end) => {
      const wire = bytes(
        deltas.map((item) => event(delta(item), end)).join('') + event(delta({}, 'stop'), end) + event('[DONE]', end),
      );
      const whole = await read([wire]);
      const pieces = await read(cut(wire, places));
      assert.deepEqual(pieces, whole);
      assert.equal(whole.result?.finishReason, 'stop');
      const said = deltas.map((item) => ('content' in item ? item.content : item.reasoning_content)).join('');
      if (!said.includes('think') && !said.includes('<') && !said.includes('ink>')) {
        const heardText = whole.heard.map((item) => item.slice(item.indexOf(':') + 1)).join('');
        assert.equal(heardText, said.replaceAll('\0', ''));
      }
    },
  );
  await fc.assert(property, { numRuns: 500 });
});

test('reads events of a known shape to the same result as JSON.parse', async () => {
  const property = fc.asyncProperty(fc.array(wildText, { minLength: 1 }), async (contents) => {
    const regular = contents.map((content) => event(delta({ content }))).join('');
    // A member that changes with every event keeps the shape from being recognized.
    const irregular = contents.map((content, index) => event({ n: index, choices: [{ delta: { content } }] })).join('');
    const end = event('[DONE]');
    assert.deepEqual((await read([bytes(regular + end)])).heard, (await read([bytes(irregular + end)])).heard);
  });
  await fc.assert(property, { numRuns: 500 });
});

test('reads events of one shape the same for every split, with escapes and other events between', async () => {
  const contents = ['Hello', ' wor', 'ld', ' "q"', ' \\', ' é🙂', '\n', ' last'];
  const events = contents.flatMap((content, index) => [
    event(delta({ content })),
    ...(index === 3 ? [': comment\n\n', event(delta({ content: ' crlf' }), '\r\n\r\n')] : []),
  ]);
  const whole = bytes(`${events.join('')}${event(delta({}, 'stop'))}data: [DONE]\n\n`);
  const expected = await read([whole]);
  assert.equal(expected.heard.join(''), 'text:Hello world "q" crlf \\ é🙂\n last');
  for (let at = 1; at < whole.length; at += 1) {
    assert.deepEqual((await read([whole.subarray(0, at), whole.subarray(at)])).heard, expected.heard, `cut at ${at}`);
  }
  const raw = event(delta({ content: 'x' })).replace('"x"', '"a\u0000b"');
  const refused = await read([bytes(event(delta({ content: 'ok' })) + raw)]);
  assert.ok(refused.error !== undefined || !refused.heard.join('').includes('\u0000'));
});

test('parses an event in full if it only resembles the known shape', async () => {
  const wires = [
    ['{"choices":[{"delta":{"content":"a"}}]}', '{"choices":[{"delta":{"content":"b","reasoning_content":"c"}}]}'],
    [
      '{"meta":{"content":"a"},"choices":[{"delta":{"content":"a"}}]}',
      '{"meta":{"content":"x"},"choices":[{"delta":{"content":"a"}}]}',
    ],
  ];
  const heard = await Promise.all(
    wires.map((events) => read([bytes(events.map((item) => event(item)).join('') + event('[DONE]'))])),
  );
  assert.deepEqual(heard[0]?.heard, ['text:a', 'reasoning:c', 'text:b']);
  assert.deepEqual(heard[1]?.heard, ['text:aa']);
});

test('replaces invalid UTF-8, joins surrogate pairs across deltas, and drops NUL and lone surrogates', async () => {
  const broken = [
    bytes('data: {"choices":[{"delta":{"content":"a'),
    Uint8Array.of(0xff, 0xe2, 0x82),
    bytes('b"}}]}\n\n'),
  ];
  const { heard } = await read([...broken, bytes(event('[DONE]'))]);
  assert.deepEqual(heard, ['text:a\uFFFD\uFFFDb']);
  const halves =
    event(delta({ content: '\ud83d' })) + event(delta({ content: '\ude42 \0ok \udead!' })) + event('[DONE]');
  assert.deepEqual((await read([bytes(halves)])).heard, ['text:🙂 ok \uFFFD!']);
});

test('recognizes think tags only at the start of the message', async () => {
  const cases: [string[], string[]][] = [
    [
      ['<thi', 'nk>a', '</thi', 'nk>\n\n', 'b'],
      ['reasoning:a', 'text:b'],
    ],
    [
      ['\n <think>', '\n', 'a <b> </thin', 'g> </think>b <think>c</think>'],
      ['reasoning:a <b> </thing> ', 'text:b <think>c</think>'],
    ],
    [['<think>never closed</'], ['reasoning:never closed</']],
    [['<thin', 'ner>'], ['text:<thinner>']],
    [['<thi'], ['text:<thi']],
    [['  \n'], ['text:  \n']],
    [['<think></think>x'], ['text:x']],
  ];
  for (const [contents, expected] of cases) {
    const wire = contents.map((content) => event(delta({ content }))).join('') + event('[DONE]');
    assert.deepEqual((await read([bytes(wire)])).heard, expected, contents.join('|'));
  }
});

const call = (value: Record<string, unknown>) => delta({ tool_calls: [value] });
const toolCases: [string, unknown[], [string, string][]][] = [
  [
    'indexes all 0, ids differ',
    [
      call({ index: 0, id: 'a', function: { name: 'one', arguments: '{}' } }),
      call({ index: 0, id: 'b', function: { name: 'two', arguments: '{"x":1}' } }),
    ],
    [
      ['a', '{}'],
      ['b', '{"x":1}'],
    ],
  ],
  [
    'no index, arguments in pieces',
    [
      call({ id: 'a', function: { name: 'one', arguments: '' } }),
      call({ function: { arguments: '{"x"' } }),
      call({ function: { arguments: ':1}' } }),
      call({ id: 'b', function: { name: 'two' } }),
    ],
    [
      ['a', '{"x":1}'],
      ['b', '{}'],
    ],
  ],
  [
    'no ids, whole calls one by one',
    [call({ function: { name: 'one', arguments: '{}' } }), call({ function: { name: 'one', arguments: '{"x":1}' } })],
    [
      ['made0', '{}'],
      ['made1', '{"x":1}'],
    ],
  ],
  [
    'no ids or indexes, all in one delta, arguments as an object',
    [delta({ tool_calls: [{ function: { name: 'one', arguments: { x: 1 } } }, { function: { name: 'one' } }] })],
    [
      ['made0', '{"x":1}'],
      ['made1', '{}'],
    ],
  ],
  [
    'interleaved by index',
    [
      call({ index: 0, id: 'a', function: { name: 'one', arguments: '' } }),
      call({ index: 1, id: 'b', function: { name: 'two', arguments: '' } }),
      call({ index: 0, function: { arguments: '{"a":1}' } }),
      call({ index: 1, function: { arguments: '{"b":2}' } }),
    ],
    [
      ['a', '{"a":1}'],
      ['b', '{"b":2}'],
    ],
  ],
  [
    'id and name repeated with every piece',
    [
      call({ index: 0, id: 'a', function: { name: 'one', arguments: '{"x"' } }),
      call({ index: 0, id: 'a', function: { name: 'one', arguments: ':1}' } }),
      call({ index: 0, id: 'a', function: { name: 'one', arguments: '' } }),
    ],
    [['a', '{"x":1}']],
  ],
  [
    'a new id with every piece',
    [
      call({ index: 0, id: 'a', function: { name: 'one', arguments: '{"x"' } }),
      call({ index: 0, id: 'b', function: { arguments: ':1}' } }),
    ],
    [['a', '{"x":1}']],
  ],
  [
    'the same id for two calls',
    [
      call({ index: 0, id: 'a', function: { name: 'one', arguments: '{}' } }),
      call({ index: 1, id: 'a', function: { name: 'two', arguments: '{"x"' } }),
      call({ index: 1, id: 'a', function: { arguments: ':1}' } }),
    ],
    [
      ['a', '{}'],
      ['made0', '{"x":1}'],
    ],
  ],
  [
    'a whole call sent twice',
    [
      call({ index: 0, id: 'a', function: { name: 'one', arguments: '{"x":1}' } }),
      call({ index: 0, id: 'a', function: { name: 'one', arguments: '{"x":1}' } }),
    ],
    [['a', '{"x":1}']],
  ],
  [
    'legacy function_call',
    [delta({ function_call: { name: 'one', arguments: '' } }), delta({ function_call: { arguments: '{"x":1}' } })],
    [['made0', '{"x":1}']],
  ],
  ['never a name', [call({ index: 0, id: 'a', function: { arguments: '{}' } })], [['a', '{}']]],
];
for (const [name, chunks, expected] of toolCases) {
  test(`tool calls: ${name}`, async () => {
    for (const reason of ['tool_calls', 'stop']) {
      const wire = [...chunks, delta({}, reason), '[DONE]'].map((item) => event(item)).join('');
      const { result, heard } = await read([bytes(wire)]);
      assert.equal(result?.finishReason, 'tool-calls');
      assert.deepEqual(
        result.toolCalls.map((item) => [item.id, item.arguments]),
        expected,
      );
      const starts = heard.filter((item) => item.startsWith('tool ')).map((item) => item.split(' ')[1]);
      assert.deepEqual(
        starts,
        expected.map(([id]) => id),
      );
      for (const [id, args] of expected) {
        const streamed = heard
          .filter((item) => item.startsWith(`arguments ${id}:`))
          .map((item) => item.split(':').slice(1).join(':'));
        assert.equal(streamed.join('') || '{}', args);
      }
    }
  });
}

const said: Record<ProviderKind, unknown[]> = {
  openai: [delta({ content: 'A' }), delta({ content: 'B' }, 'stop'), '[DONE]'],
  anthropic: [
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'A' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'B' } },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
    { type: 'message_stop' },
  ],
  'openai-responses': [
    { type: 'response.output_text.delta', output_index: 0, delta: 'A' },
    { type: 'response.output_text.delta', output_index: 0, delta: 'B' },
    { type: 'response.completed', response: { output: [] } },
  ],
  gemini: [
    { candidates: [{ content: { parts: [{ text: 'A' }] } }] },
    { candidates: [{ content: { parts: [{ text: 'B' }] }, finishReason: 'STOP' }] },
  ],
};

for (const [kind, events] of Object.entries(said) as [ProviderKind, unknown[]][]) {
  test(`a byte order mark at the beginning costs no event, however it is cut: ${kind}`, async () => {
    const wire = bytes(`\uFEFF${events.map((each) => event(each)).join('')}`);
    for (const at of [0, 1, 2, 3, 4, 9]) {
      for (const chunks of [[wire], cut(wire, [at]), cut(wire, [at, at + 1])]) {
        assert.deepEqual((await read(chunks, kind)).heard, ['text:AB']);
      }
    }
  });
}

test('accepts a byte order mark before a complete answer', async () => {
  const whole = JSON.stringify({ choices: [{ message: { content: 'AB' }, finish_reason: 'stop' }] });
  assert.deepEqual((await read([bytes(`\uFEFF${whole}`)])).heard, ['text:AB']);
});

test('reads events with single line ends, content as parts, both reasoning members, and usage with every event', async () => {
  const usage = { prompt_tokens: 7, completion_tokens: 2, completion_tokens_details: { reasoning_tokens: 1 } };
  const wire =
    event(delta({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm' }] }] }), '\n') +
    event(delta({ content: [{ type: 'text', text: 'One' }] }), '\n') +
    event({ ...Object(delta({ reasoning: 'So', reasoning_content: 'So' })), usage }, '\n') +
    event({ choices: [{ index: 1, delta: { content: 'other choice' } }] }, '\n') +
    event({ choices: [], usage }, '\n') +
    event('[DONE]', '');
  const { result, heard } = await read([bytes(wire)]);
  assert.deepEqual(heard, ['reasoning:Hm', 'text:One', 'reasoning:So']);
  assert.deepEqual(result, {
    finishReason: 'other',
    usage: { inputTokens: 7, outputTokens: 2, reasoningTokens: 1 },
    toolCalls: [],
  });
});

test('ends garbage with a typed error or an answer, and nothing else', async () => {
  const property = fc.asyncProperty(
    fc.array(
      fc.oneof(
        fc.uint8Array(),
        fc.jsonValue({ maxDepth: 4 }).map((value) => bytes(event(value))),
        fc.record({ choices: fc.array(fc.jsonValue()), usage: fc.jsonValue() }).map((value) => bytes(event(value))),
        fc.record({ tool_calls: fc.jsonValue(), content: fc.jsonValue() }).map((value) => bytes(event(delta(value)))),
      ),
    ),
    async (chunks) => {
      const { result, error } = await read([bytes(': start\n\n'), ...chunks]);
      if (result === undefined) assert.equal(error instanceof Error && error.name, 'ApiError');
    },
  );
  await fc.assert(property, { numRuns: 500 });
});
