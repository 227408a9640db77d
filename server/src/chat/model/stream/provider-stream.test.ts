import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ProviderWait } from '@homeport/contracts/chat/frames';
import { ApiError } from '@homeport/contracts/errors';
import { type FakeProvider, type FakeRequest, startFakeProvider } from '../../../../test/fakes/provider/provider.ts';
import { requestLoopback } from '../../../../test/fakes/provider/provider-request.ts';
import {
  callTool,
  chunk,
  failure,
  finish,
  say,
  stream,
  think,
} from '../../../../test/fakes/provider/provider-scripts.ts';
import type { CompletionResult } from '../protocol.ts';
import { initialDialect } from '../provider-dialect.ts';
import { type CompletionOptions, createModelClient } from './provider-stream.ts';

const apiKey = 'sk-canary-0123456789';
let provider: FakeProvider;
before(async () => {
  provider = await startFakeProvider();
});
after(() => provider.close());

type Heard = { text: string; reasoning: string; tools: string[]; slept: number[]; began: Promise<void> };

function ask(modelId: string, extra: Partial<CompletionOptions> = {}, signal = new AbortController().signal) {
  const began = Promise.withResolvers<void>();
  const heard: Heard = { text: '', reasoning: '', tools: [], slept: [], began: began.promise };
  const sink = {
    text(delta: string) {
      heard.text += delta;
      began.resolve();
    },
    reasoning(delta: string) {
      heard.reasoning += delta;
    },
    toolStart: (call: { id: string; name: string }) => void heard.tools.push(`start ${call.name}`),
    toolDelta: (_id: string, delta: string) => void heard.tools.push(delta),
  };
  let ids = 0;
  const done = createModelClient('openai')(
    {
      request: requestLoopback('pump'),
      baseUrl: provider.url,
      apiKey,
      modelId,
      messages: [{ role: 'user', content: 'Hello there, friend' }],
      maxOutputTokens: 100,
      dialect: initialDialect(provider.url),
      createId: () => `made${ids++}`,
      sleep: async (ms) => void heard.slept.push(ms),
      random: () => 1,
      now: () => Date.parse('2026-01-01T00:00:00Z'),
      firstByteMs: 600_000,
      idleTimeoutMs: 600_000,
      ...extra,
    },
    sink,
    signal,
  );
  return { heard, done };
}

async function fails(done: Promise<CompletionResult>): Promise<ApiError> {
  const error = await done.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof ApiError, `expected an ApiError, got ${String(error)}`);
  assert.ok(!`${error.message} ${JSON.stringify(error.details)} ${String(error.cause)}`.includes('canary'));
  return error;
}

async function latest(): Promise<FakeRequest> {
  const last = provider.requests.at(-1);
  assert.ok(last);
  return last;
}

for (const style of ['pump', 'plain'] as const) {
  test(`streams text, finish reason and usage (${style} body)`, async () => {
    const { heard, done } = ask('echo', { request: requestLoopback(style) });
    const result = await done;
    assert.equal(heard.text, 'Hello there, friend');
    assert.equal(result.finishReason, 'stop');
    assert.equal(result.usage?.outputTokens, 10);
    const { body, headers, path } = await latest();
    assert.equal(path, '/v1/chat/completions');
    assert.equal(headers.authorization, `Bearer ${apiKey}`);
    assert.equal(body.max_tokens, 100);
    assert.equal(body.stream, true);
    assert.deepEqual(body.stream_options, { include_usage: true });
  });

  test(`abort closes the upstream request (${style} body)`, async () => {
    const controller = new AbortController();
    const count = provider.requests.length;
    const { heard, done } = ask('hang-5', { request: requestLoopback(style) }, controller.signal);
    await heard.began;
    const reason = new Error('stop');
    controller.abort(reason);
    await assert.rejects(done, (error) => error === reason);
    assert.equal(await provider.requests[count]?.closed, 'aborted');
  });
}

test('sends custom headers and the query of the base URL', async () => {
  const { done } = ask('echo', {
    baseUrl: `${provider.url}/?api-version=7`,
    headers: { 'X-Team': 'a', Authorization: 'Own' },
  });
  await done;
  const { headers, path } = await latest();
  assert.equal(path, '/v1/chat/completions?api-version=7');
  assert.equal(headers['x-team'], 'a');
  assert.equal(headers.authorization, 'Own');
});

test('puts the history before the messages, unchanged', async () => {
  const history = '{"role":"user","content":"One"},{"role":"assistant","content":"Two"}';
  await ask('echo', { history }).done;
  const sent = (await latest()).body.messages?.map((message) => message.content);
  assert.deepEqual(sent, ['One', 'Two', 'Hello there, friend']);
  await ask('echo', { history, messages: [] }).done;
  assert.equal((await latest()).body.messages?.length, 2);
});

