import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { limits } from '@homeport/contracts/limits';
import { until } from '../../../../contracts/test/until.ts';
import { type Json, startTestApp, type TestApp } from '../../app.ts';
import { type FakeProvider, startFakeProvider } from '../../fakes/provider/provider.ts';
import { stream as events, finish, say } from '../../fakes/provider/provider-scripts.ts';
import { callsOf, setPrices, sumsDiffer } from '../../usage/usage-makers.ts';
import { addModels } from '../chat-harness.ts';
import { startEmbedder } from './embedder.ts';
import { ask, eventsOf, type Front, fronts, paths, results } from './front-clients.ts';
import { type GatewayUser, gatewayUser } from './gateway-user.ts';

let app: TestApp;
let provider: FakeProvider;
before(async () => {
  provider = await startFakeProvider();
  app = await startTestApp();
});
after(async () => {
  assert.deepEqual(await sumsDiffer(app), []);
  await app.stop();
  await provider.close();
});

const hello: Record<Front, Json> = {
  chat: { messages: [{ role: 'user', content: 'Hello' }] },
  responses: { input: 'Hello' },
  messages: { max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] },
};

async function json(response: Response): Promise<Json> {
  return JSON.parse(await response.text());
}

test("lists the person's models in both shapes, with ids that name each", async () => {
  const user = await gatewayUser(app);
  await addModels(user.signedIn, provider, ['echo', 'lab/one']);
  const { body: second } = await user.signedIn.call('POST /api/providers', {
    name: 'Other',
    kind: 'openai',
    baseUrl: provider.url,
  });
  await user.signedIn.call('POST /api/models', {
    providerId: second.provider.id,
    providerModelId: 'echo',
    displayName: 'Echo two',
    contextWindow: 50_000,
    maxOutputTokens: 2_000,
    tier: 1,
  });
  const list = await json(await user.send('/v1/models'));
  assert.deepEqual(
    list.data.map(({ id, object, owned_by: owner, context_length: window, max_output_tokens: output }: Json) => [
      ...[id, object, owner, window, output],
    ]),
    [
      ['Fake/echo', 'model', 'Fake', 100_000, 4_000],
      ['lab/one', 'model', 'Fake', 100_000, 4_000],
      ['Other/echo', 'model', 'Other', 50_000, 2_000],
    ],
  );
  for (const path of ['lab/one', 'lab%2Fone']) {
    assert.equal((await json(await user.send(`/v1/models/${path}`))).id, 'lab/one', path);
  }
  assert.equal((await json(await user.send('/v1/models/default'))).id, 'Fake/echo');
  const unknown = await user.send('/v1/models/none');
  assert.deepEqual([unknown.status, (await json(unknown)).error.code], [404, 'model_not_found']);

  const headers = { 'anthropic-version': '2023-06-01' };
  const first = await json(await user.send('/v1/models?limit=2', undefined, { headers }));
  assert.deepEqual([first.data[0].type, first.data[1].display_name, first.has_more], ['model', 'lab/one', true]);
  const rest = await json(await user.send(`/v1/models?after_id=${first.last_id}`, undefined, { headers }));
  assert.deepEqual([rest.first_id, rest.has_more, rest.data.length], ['Other/echo', false, 1]);
  assert.equal((await user.send('/v1/models?limit=0')).status, 400);

  const answered = await json(await user.send(paths.chat, { ...hello.chat, model: 'Other/echo' }));
  assert.equal(answered.choices[0].message.content, 'Hello');
});

