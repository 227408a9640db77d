import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProviderKind } from '@homeport/contracts/catalogue/provider-kinds';
import type { Parameters } from '@homeport/contracts/chat/parameters';
import { dialectOf, initialDialect, type ProviderDialect } from '../provider-dialect.ts';
import type { ChatMessage } from '../provider-messages.ts';
import { type CompletionOptions, createModelClient } from '../stream/provider-stream.ts';

const said: Record<ProviderKind, string> = {
  openai: 'data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
  'openai-responses':
    'data: {"type":"response.output_text.delta","output_index":0,"delta":"Hi"}\n\n' +
    'data: {"type":"response.completed","response":{"status":"completed","output":[]}}\n\n',
  anthropic:
    'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Hi"}}\n\n' +
    'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}\n\n' +
    'event: message_stop\ndata: {"type":"message_stop"}\n\n',
  gemini: 'data: {"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP"}]}\n\n',
};

type Sent = {
  url: string;
  headers: Record<string, string>;
  body: Record<string, unknown> & { messages?: ChatMessage[] };
};

/** A server that refuses with each text in turn and then answers. */
function server(
  kind: ProviderKind,
  refusals: readonly string[],
  options: { status?: number; answers?: string[] } = {},
) {
  const sent: Sent[] = [];
  const left = [...refusals];
  const answers = [...(options.answers ?? [])];
  const slept: number[] = [];
  const refused: string[] = [];
  const client = createModelClient(kind);
  const dialect = initialDialect('https://x.example/v1');
  const ask = async (extra: Partial<CompletionOptions> = {}): Promise<string> => {
    let text = '';
    const sink = {
      text(delta: string) {
        text += delta;
      },
      reasoning: () => undefined,
      toolStart: () => undefined,
      toolDelta: () => undefined,
    };
    await client(
      {
        request: async (url, { headers, body }) => {
          sent.push({ url, headers, body: JSON.parse(body) });
          const refusal = left.shift();
          const status = refusal === undefined ? 200 : (options.status ?? 400);
          return { status, headers: {}, body: bodyOf(refusal ?? answers.shift() ?? said[kind]) };
        },
        baseUrl: 'https://x.example/v1',
        modelId: 'model-1',
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Hello' },
        ],
        maxOutputTokens: 4000,
        dialect,
        createId: () => 'made',
        sleep: async (ms) => void slept.push(ms),
        random: () => 1,
        now: () => 0,
        onParameterRefused: (name) => refused.push(name),
        firstByteMs: 1000,
        idleTimeoutMs: 1000,
        ...extra,
      },
      sink,
      new AbortController().signal,
    );
    return text;
  };
  return { ask, sent, slept, refused, dialect };
}

function bodyOf(text: string) {
  return {
    async *[Symbol.asyncIterator]() {
      yield Buffer.from(text);
    },
  };
}

/** Error texts of servers, with the refused parameter and the check of the next request. */
const wordings: [ProviderKind, Parameters, string, (body: Sent['body'], dialect: ProviderDialect) => boolean][] = [
  [
    'openai',
    { temperature: 0.2 },
    "Unsupported value: 'temperature' does not support 0.2 with this model.",
    (body) => body.temperature === undefined,
  ],
  [
    'openai',
    { topP: 0.5 },
    "Unsupported parameter: 'top_p' is not supported with this model.",
    (body) => body.top_p === undefined,
  ],
  [
    'openai',
    { seed: 1 },
    '[{"type":"extra_forbidden","loc":["body","seed"],"msg":"Extra inputs are not permitted"}]',
    (body) => body.seed === undefined,
  ],
  [
    'openai',
    { stop: ['x'] },
    "Unsupported parameter: 'stop' is not supported with this model.",
    (body) => body.stop === undefined,
  ],
  [
    'openai',
    { reasoningEffort: 'high' },
    'Unrecognized request argument supplied: reasoning_effort',
    (body) => body.reasoning_effort === undefined,
  ],
  ['openai', { verbosity: 'low' }, 'property "verbosity" is unsupported', (body) => body.verbosity === undefined],
  [
    'openai',
    { temperature: 0.2, topP: 0.5 },
    '`temperature` and `top_p` cannot both be specified for this model.',
    (body) => body.top_p === undefined && body.temperature === 0.2,
  ],
  [
    'openai-responses',
    { temperature: 0.2 },
    "Unsupported parameter: 'temperature' is not supported with this model.",
    (body) => body.temperature === undefined,
  ],
  [
    'openai-responses',
    { reasoningEffort: 'xhigh' },
    "Unsupported value: 'xhigh' is not supported. Supported values are: 'low'. param: reasoning.effort",
    (body) => !JSON.stringify(body).includes('xhigh'),
  ],
  ['openai-responses', { verbosity: 'low' }, "Unknown parameter: 'text.verbosity'.", (body) => body.text === undefined],
  [
    'anthropic',
    { temperature: 0.2 },
    '`temperature` may only be set to 1 when thinking is enabled.',
    (body) => body.temperature === undefined,
  ],
  [
    'anthropic',
    { stop: [' '] },
    'stop_sequences: each stop sequence must contain non-whitespace',
    (body) => body.stop_sequences === undefined,
  ],
  [
    'gemini',
    { seed: 5 },
    'Invalid JSON payload received. Unknown name "seed" at generation_config',
    (body) => !JSON.stringify(body).includes('seed'),
  ],
  [
    'gemini',
    { temperature: 2 },
    'Unable to submit request because it has a temperature value of 2 but the supported range is from 0 to 1',
    (body) => !JSON.stringify(body).includes('temperature'),
  ],
];

