import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { type ProviderKind, providerKinds } from '@homeport/contracts/catalogue/provider-kinds';
import { ApiError } from '@homeport/contracts/errors';
import { type ProviderTestInput, providerTestBounds, testProvider } from '../../src/catalogue/probes/provider-test.ts';
import { updateProvider } from '../../src/catalogue/providers.ts';
import { createEgress, type Egress } from '../../src/egress/egress.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { type CatalogueTestDeps, catalogueDeps, makeOwner, makeProvider } from './catalogue-makers.ts';

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

let database: TestDatabase;
let deps: CatalogueTestDeps & { egress: Egress };
let baseUrl: string;
let answer: Answer;
const requests: IncomingMessage[] = [];
const server = createServer((request, response) => {
  requests.push(request);
  answer(response, request);
});
before(async () => {
  database = await createTestDatabase();
  const egress = createEgress({ allowPrivateEgress: true, allowInsecureHttp: true });
  deps = { ...catalogueDeps(database.database), egress };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  baseUrl = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/v1`;
});
after(async () => {
  deps.egress.close();
  server.closeAllConnections();
  server.close();
  await database.drop();
});

const json =
  (body: unknown, status = 200): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
const text =
  (body: string | Buffer, status = 200): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'text/html' }).end(body);

function askWhole(input: ProviderTestInput = { baseUrl }, owner = makeOwner(), signal = new AbortController().signal) {
  requests.length = 0;
  return testProvider(deps, owner, input, signal);
}

/** The ids alone. */
async function ask(...given: Parameters<typeof askWhole>): Promise<{ id: string }[]> {
  return (await askWhole(...given)).map(({ id }) => ({ id }));
}

async function failure(promise: Promise<unknown>): Promise<ApiError> {
  const error = await promise.then(
    () => assert.fail('The test passed'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof ApiError, String(error));
  return error;
}

test("accepts the shapes of providers' lists", async () => {
  const expected = [{ id: 'b' }, { id: 'a' }];
  const shapes = [
    { data: [{ id: 'b' }, { id: 'a' }, { id: 'b' }], object: 'list' },
    { models: [{ id: 'b', name: 'B' }, { name: 'a' }] },
    [{ id: 'b' }, { id: 'a' }],
    {
      data: [{ id: 'b' }, { id: 'a' }, {}, null, 7, { id: 3 }, { id: '' }, { id: 'x'.repeat(257) }, { id: 'a\u0000' }],
    },
    { data: [{ id: 'b' }, { id: '\ud800' }, { id: ' a ' }, { id: 'a' }] },
  ];
  for (const shape of shapes) {
    answer = json(shape);
    assert.deepEqual(await ask(), expected, JSON.stringify(shape));
  }
  for (const none of [{ data: [] }, { object: 'list', data: null }, { models: null }]) {
    answer = json(none);
    assert.deepEqual(await ask(), [], JSON.stringify(none));
  }
});

test('reads every page of a list, and ends with a server that repeats a page', async () => {
  const pages = (names: Record<string, unknown>): Answer => {
    return (response, request) => {
      const query = new URL(request.url ?? '', 'http://x').searchParams;
      const cursor = query.get('after_id') ?? query.get('pageToken') ?? query.get('after') ?? 'first';
      return json(names[cursor] ?? names.first)(response, request);
    };
  };
  answer = pages({
    first: { data: [{ id: 'a', type: 'model' }], has_more: true, last_id: 'a' },
    a: { data: [{ id: 'b', type: 'model' }], has_more: true, last_id: 'b' },
    b: { data: [{ id: 'c', type: 'model' }], has_more: false, last_id: 'c' },
  });
  assert.deepEqual(await ask({ kind: 'anthropic', baseUrl }), [{ id: 'a' }, { id: 'b' }, { id: 'c' }]);
  const gemini = (id: string) => ({ name: `models/${id}`, supportedGenerationMethods: ['generateContent'] });
  answer = pages({ first: { models: [gemini('a')], nextPageToken: 'two' }, two: { models: [gemini('b')] } });
  assert.deepEqual(await ask({ kind: 'gemini', baseUrl }), [{ id: 'a' }, { id: 'b' }]);
  answer = pages({ first: { data: [{ id: 'a' }], has_more: true } });
  assert.deepEqual(await ask(), [{ id: 'a' }]);
});

test('finds a missing /v1 and names the base URL with it', async () => {
  const root = baseUrl.replace('/v1', '');
  for (const elsewhere of [json({ error: 'no' }, 404), text('<!doctype html>'), json({ hello: 1 })]) {
    answer = (response, request) =>
      request.url === '/v1/models' ? json({ data: [{ id: 'a' }] })(response, request) : elsewhere(response, request);
    const error = await failure(ask({ baseUrl: root }));
    assert.partialDeepStrictEqual(error.details, { reason: 'other', values: { problem: 'version', baseUrl } });
    assert.ok(error.message.includes(baseUrl));
  }
});

test('combines the facts of the list and the registry about a model, with their sources', async () => {
  const listed = {
    id: 'vendor/gpt-4o',
    context_length: 9_000,
    pricing: { prompt: '0.000001', completion: '0.000002' },
  };
  answer = json({ data: [listed, { id: 'text-embedding-3-small' }, { id: 'nobody-knows' }] });
  const [known, embedding, unknown] = await askWhole();
  assert.deepEqual(
    { ...known, abilities: undefined },
    {
      id: 'vendor/gpt-4o',
      chat: true,
      displayName: 'GPT-4o',
      contextWindow: 9_000,
      maxOutputTokens: 9_000,
      prices: { input: 1_000_000, output: 2_000_000, cachedInput: null, cacheWrite: null },
      abilities: undefined,
      sources: {
        displayName: 'registry',
        contextWindow: 'provider',
        prices: 'provider',
        maxOutputTokens: 'registry',
        abilities: 'registry',
      },
    },
  );
  assert.deepEqual([known?.abilities.images, known?.abilities.reasoning, embedding?.chat], [true, false, false]);
  assert.deepEqual(unknown?.sources, {});
});

test('calls the address with the key and the custom headers', async () => {
  answer = json({ data: [] });
  await ask({ baseUrl: `${baseUrl}//?api-version=1`, apiKey: 'sk-1', headers: { 'X-Team': 'blue' } });
  const [request] = requests;
  assert.equal(request?.url, '/v1/models?api-version=1');
  assert.deepEqual([request.headers.authorization, request.headers['x-team']], ['Bearer sk-1', 'blue']);
  await ask({ baseUrl, apiKey: 'sk-1', headers: { Authorization: 'Basic eA==' } });
  assert.equal(requests[0]?.headers.authorization, 'Basic eA==');
  await ask({ baseUrl, apiKey: null });
  assert.equal(requests[0]?.headers.authorization, undefined);
});