test("rejects what would change the answer and can't be honored, with its name", async () => {
  const user = await gatewayUser(app);
  await addModels(user.signedIn, provider, ['echo']);
  const tool = (name: string, parameters: Json = {}) => ({ type: 'function', function: { name, parameters } });
  const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } };
  const asked = [...hello.chat.messages, { role: 'assistant', tool_calls: [call] }];
  const result = { role: 'tool', tool_call_id: 'call_1', content: 'x' };
  const picture = (url: string) => ({
    messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
  });
  const wrong: [Front, Json, string, string?][] = [
    ...['logprobs', 'web_search_options', 'store', 'functions', 'audio'].map((name): [Front, Json, string, string] => [
      'chat',
      { [name]: { a: 1 } },
      name,
      'unsupported_parameter',
    ]),
    ['chat', { n: 2 }, 'n', 'unsupported_parameter'],
    ['chat', { messages: [] }, 'messages'],
    ['chat', { messages: [result] }, 'messages[0]'],
    ['chat', { messages: [...asked, result, result] }, 'messages[3]'],
    ['chat', { tools: [tool('a b')] }, 'tools[0].function.name'],
    ['chat', { tools: [tool('x'.repeat(65))] }, 'tools[0].function.name'],
    ['chat', { tools: Array.from({ length: 129 }, (_, at) => tool(`t${at}`)) }, 'tools'],
    ['chat', { tools: [tool('a', { description: 'x'.repeat(1024 * 1024) })] }, 'tools[0]'],
    ['chat', { tools: [tool('a')], tool_choice: { type: 'function', function: { name: 'b' } } }, 'tool_choice'],
    ...[3, '1', null].flatMap((temperature): [Front, Json, string][] =>
      temperature === null ? [] : [['chat', { temperature }, 'temperature']],
    ),
    ...[0, -1, 1e12, 1.5].map((value): [Front, Json, string] => ['chat', { max_tokens: value }, 'max_tokens']),
    ['chat', { stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop'],
    ...[
      'file:///etc/passwd',
      'http://169.254.169.254/x.png',
      'data:image/svg+xml;base64,PHN2Zz4=',
      'data:image/png;base64,R0lGODlh',
    ].map((url): [Front, Json, string] => ['chat', picture(url), 'messages[0].content[0].image_url.url']),
    ['responses', { background: true }, 'background', 'unsupported_parameter'],
    ['responses', { tools: [{ type: 'web_search' }] }, 'tools[0].type'],
    ['responses', { input: [{ type: 'function_call_output', call_id: 'c', output: 'x' }] }, 'input[0]'],
    ['responses', { input: [] }, 'input'],
    ['responses', { temperature: 3 }, 'temperature'],
    [
      'responses',
      {
        input: [
          { type: 'reasoning', summary: [], encrypted_content: 'gAAAA' },
          { role: 'user', content: 'x' },
        ],
      },
      'input[0].encrypted_content',
      'invalid_encrypted_content',
    ],
  ];
  for (const [front, change, param, code] of wrong) {
    const response = await user.send(paths[front], { ...hello[front], ...change });
    const { error } = await json(response);
    const shown = `${JSON.stringify(change).slice(0, 100)}: ${JSON.stringify(error)}`;
    assert.equal(response.status, 400, shown);
    assert.equal(error.type, 'invalid_request_error', shown);
    assert.ok(error.param?.startsWith(param), shown);
    if (code !== undefined) assert.equal(error.code, code, shown);
  }
  const anthropic: Json[] = [
    { max_tokens: undefined },
    { temperature: 1.5 },
    { mcp_servers: [{ name: 'x' }] },
    { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
    { stop_sequences: ['a', 'b', 'c', 'd', 'e'] },
  ];
  for (const change of anthropic) {
    const response = await user.send(paths.messages, { ...hello.messages, ...change });
    const { type, error, request_id: id } = await json(response);
    assert.deepEqual(
      [response.status, type, error.type],
      [400, 'error', 'invalid_request_error'],
      JSON.stringify(change),
    );
    assert.equal(id, response.headers.get('x-request-id'));
  }
  const ignored = {
    user: 'u',
    metadata: { a: 'b' },
    store: false,
    service_tier: 'auto',
    logit_bias: {},
    prediction: null,
    safety_identifier: 's',
    prompt_cache_key: 'k',
    n: 1,
    unheard_of: 1,
  };
  assert.equal((await user.send(paths.chat, { ...hello.chat, ...ignored })).status, 200);
  for (const front of fronts) {
    assert.equal((await user.send(paths[front], '[1]')).status, 400, front);
    assert.equal((await user.send(paths[front], `{"a":${'['.repeat(65)}${']'.repeat(65)}}`)).status, 400, front);
    assert.equal((await user.send(paths[front], { ...hello[front], model: 'none' })).status, 404, front);
  }
});

test('refuses settings that the protocol of the model does not have', async () => {
  const user = await gatewayUser(app);
  await addModels(user.signedIn, provider, ['words-3'], 'anthropic');
  const wrong: [Front, Json, string][] = [
    ['chat', { seed: 1 }, 'seed'],
    ['chat', { temperature: 1.5 }, 'temperature'],
    ['chat', { frequency_penalty: 1 }, 'frequency_penalty'],
    ['responses', { text: { verbosity: 'low' } }, 'text.verbosity'],
  ];
  for (const [front, change, param] of wrong) {
    const response = await user.send(paths[front], { ...hello[front], ...change });
    const { error } = await json(response);
    assert.deepEqual([response.status, error.code, error.param], [400, 'unsupported_parameter', param]);
  }
  assert.deepEqual(await callsOf(app, user.id), []);
});

test('streams events in the order of Open Responses', async () => {
  const user = await gatewayUser(app);
  await addModels(user.signedIn, provider, ['reason', 'tools-2']);
  const { raw } = await ask(user.send, 'responses', { model: 'reason', stream: true });
  const events = eventsOf(raw);
  assert.deepEqual(
    events.map(({ sequence_number: number }) => number),
    events.map((_, at) => at),
  );
  const types = events.map(({ type }) => type.slice('response.'.length));
  assert.deepEqual(
    types.filter((type, at) => type !== types[at - 1]),
    [
      ...[
        'created',
        'in_progress',
        'output_item.added',
        'reasoning_summary_part.added',
        'reasoning_summary_text.delta',
      ],
      ...['reasoning_summary_text.done', 'reasoning_summary_part.done', 'output_item.done', 'output_item.added'],
      ...['content_part.added', 'output_text.delta', 'output_text.done', 'content_part.done', 'output_item.done'],
      'completed',
    ],
  );
  const { response } = events.at(-1) ?? {};
  for (const member of [
    'instructions',
    'tools',
    'usage',
    'error',
    'store',
    'metadata',
    'truncation',
    'max_tool_calls',
  ]) {
    assert.ok(Object.hasOwn(response, member), member);
  }
  const custom = { tools: [{ type: 'custom', name: 'apply_patch' }], stream: true };
  const called = await ask(user.send, 'responses', { model: 'tools-2', extra: custom });
  const calledTypes = eventsOf(called.raw).map(({ type }) => type);
  assert.ok(calledTypes.includes('response.custom_tool_call_input.delta'), called.raw);
});

test('seals thinking state for one account and model', async () => {
  const [user, other] = [await gatewayUser(app), await gatewayUser(app)];
  for (const each of [user, other]) await addModels(each.signedIn, provider, ['signed-1', 'echo'], 'openai-responses');
  const tool = 'mcp__it__look';
  const first = await ask(user.send, 'responses', { model: 'signed-1', tool });
  const sealed = first.turn.find(({ type }: Json) => type === 'reasoning');
  assert.match(sealed.encrypted_content, /^hps1_/);
  const again = (history: Json[], sender: GatewayUser = user) =>
    ask(sender.send, 'responses', { model: 'signed-1', tool, history });
  const outputs = results.responses(first.calls);
  assert.equal((await again([...first.turn, ...outputs])).status, 200);
  const changed = sealed.encrypted_content.replace(/.$/, (last: string) => (last === 'A' ? 'B' : 'A'));
  const forged = first.turn.map((item: Json) => (item === sealed ? { ...item, encrypted_content: changed } : item));
  for (const refused of [await again([...forged, ...outputs]), await again([...first.turn, ...outputs], other)]) {
    assert.deepEqual([refused.status, refused.error.code], [400, 'invalid_encrypted_content'], refused.raw);
  }
});

test("passes Anthropic's signatures unchanged", async () => {
  const user = await gatewayUser(app);
  await addModels(user.signedIn, provider, ['signed-1'], 'anthropic');
  const tool = 'mcp__it__look';
  for (const stream of [false, true]) {
    const first = await ask(user.send, 'messages', { model: 'signed-1', tool, stream });
    const [turn] = first.turn;
    const thinking = turn.content.filter(({ type }: Json) => /thinking$/.test(type));
    assert.ok(thinking.length > 0, first.raw);
    await ask(user.send, 'messages', { model: 'signed-1', tool, history: [turn, ...results.messages(first.calls)] });
    const sent: Json = provider.requests.at(-1)?.raw;
    const returned = sent.messages.find(({ role }: Json) => role === 'assistant').content;
    assert.deepEqual(
      returned.filter(({ type }: Json) => /thinking$/.test(type)),
      thinking,
    );
  }
});

test('counts the tokens of a request for a message', async () => {
  const user = await gatewayUser(app);
  await addModels(user.signedIn, provider, ['echo']);
  const count = async (body: Json) => json(await user.send('/v1/messages/count_tokens?beta=true', body));
  const short = await count({ messages: hello.messages.messages });
  const long = await count({ messages: [{ role: 'user', content: 'word '.repeat(1000) }], system: 'Be brief.' });
  assert.ok(short.input_tokens > 0 && long.input_tokens > 500, JSON.stringify({ short, long }));
  assert.equal((await count({ messages: [] })).error.type, 'invalid_request_error');
});

test('makes embeddings as numbers and in Base64, and counts them', async () => {
  const user = await gatewayUser(app);
  const embedder = await startEmbedder();
  try {
    for (const kind of ['openai', 'gemini'] as const) {
      const { body } = await user.signedIn.call('POST /api/providers', { name: kind, kind, baseUrl: embedder.url });
      const model = { contextWindow: 8000, maxOutputTokens: 1000, tier: 1 };
      await user.signedIn.call('POST /api/models', {
        ...model,
        providerId: body.provider.id,
        providerModelId: `embed-${kind}`,
        displayName: kind,
      });
      const input = Array.from({ length: 30 }, (_, at) => `text ${at}`);
      const numbers = await json(await user.send('/v1/embeddings', { model: `embed-${kind}`, input }));
      assert.deepEqual(
        numbers.data.map(({ index, embedding }: Json) => [index, embedding[0]]),
        input.map((text, at) => [at, text.length]),
      );
      const base64 = await json(
        await user.send('/v1/embeddings', { model: `embed-${kind}`, input: 'four', encoding_format: 'base64' }),
      );
      assert.equal(Buffer.from(base64.data[0].embedding, 'base64').readFloatLE(0), 4);
      assert.ok(base64.usage.prompt_tokens > 0);
    }
    assert.equal((await callsOf(app, user.id)).length, 4);
    assert.equal((await user.send('/v1/embeddings', { input: [] })).status, 400);
  } finally {
    await embedder.close();
  }
});

test('returns text before a lone closing mark as reasoning', async () => {
  const user = await gatewayUser(app);
  await addModels(user.signedIn, provider, ['lone']);
  provider.script('lone', (call) => events([...say('First I think.\n</think>\n\nThen I answer.'), ...finish(call, 8)]));
  for (const front of fronts) {
    const { text, reasoning, raw } = await ask(user.send, front, { model: 'lone' });
    assert.equal(text.trim(), 'Then I answer.', raw);
    assert.match(reasoning, /First I think\./);
  }
});

test('ends a call when its client leaves, and counts what came', async () => {
  const user = await gatewayUser(app);
  await addModels(user.signedIn, provider, ['hang-3']);
  await setPrices(user.signedIn);
  for (const front of fronts) {
    const before = (await callsOf(app, user.id)).length;
    const leaving = new AbortController();
    const response = await user.send(paths[front], { ...hello[front], stream: true }, { signal: leaving.signal });
    await response.body?.getReader().read();
    leaving.abort();
    assert.equal(await provider.requests.at(-1)?.closed, 'aborted');
    await until(async () => (await callsOf(app, user.id)).length === before + 1);
    assert.equal((await callsOf(app, user.id)).at(-1)?.estimated, true);
  }
});

test('holds a token to its calls at once, and tells what is left', async () => {
  const user = await gatewayUser(app);
  await addModels(user.signedIn, provider, ['hang-head', 'echo']);
  const leaving = new AbortController();
  const asked = provider.requests.length;
  const hanging = Array.from({ length: limits.gatewayCallsAtOnce }, () =>
    user.send(paths.chat, { ...hello.chat, model: 'hang-head' }, { signal: leaving.signal }).catch(() => undefined),
  );
  await until(() => provider.requests.length === asked + limits.gatewayCallsAtOnce);
  const refused = await user.send(paths.messages, { ...hello.messages, model: 'echo' });
  assert.equal(refused.status, 429);
  assert.equal(refused.headers.get('retry-after'), '1');
  assert.equal((await json(refused)).error.type, 'rate_limit_error');
  const remaining = Number(refused.headers.get('x-ratelimit-remaining-requests'));
  assert.equal(remaining, limits.gatewayCallsPerMinute - limits.gatewayCallsAtOnce - 1);
  leaving.abort();
  await Promise.all(hanging);
});

test('answers preflights of any origin, and unknown addresses in the shape of the API', async () => {
  const user = await gatewayUser(app);
  const preflight = await app.anonymous.fetch('/v1/messages', { method: 'OPTIONS' });
  assert.equal(preflight.status, 204);
  assert.equal(preflight.headers.get('access-control-allow-origin'), '*');
  assert.equal(preflight.headers.get('access-control-allow-credentials'), null);
  assert.match(preflight.headers.get('access-control-allow-headers') ?? '', /x-api-key/);
  const openai = await user.send('/v1/nothing');
  assert.deepEqual([openai.status, (await json(openai)).error.type], [404, 'invalid_request_error']);
  const wrongMethod = await user.send('/v1/messages');
  assert.deepEqual([wrongMethod.status, (await json(wrongMethod)).type], [405, 'error']);
});

test('opens to access tokens with the scope and to nothing else, in every way to carry one', async () => {
  const user = await gatewayUser(app);
  const reader = await gatewayUser(app, ['chats:read']);
  await addModels(user.signedIn, provider, ['echo']);
  const plain = { 'content-type': 'application/json' };
  const post = (path: string, headers: Record<string, string>) =>
    app.anonymous.fetch(path, {
      method: 'POST',
      headers: { ...plain, ...headers },
      body: JSON.stringify(path === paths.messages ? hello.messages : hello.chat),
    });
  assert.equal((await post(paths.messages, { 'x-api-key': user.token })).status, 200);
  const byKey = await post(paths.chat, { 'x-api-key': user.token });
  assert.deepEqual([byKey.status, (await json(byKey)).error.code], [401, 'invalid_api_key']);
  const session = await user.signedIn.fetch(paths.chat, {
    method: 'POST',
    headers: plain,
    body: JSON.stringify(hello.chat),
  });
  assert.equal(session.status, 401);
  const wrong = await post(paths.messages, { authorization: `Bearer ${user.token.slice(0, -1)}x` });
  assert.deepEqual([wrong.status, (await json(wrong)).error.type], [401, 'authentication_error']);
  for (const path of [paths.chat, paths.messages]) {
    const denied = await reader.send(path, hello[path === paths.chat ? 'chat' : 'messages']);
    const { error } = await json(denied);
    assert.deepEqual(
      [denied.status, error.code ?? error.type],
      [403, path === paths.chat ? 'insufficient_scope' : 'permission_error'],
    );
  }
});

test('ends the streams of a token that is deleted', async () => {
  const user = await gatewayUser(app);
  await addModels(user.signedIn, provider, ['hang-3']);
  const response = await user.send(paths.responses, { ...hello.responses, stream: true });
  const reading = response.text();
  await user.signedIn.call('DELETE /api/me/tokens', undefined, { query: { id: user.tokenId } });
  const { response: failed } = eventsOf(await reading).at(-1) ?? {};
  assert.deepEqual([failed.status, failed.error.code], ['failed', 'invalid_api_key']);
  assert.equal((await user.send('/v1/models')).status, 401);
});