for (const [kind, parameters, wording, holds] of wordings) {
  test(`${kind} without ${Object.keys(parameters).join()}: ${wording.slice(0, 60)}`, async () => {
    const { ask, sent, refused, dialect } = server(kind, [JSON.stringify({ error: { message: wording } })]);
    assert.equal(await ask({ parameters }), 'Hi');
    assert.equal(sent.length, 2);
    assert.ok(sent[1] !== undefined && holds(sent[1].body, dialect), JSON.stringify(sent[1]?.body));
    assert.equal(refused.length, 1);
    // A later request of the turn applies the lesson, without a second notice.
    await ask({ parameters });
    assert.ok(sent[2] !== undefined && holds(sent[2].body, dialect));
    assert.deepEqual([sent.length, refused.length], [3, 1]);
  });
}

const forbidden = (...names: string[]): string =>
  JSON.stringify({
    detail: names.map((name) => ({ type: 'extra_forbidden', loc: ['body', name], msg: 'Extra inputs' })),
  });

test('omits every parameter that a strict server names at once', async () => {
  const { ask, sent, refused } = server('openai', [forbidden('stream_options', 'seed', 'verbosity')]);
  assert.equal(await ask({ parameters: { seed: 1, verbosity: 'low', temperature: 0.5 } }), 'Hi');
  const { stream_options: options, seed, verbosity, temperature } = sent[1]?.body ?? {};
  assert.deepEqual([sent.length, options, seed, verbosity, temperature], [2, undefined, undefined, undefined, 0.5]);
  assert.deepEqual(refused.toSorted(), ['seed', 'verbosity']);
});

test('answers within its attempts when a strict server names one parameter after another', async () => {
  const parameters = { seed: 1, verbosity: 'low', reasoningEffort: 'low', temperature: 0.5 } as const;
  const { ask, sent, refused } = server('openai', [forbidden('stream_options'), forbidden('seed')]);
  assert.equal(await ask({ parameters }), 'Hi');
  const { seed, verbosity, reasoning_effort: effort, temperature } = sent[2]?.body ?? {};
  assert.deepEqual([sent.length, seed, verbosity, effort, temperature], [3, undefined, undefined, undefined, 0.5]);
  assert.deepEqual(refused.toSorted(), ['reasoningEffort', 'seed', 'verbosity']);
});

test('keeps the tools when a server refuses a parameter beside them', async () => {
  const tools = [{ name: 'look', description: '', inputSchema: { type: 'object' } }];
  const wording = 'Function tools with reasoning_effort are not supported for gpt-5.4. Use /v1/responses instead.';
  const { ask, sent, refused } = server('openai', [wording]);
  assert.equal(await ask({ tools, parameters: { reasoningEffort: 'high' } }), 'Hi');
  const { tools: kept, reasoning_effort: effort } = sent[1]?.body ?? {};
  assert.deepEqual([Array.isArray(kept) && kept.length, effort, refused], [1, undefined, ['reasoningEffort']]);
});