test('tests a stored provider with its stored key at its stored address only', async () => {
  answer = json({ data: [{ id: 'a' }] });
  const owner = makeOwner();
  const id = await makeProvider(deps, owner, { baseUrl, apiKey: 'sk-stored', headers: { 'x-a': 'b' } });
  const mixed = { id, baseUrl: 'http://127.0.0.1:1/elsewhere' };
  assert.deepEqual(await ask(mixed, owner), [{ id: 'a' }]);
  assert.deepEqual([requests.length, requests[0]?.headers.authorization], [1, 'Bearer sk-stored']);
  assert.equal((await failure(ask({ id }, makeOwner()))).code, 'not_found');
  assert.equal(requests.length, 0);
  await updateProvider(deps, owner, { id, enabled: false });
  assert.deepEqual(await ask({ id }, owner), [{ id: 'a' }]);
});

test('unreadable credentials stop the call before it is sent', async () => {
  const owner = makeOwner();
  const id = await makeProvider(deps, owner, { baseUrl, apiKey: 'sk-stored' });
  requests.length = 0;
  const wrong = {
    ...catalogueDeps(database.database, 'another key of more than thirty-two bytes'),
    egress: deps.egress,
  };
  const error = await failure(testProvider(wrong, owner, { id }, new AbortController().signal));
  assert.deepEqual([error.code, requests.length], ['credentials_unreadable', 0]);
});

test("reports an error status without the provider's text", async () => {
  for (const status of [302, 400, 401, 403, 404, 429, 500, 503]) {
    answer = json({ error: { message: 'Incorrect API key provided: sk-canary' } }, status);
    const error = await failure(ask({ baseUrl, apiKey: 'sk-canary' }));
    assert.equal(error.code, 'provider_error');
    assert.deepEqual(error.details, { status });
    assert.ok(!`${error.message} ${error.cause}`.includes('canary'));
  }
});

test('asks to check the base URL when the answer is not a list of models', async () => {
  const answers = [
    text('<!doctype html><p>Welcome</p>'),
    text(''),
    text('['.repeat(100_000)),
    text('nul'),
    text(Buffer.from([0xff, 0xfe, 0x00])),
    json({ data: 'no' }),
    json({ object: 'list' }),
    json(null),
    json('models'),
  ];
  for (const [index, bad] of answers.entries()) {
    answer = bad;
    const error = await failure(ask());
    assert.deepEqual([error.code, error.details], ['provider_error', { status: 200 }], String(index));
    assert.match(error.message, /usually ends in \/v1/);
  }
});