test('converts reasoning members and think tags to reasoning', async () => {
  for (const model of ['reason', 'think']) {
    const { heard, done } = ask(model);
    await done;
    assert.match(heard.reasoning, /^First I think/);
    assert.equal(heard.text, 'Then I answer.');
  }
  provider.enqueue('any', (call) =>
    stream([...think('Hm.', 'reasoning'), ...say('Yes <think>no</think>'), ...finish(call, 2)]),
  );
  const { heard, done } = ask('any');
  assert.equal((await done).usage?.outputTokens, 2);
  assert.deepEqual([heard.reasoning, heard.text], ['Hm.', 'Yes <think>no</think>']);
});

test('assembles and announces tool calls', async () => {
  provider.enqueue('any', (call) =>
    stream([...callTool(0, 'a', 'one', '{"x": 1}'), ...callTool(1, 'b', 'two', ''), ...finish(call, 3, 'tool_calls')]),
  );
  const { heard, done } = ask('any', {
    tools: [{ name: 'one', description: 'First', inputSchema: { type: 'object', properties: {} } }],
  });
  const result = await done;
  assert.equal(result.finishReason, 'tool-calls');
  assert.deepEqual(result.toolCalls, [
    { id: 'a', name: 'one', arguments: '{"x": 1}' },
    { id: 'b', name: 'two', arguments: '{}' },
  ]);
  assert.deepEqual([heard.tools[0], heard.tools.at(-1)], ['start one', 'start two']);
});

test('handles answers that end irregularly', async () => {
  assert.equal((await ask('no-finish').done).finishReason, 'other');
  assert.equal((await ask('no-done').done).finishReason, 'stop');
  const whole = ask('whole');
  assert.equal((await whole.done).finishReason, 'stop');
  assert.equal(whole.heard.text, 'Answered in one piece.');
  const cut = ask('cut');
  assert.equal((await fails(cut.done)).code, 'provider_unreachable');
  assert.equal(cut.heard.text, 'Neither of them.');
  const dropped = ask('drop-20');
  const error = await fails(dropped.done);
  assert.equal(error.code, 'provider_unreachable');
  assert.match(error.message, /broke before the answer was complete/);
  assert.equal(dropped.heard.slept.length, 0);
  assert.ok(dropped.heard.text.startsWith(' word0 word1'));
});

test('loses nothing when the connection breaks right after the finish reason', async () => {
  provider.enqueue('any', () => stream([...say('All said.'), chunk({}, 'stop'), { wait: 5 }, { drop: true }]));
  const { heard, done } = ask('any');
  assert.equal((await done).finishReason, 'stop');
  assert.equal(heard.text, 'All said.');
});

test("returns errors with advice and without the provider's text", async () => {
  const expected: [string, RegExp][] = [
    ['leak', /Check the API key/],
    ['error-404', /base URL and the model id/],
    ['error-400', /model id/],
    ['error-418', /answered with an error/],
    ['html', /web page/],
    ['huge-line', /unexpected response/],
  ];
  for (const [model, message] of expected) {
    const error = await fails(ask(model).done);
    assert.equal(error.code, 'provider_error', model);
    assert.match(error.message, message);
  }
  assert.deepEqual((await fails(ask('leak').done)).details, {
    status: 401,
    reason: 'key',
    values: {},
    providerMessage: 'Incorrect API key provided: Bearer …',
  });
  const half = ask('stream-error');
  assert.partialDeepStrictEqual((await fails(half.done)).details, { status: 500, reason: 'other' });
  assert.equal(half.heard.text, 'Half of an');
  provider.enqueue('any', failure(400, "This model's maximum context length is 8192 tokens"));
  assert.partialDeepStrictEqual((await fails(ask('any').done)).details, { status: 400, reason: 'context' });
});

test('retries twice with growing delays, then fails', async () => {
  const recovered = ask('flaky-503-2');
  await recovered.done;
  assert.equal(recovered.heard.text, 'Recovered.');
  assert.deepEqual(recovered.heard.slept, [500, 1000]);
  const failing = ask('error-500');
  assert.partialDeepStrictEqual((await fails(failing.done)).details, { status: 500, reason: 'other' });
  assert.equal(failing.heard.slept.length, 2);
  const refused = ask('any', { baseUrl: 'http://127.0.0.1:9/v1' });
  assert.equal((await fails(refused.done)).code, 'provider_unreachable');
  assert.equal(refused.heard.slept.length, 2);
});