test('omits refused defaults without a notice', async () => {
  const cases: [ProviderKind, string, RegExp][] = [
    ['openai-responses', 'Encrypted content is not supported with this model. param: include', /"include"/],
    ['openai-responses', "Unsupported parameter: 'reasoning.summary' is not supported with this model.", /"summary"/],
    ['anthropic', 'tools.0.cache_control: Extra inputs are not permitted', /cache_control/],
    ['gemini', 'Thinking is not enabled for models/gemma', /includeThoughts/],
  ];
  for (const [kind, wording, gone] of cases) {
    const { ask, sent, refused } = server(kind, [wording]);
    await ask();
    assert.match(JSON.stringify(sent[0]?.body), gone, kind);
    assert.doesNotMatch(JSON.stringify(sent[1]?.body), gone, kind);
    assert.deepEqual(refused, []);
  }
});

test('moves instructions into the first message if a model accepts none', async () => {
  const wordings = [
    'System role not supported',
    'Conversation roles must alternate user/assistant/user/assistant/...',
    "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
    'Only user and assistant roles are supported!',
  ];
  for (const wording of wordings) {
    const { ask, sent } = server('openai', [wording]);
    await ask();
    assert.deepEqual(sent[1]?.body.messages, [{ role: 'user', content: 'Be brief.\n\nHello' }], wording);
  }
  const { ask, sent } = server('gemini', ['Developer instruction is not enabled for models/gemma-3']);
  await ask();
  assert.equal(sent[1]?.body.systemInstruction, undefined);
  assert.match(JSON.stringify(sent[1]?.body.contents), /Be brief\.\\n\\nHello/);
});

test('sends older models of Anthropic and Google a token budget instead of an effort level', async () => {
  const parameters = { reasoningEffort: 'low' } as const;
  const claude = server('anthropic', ['output_config: Extra inputs are not permitted']);
  await claude.ask({ parameters });
  assert.deepEqual(claude.sent[1]?.body.thinking, { type: 'enabled', budget_tokens: 2000 });
  assert.deepEqual(claude.refused, []);
  const gemini = server('gemini', ['Thinking level is not supported for this model. (thinkingLevel)']);
  await gemini.ask({ parameters });
  assert.match(JSON.stringify(gemini.sent[1]?.body), /"thinkingBudget":1024/);
});

test('reports parameters that a protocol lacks, and keeps other refusals as they are', async () => {
  const { ask, refused, sent } = server('anthropic', []);
  await ask({ parameters: { verbosity: 'low', seed: 3, temperature: 0.5 } });
  assert.deepEqual([sent.length, refused.toSorted()], [1, ['seed', 'verbosity']]);
  const long = server('openai', ['maximum context length is 4096 tokens; lower max_tokens or temperature']);
  await assert.rejects(long.ask({ parameters: { temperature: 0.5 } }), /too long for the model/);
  const endless = server(
    'openai',
    Array.from({ length: 30 }, () => 'temperature top_p seed system role'),
  );
  await assert.rejects(endless.ask({ parameters: { temperature: 0.5, seed: 1 } }), { code: 'provider_error' });
  assert.ok(endless.sent.length < 8, String(endless.sent.length));
});

test('omits thinking that the model refuses to take back, and continues the answer', async () => {
  const stepState = [
    { type: 'thinking', thinking: 'x', signature: 'old' },
    { type: 'tool_use', id: 'c', name: 'look', input: {} },
  ];
  const call = { id: 'c', type: 'function' as const, function: { name: 'look', arguments: '{}' } };
  const { ask, sent } = server('anthropic', ['messages.1.content.0: Invalid `signature` in `thinking` block']);
  const messages: ChatMessage[] = [
    { role: 'user', content: 'Hello' },
    { role: 'assistant', content: null, tool_calls: [call], stepState },
    { role: 'tool', tool_call_id: 'c', content: 'x' },
  ];
  const tools = [{ name: 'look', description: '', inputSchema: { type: 'object' } }];
  assert.equal(await ask({ messages, tools }), 'Hi');
  assert.match(JSON.stringify(sent[0]?.body), /"signature":"old"/);
  assert.doesNotMatch(JSON.stringify(sent[1]?.body), /signature/);
});