test('cuts a very long list and refuses a very large answer', async () => {
  const many = Array.from({ length: 25_000 }, (_, index) => ({ id: `m${index}` }));
  answer = json({ data: many });
  const listed = await ask();
  assert.equal(listed.length, providerTestBounds.models);
  assert.deepEqual(listed.at(-1), { id: `m${providerTestBounds.models - 1}` });
  let sent = 0;
  answer = (response) => {
    const block = Buffer.alloc(256 * 1024, 0x20);
    const more = () => {
      while (!response.destroyed && sent < 1e9) {
        sent += block.length;
        if (!response.write(block)) return void response.once('drain', more);
      }
    };
    more();
  };
  const error = await failure(ask());
  assert.deepEqual([error.code, error.details], ['provider_unreachable', { reason: 'too_large', phase: 'response' }]);
  assert.ok(sent < 16 * providerTestBounds.bodyBytes, `${sent} bytes were taken`);
});

test('lists 5,000 models with many members each and answers other requests meanwhile', async () => {
  const data = Array.from({ length: 5_000 }, (_, index) => ({
    id: `m${index}`,
    object: 'model',
    created: 1,
    owned_by: 'vllm',
    root: 'x',
    parent: null,
    max_model_len: 32_768,
    permission: [{ allow_sampling: true, allow_view: true, organization: '*', group: null, is_blocking: false }],
  }));
  answer = json({ object: 'list', data });
  let turns = 0;
  const counted = setInterval(() => {
    turns += 1;
  }, 0);
  const listed = await askWhole();
  clearInterval(counted);
  assert.deepEqual([listed.length, listed.at(-1)?.contextWindow], [5_000, 32_768]);
  assert.ok(turns > 20, `${turns} turns`);
});

test('refuses an answer that would take long to parse', async () => {
  const members = Array.from({ length: 60_000 }, (_, index) => `"m${index}":1`);
  for (const text of [`{"data":[],${members}}`, '['.repeat(1_000_000), `[${'1,'.repeat(500_000)}1]`]) {
    answer = (response) => response.end(text);
    const error = await failure(ask());
    assert.deepEqual([error.code, error.details], ['provider_error', { status: 200 }]);
  }
});

test('refuses a compressed answer without unpacking it', async () => {
  answer = (response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(16 * 1024 * 1024)));
  assert.equal((await failure(ask())).code, 'provider_unreachable');
});

test('ends the call when the caller disconnects', async () => {
  const caller = new AbortController();
  const { promise: gone, resolve } = Promise.withResolvers<void>();
  answer = (response) => {
    response.once('close', () => resolve());
    response.writeHead(200).write('{"data": [');
    caller.abort();
  };
  await assert.rejects(ask({ baseUrl }, makeOwner(), caller.signal));
  await gone;
});

test('refused connections and blocked destinations have typed errors', async () => {
  assert.equal((await failure(ask({ baseUrl: 'http://127.0.0.1:1/v1' }))).code, 'provider_unreachable');
  requests.length = 0;
  const egress = createEgress({ allowPrivateEgress: false, allowInsecureHttp: true });
  const guarded = { ...deps, egress };
  const signal = new AbortController().signal;
  for (const url of [baseUrl, baseUrl.replace('127.0.0.1', '[::ffff:7f00:1]'), 'http://169.254.169.254/v1']) {
    assert.equal(
      (await failure(testProvider(guarded, makeOwner(), { baseUrl: url }, signal))).code,
      'blocked_destination',
    );
  }
  assert.equal(requests.length, 0);
  egress.close();
});

test('a redirect carries no secrets to another origin', async () => {
  const other = createServer((request, response) => {
    elsewhere.push(request);
    response.end('{"data": []}');
  });
  const elsewhere: IncomingMessage[] = [];
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
  const address = other.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  answer = (response) => response.writeHead(307, { location: `http://127.0.0.1:${port}/models` }).end();
  await ask({ baseUrl, apiKey: 'sk-canary', headers: { 'x-api-key': 'canary' } });
  assert.equal(elsewhere.length, 1);
  assert.ok(!JSON.stringify(elsewhere[0]?.headers).includes('canary'));
  other.closeAllConnections();
  other.close();
});

