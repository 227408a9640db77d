import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ProviderKind } from '@homeport/contracts/catalogue/provider-kinds';
import type { ProviderWait } from '@homeport/contracts/chat/frames';
import { ApiError } from '@homeport/contracts/errors';
import { type FakeProvider, startFakeProvider } from '../../../../test/fakes/provider/provider.ts';
import { requestLoopback } from '../../../../test/fakes/provider/provider-request.ts';
import { chunk, failure, say, stream } from '../../../../test/fakes/provider/provider-scripts.ts';
import { unreachable } from '../../../egress/failures.ts';
import { initialDialect } from '../provider-dialect.ts';
import { type CompletionOptions, createModelClient, type ProviderRequest } from '../stream/provider-stream.ts';

let provider: FakeProvider;
before(async () => {
  provider = await startFakeProvider();
});
after(() => provider.close());

/** The failure, the pauses and the number of requests of one call. */
async function ask(kind: ProviderKind = 'openai', extra: Partial<CompletionOptions> = {}) {
  const slept: number[] = [];
  const waits: ProviderWait[] = [];
  const asked = provider.requests.length;
  const sink = { text: () => {}, reasoning: () => {}, toolStart: () => {}, toolDelta: () => {} };
  const error = await createModelClient(kind)(
    {
      request: requestLoopback('pump'),
      baseUrl: provider.url,
      apiKey: 'sk-canary-0123456789',
      modelId: 'any',
      messages: [{ role: 'user', content: 'Hello' }],
      maxOutputTokens: 100,
      dialect: initialDialect(provider.url),
      createId: () => 'id',
      sleep: async (ms) => void slept.push(ms),
      random: () => 1,
      now: () => Date.parse('2026-01-01T00:00:00Z'),
      onWait: (wait) => waits.push(wait),
      firstByteMs: 600_000,
      idleTimeoutMs: 600_000,
      ...extra,
    },
    sink,
    new AbortController().signal,
  ).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(error === undefined || error instanceof ApiError);
  return { error, slept, waits, requests: provider.requests.length - asked };
}

/** A server that always answers with this body. */
function answering(body: string, status = 200, headers: Record<string, string> = {}): ProviderRequest {
  return async () => ({
    status,
    headers,
    body: (async function* () {
      yield Buffer.from(body);
    })(),
  });
}

test('never asks again when the account or the key is the reason', async () => {
  for (const body of ['You exceeded your current quota (insufficient_quota)', 'Invalid API key', 'no credits left']) {
    provider.enqueue('any', failure(429, body));
    const { slept, requests, error } = await ask();
    assert.deepEqual([slept, requests], [[], 1], body);
    assert.doesNotMatch(error?.message ?? '', /limiting requests/);
  }
});

test('fails at once with the time when the provider asks for more than a minute', async () => {
  provider.enqueue('any', failure(429, 'Daily limit reached', { 'retry-after': '3600' }));
  const { slept, requests, error } = await ask();
  assert.deepEqual([slept, requests], [[], 1]);
  assert.partialDeepStrictEqual(error?.details, {
    reason: 'rate_limit',
    values: { retryAt: '2026-01-01T01:00:00.000Z' },
  });
  assert.match(error?.message ?? '', /until 2026-01-01 01:00 UTC/);
  assert.equal(error?.retryAfter, 3600);
});

test('fails at once with the time when only the text says how long', async () => {
  provider.enqueue('any', failure(429, 'Rate limit reached. Please try again in 9m38.016s. Need more tokens?'));
  const { slept, error } = await ask();
  assert.deepEqual(slept, []);
  assert.partialDeepStrictEqual(error?.details, { values: { retryAt: '2026-01-01T00:09:39.000Z' } });
});

test('waits about a minute for a model that is loading, and says so', async () => {
  for (let times = 0; times < 6; times++) provider.enqueue('any', failure(503, 'Loading model'));
  provider.enqueue('any', stream([...say('Loaded.'), chunk({}, 'stop')]));
  const loaded = await ask();
  assert.equal(loaded.error, undefined);
  assert.equal(loaded.requests, 7);
  assert.equal(loaded.waits[0]?.reason, 'loading');
  for (let times = 0; times < 40; times++) provider.enqueue('slow', failure(503, 'Loading model'));
  const endless = await ask('openai', { modelId: 'slow' });
  assert.partialDeepStrictEqual(endless.error?.details, { status: 503, reason: 'loading' });
  const total = endless.slept.reduce((sum, ms) => sum + ms, 0);
  assert.ok(total >= 60_000 && total <= 90_000, `waited ${total} ms`);
});

test('names both protocols when a server answers in another one', async () => {
  const completion =
    'data: {"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n';
  const cases: [ProviderKind, string, RegExp][] = [
    [
      'openai-responses',
      `${completion}data: [DONE]\n\n`,
      /answered as OpenAI chat completions; the provider is set to OpenAI Responses/,
    ],
    [
      'anthropic',
      `${completion}data: [DONE]\n\n`,
      /answered as OpenAI chat completions; the provider is set to Anthropic/,
    ],
    ['gemini', '{"object":"chat.completion","choices":[]}', /answered as OpenAI chat completions/],
    ['openai', 'event: response.created\ndata: {"type":"response.created"}\n\n', /answered as OpenAI Responses/],
    ['openai', '{"type":"message","content":[{"type":"text","text":"Hi"}]}', /answered as Anthropic Messages/],
    ['openai', 'event: message_start\ndata: {"type":"message_start"}\n\n', /answered as Anthropic Messages/],
    ['openai-responses', '[{"candidates":[]}]', /answered as Google Gemini/],
    ['openai', '{"model":"m","message":{"role":"assistant","content":"Hi"},"done":true}', /Ollama/],
  ];
  for (const [kind, body, message] of cases) {
    const { error, slept } = await ask(kind, { request: answering(body) });
    assert.partialDeepStrictEqual(error?.details, { reason: 'protocol' }, `${kind} ${body}`);
    assert.match(error?.message ?? '', message);
    assert.deepEqual(slept, []);
  }
});

test('names the certificate and the setting when a certificate is not trusted', async () => {
  const causes: [string, string, RegExp][] = [
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'self_signed', /self-signed.*NODE_EXTRA_CA_CERTS/],
    ['CERT_HAS_EXPIRED', 'expired', /expired/],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'untrusted', /NODE_EXTRA_CA_CERTS/],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'host', /another name/],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'not_tls', /does not use TLS/],
  ];
  for (const [code, problem, message] of causes) {
    const request: ProviderRequest = async () => {
      throw unreachable('tls', 'connect', Object.assign(new Error('tls'), { code }));
    };
    const { error, slept } = await ask('openai', { request });
    assert.equal(error?.code, 'provider_error');
    assert.partialDeepStrictEqual(error.details, { reason: 'certificate', values: { problem } });
    assert.match(error.message, message);
    assert.deepEqual(slept, []);
  }
});

test('keeps the sentence of the provider without the key that was sent', async () => {
  provider.enqueue('any', failure(400, 'The key sk-canary-0123456789 may not use this. Ask your team.'));
  const { error } = await ask();
  assert.partialDeepStrictEqual(error?.details, { providerMessage: 'The key … may not use this.' });
});