test('returns the output of a paused model, and continues within the same answer', async () => {
  const search = { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} };
  const paused = [
    { type: 'message_start', message: { usage: { input_tokens: 10, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'I search. ' } },
    { type: 'content_block_start', index: 1, content_block: search },
    { type: 'message_delta', delta: { stop_reason: 'pause_turn' }, usage: { output_tokens: 5 } },
    { type: 'message_stop' },
  ];
  const text = paused.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  const { ask, sent } = server('anthropic', [], { answers: [text, text] });
  assert.equal(await ask(), 'I search. I search. Hi');
  assert.equal(sent.length, 3);
  const block = [{ type: 'text', text: 'I search. ' }, search];
  assert.deepEqual(sent[2]?.body.messages?.slice(1), [{ role: 'assistant', content: [...block, ...block] }]);
});

test('returns the text of a paused model that did nothing else', async () => {
  const paused = [
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Let me see. ' } },
    { type: 'message_delta', delta: { stop_reason: 'pause_turn' }, usage: { output_tokens: 5 } },
    { type: 'message_stop' },
  ];
  const text = paused.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  const { ask, sent } = server('anthropic', [], { answers: [text] });
  assert.equal(await ask(), 'Let me see. Hi');
  const said = [{ type: 'text', text: 'Let me see.' }];
  assert.deepEqual(sent[1]?.body.messages?.slice(1), [{ role: 'assistant', content: said }]);
});

test('retries at the time that a server states only in its text', async () => {
  const quota = { error: { code: 429, status: 'RESOURCE_EXHAUSTED', details: [{ retryDelay: '7s' }] } };
  const { ask, slept } = server('gemini', [JSON.stringify(quota)], { status: 429 });
  assert.equal(await ask(), 'Hi');
  assert.deepEqual(slept, [7000]);
});

test('calls each protocol at its address, with its key, and sends the cache key only to OpenAI', async () => {
  const seen: unknown[] = [];
  const bases = { openai: 'https://api.openai.com/v1', 'openai-responses': 'https://api.openai.com/v1' };
  for (const kind of ['openai', 'openai-responses', 'anthropic', 'gemini'] as const) {
    const { ask, sent } = server(kind, []);
    const baseUrl = { ...bases, anthropic: 'https://api.anthropic.com', gemini: 'https://g.example/' }[kind];
    await ask({ baseUrl, apiKey: 'k', cacheKey: 'chat-1' });
    const { url, headers, body } = sent[0] ?? { url: '', headers: {}, body: {} };
    const { 'content-type': _type, accept: _accept, 'accept-encoding': _encoding, ...auth } = headers;
    seen.push([url, auth, body.prompt_cache_key]);
  }
  assert.deepEqual(seen, [
    ['https://api.openai.com/v1/chat/completions', { authorization: 'Bearer k' }, 'chat-1'],
    ['https://api.openai.com/v1/responses', { authorization: 'Bearer k' }, 'chat-1'],
    ['https://api.anthropic.com/v1/messages', { 'anthropic-version': '2023-06-01', 'x-api-key': 'k' }, undefined],
    ['https://g.example/v1beta/models/model-1:streamGenerateContent?alt=sse', { 'x-goog-api-key': 'k' }, undefined],
  ]);
  const { ask, sent } = server('openai', []);
  await ask({ cacheKey: 'chat-1' });
  assert.equal(sent[0]?.body.prompt_cache_key, undefined);
});

test('keeps lessons about a model for an hour, for a bounded number of models', () => {
  const learnt = dialectOf(['p', 'm'], 'https://x.example/v1', 0);
  learnt.refused.add('seed');
  assert.equal(dialectOf(['p', 'm'], 'https://x.example/v1', 3_599_999), learnt);
  assert.equal(dialectOf(['p', 'other'], 'https://x.example/v1', 0).refused.size, 0);
  assert.notEqual(dialectOf(['p', 'm'], 'https://x.example/v1', 3_600_000), learnt);
  const first = dialectOf(['q', '0'], 'https://x.example/v1', 0);
  for (let count = 1; count <= 1000; count += 1) dialectOf(['q', String(count)], 'https://x.example/v1', 0);
  assert.notEqual(dialectOf(['q', '0'], 'https://x.example/v1', 0), first);
});