test('honors retry-after in seconds and as a date', async () => {
  const asked: [string, number][] = [
    ['7', 7000],
    ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
    ['60', 60_000],
    ['soon', 500],
  ];
  for (const [value, expected] of asked) {
    provider.enqueue('echo', failure(429, 'slow down', { 'retry-after': value }));
    const waits: ProviderWait[] = [];
    const { heard, done } = ask('echo', { onWait: (wait) => waits.push(wait) });
    await done;
    assert.deepEqual(heard.slept, [expected], value);
    const retryAt = new Date(Date.parse('2026-01-01T00:00:00Z') + expected).toISOString();
    assert.deepEqual(waits, expected < 2_000 ? [] : [{ reason: 'rate_limited', retryAt }], 'a pause is told of');
  }
});

test('never retries refusals or failures after the first token', async () => {
  for (const status of [400, 401, 403, 404, 422]) {
    const { heard, done } = ask(`error-${status}`);
    await fails(done);
    assert.deepEqual(heard.slept, []);
  }
  provider.enqueue('echo', stream([...say('One'), { event: { error: { code: 503 } } }]));
  const begun = ask('echo');
  await fails(begun.done);
  assert.deepEqual(begun.heard.slept, []);
  provider.enqueue('echo', stream([{ event: { error: { code: 503 } } }]));
  const early = ask('echo');
  await early.done;
  assert.equal(early.heard.slept.length, 1);
});

test('ends the delay between attempts at once when aborted', async () => {
  const controller = new AbortController();
  const { done } = ask(
    'error-503',
    {
      sleep: (_ms, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
          controller.abort(new Error('stop'));
        }),
    },
    controller.signal,
  );
  await assert.rejects(done, /stop/);
});

test('omits or renames settings that a server refuses', async () => {
  provider.enqueue('echo', failure(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."));
  provider.enqueue('echo', failure(400, 'unknown field stream_options'));
  const dialect = initialDialect(provider.url);
  await ask('echo', { dialect }).done;
  const { body } = await latest();
  assert.equal(body.max_tokens, undefined);
  assert.equal(body.max_completion_tokens, 100);
  assert.equal(body.stream_options, undefined);
  assert.deepEqual([dialect.maxTokensField, dialect.streamOptions], ['max_completion_tokens', false]);
});

test('bounds the output of a model', async () => {
  const bounds = { maxTextLength: 40, maxToolCalls: 2, maxArgumentLength: 20 };
  const long = ask('words-100', { bounds });
  assert.match((await fails(long.done)).message, /too long/);
  assert.ok(long.heard.text.length > 0 && long.heard.text.length <= 40);
  provider.enqueue('any', stream([{ words: 100, rate: 0 }, { hang: true }]));
  const count = provider.requests.length;
  // The signal never aborts here: only giving up the body ends the exchange.
  await fails(ask('any', { bounds }).done);
  assert.equal(await provider.requests[count]?.closed, 'aborted');
  provider.enqueue('any', stream([0, 1, 2].flatMap((index) => callTool(index, `c${index}`, 'one', '{}'))));
  assert.match((await fails(ask('any', { bounds }).done)).message, /more than 2 tools/);
  provider.enqueue('any', stream(callTool(0, 'c', 'one', JSON.stringify('x'.repeat(50)))));
  assert.match((await fails(ask('any', { bounds }).done)).message, /arguments/);
});

test('keeps the connection after [DONE]', async () => {
  provider.enqueue('any', (call) => stream([...say('Done.'), ...finish(call, 1), { wait: 20 }]));
  const { done } = ask('any');
  await done;
  assert.equal(await (await latest()).closed, 'complete');
});

test('runs a call that the model wrote as text, when its tool was offered', async () => {
  const text = 'Looking.\n<tool_call>\n{"name": "look", "arguments": {"at": "the shelf"}}\n</tool_call>';
  const tools = [{ name: 'look', description: '', inputSchema: { type: 'object' } }];
  const script = (call: Parameters<typeof finish>[0]) => stream([...say(text), ...finish(call, 5)]);
  provider.enqueue('echo', script, script);
  const { heard, done } = ask('echo', { tools });
  const { toolCalls, finishReason } = await done;
  assert.deepEqual([heard.text, finishReason], ['Looking.\n', 'tool-calls']);
  assert.deepEqual(
    toolCalls.map(({ name, arguments: input }) => [name, JSON.parse(input)]),
    [['look', { at: 'the shelf' }]],
  );
  const without = ask('echo');
  await without.done;
  assert.equal(without.heard.text, text);
});