test('calls each protocol at its own address with its own key header', async () => {
  const answers = {
    openai: { data: [{ id: 'm' }] },
    'openai-responses': { data: [{ id: 'm' }] },
    anthropic: { data: [{ id: 'm', type: 'model' }], has_more: false },
    gemini: {
      models: [
        { name: 'models/m', supportedGenerationMethods: ['generateContent'] },
        { name: 'models/embedding', supportedGenerationMethods: ['embedContent'] },
      ],
    },
  };
  const asked: string[] = [];
  for (const kind of providerKinds) {
    answer = json(answers[kind]);
    assert.deepEqual(await ask({ kind, baseUrl, apiKey: 'sk-1' }), [{ id: 'm' }], kind);
    const headers = requests[0]?.headers ?? {};
    const key = ['authorization', 'x-api-key', 'x-goog-api-key'].find((name) => headers[name] !== undefined) ?? '';
    asked.push(`${requests[0]?.url} ${key}: ${headers[key]} ${headers['anthropic-version'] ?? ''}`.trim());
  }
  assert.deepEqual(asked, [
    '/v1/models authorization: Bearer sk-1',
    '/v1/models authorization: Bearer sk-1',
    '/v1/models?limit=1000 x-api-key: sk-1 2023-06-01',
    '/v1/models?pageSize=1000 x-goog-api-key: sk-1',
  ]);
  const root = baseUrl.replace('/v1', '');
  answer = json(answers.anthropic);
  await ask({ kind: 'anthropic', baseUrl: root });
  assert.equal(requests[0]?.url, '/v1/models?limit=1000');
});

test('names the protocol that answered when the wrong one was chosen for an address', async () => {
  const openAi = { error: { message: 'Missing bearer', type: 'invalid_request_error', param: null, code: null } };
  const anthropic = { type: 'error', error: { type: 'authentication_error', message: 'x-api-key header is required' } };
  const gemini = { error: { code: 403, message: 'No key', status: 'PERMISSION_DENIED' } };
  const models = { models: [{ name: 'models/m', supportedGenerationMethods: ['generateContent'] }] };
  const cases: [ProviderKind, unknown, number, RegExp, string?][] = [
    ['anthropic', openAi, 401, /^An OpenAI-style server answered/, 'openai'],
    ['gemini', openAi, 404, /^An OpenAI-style server answered/, 'openai'],
    ['gemini', { object: 'list', data: [{ id: 'm' }] }, 200, /^An OpenAI-style server answered/, 'openai'],
    ['openai', anthropic, 401, /Anthropic’s protocol answered/, 'anthropic'],
    ['openai-responses', gemini, 403, /Gemini protocol answered/, 'gemini'],
    ['openai', models, 200, /Gemini protocol answered/, 'gemini'],
    ['anthropic', anthropic, 401, /refused the credentials/],
    ['gemini', gemini, 403, /refused the credentials/],
  ];
  for (const [kind, body, status, message, answered] of cases) {
    answer = json(body, status);
    const error = await failure(ask({ kind, baseUrl }));
    assert.match(error.message, message, kind);
    assert.deepEqual(error.details, answered === undefined ? { status } : { status, answered });
  }
});

test('confirms the protocol with a request of its own, since a list alone proves none, and names the missing part', async () => {
  const list = { object: 'list', data: [{ id: 'first' }, { id: 'm' }] };
  const anthropicList = { data: [{ id: 'first', type: 'model' }], has_more: false };
  const cases: [ProviderKind, object, string, RegExp, string][] = [
    ['anthropic', list, 'POST /v1/messages', /^An OpenAI-style server answered/, 'openai'],
    ['openai-responses', list, 'POST /v1/responses', /without the Responses protocol/, 'openai'],
    ['openai', anthropicList, 'POST /v1/chat/completions', /Anthropic’s protocol answered/, 'anthropic'],
  ];
  let refusal: Answer = json({ detail: 'Not Found' }, 404);
  const bodies: string[] = [];
  const listing =
    (models: object): Answer =>
    (response, request) => {
      if (request.method === 'GET') return json(models)(response, request);
      request.on('data', (data: Buffer) => bodies.push(data.toString()));
      request.on('end', () => refusal(response, request));
    };
  for (const [kind, models, asked, message, answered] of cases) {
    answer = listing(models);
    for (const missing of [json({ detail: 'Not Found' }, 404), text('', 405), text('no', 501)]) {
      refusal = missing;
      const error = await failure(ask({ kind, baseUrl, apiKey: 'sk-1' }));
      assert.match(error.message, message, kind);
      assert.deepEqual(error.details, { status: 404, answered }, kind);
      assert.deepEqual(requests.map(({ method, url }) => `${method} ${url}`).slice(1), [asked], kind);
      assert.equal(bodies.pop(), '{"model":"first"}', 'nothing that could be answered');
    }
    const there = [
      json({ error: { message: 'messages: required' } }, 400),
      json({}, 401),
      json({ error: { message: 'The model `first` does not exist' } }, 404),
      text('', 500),
      ((response) => response.destroy()) satisfies Answer,
    ];
    for (const fine of there) {
      refusal = fine;
      assert.equal((await ask({ kind, baseUrl }))[0]?.id, 'first', kind);
    }
  }
  answer = listing(list);
  await ask({ kind: 'openai', baseUrl });
  assert.equal(requests.length, 1, 'what the list shows is not asked for');
});
