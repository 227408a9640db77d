import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import type { ListedModel } from '@homeport/contracts/catalogue/model-facts';
import { findLocalServers } from '../../src/catalogue/probes/find-servers.ts';
import { testProvider } from '../../src/catalogue/probes/provider-test.ts';
import { createEgress, type Egress } from '../../src/egress/egress.ts';
import { type Json, startTestApp } from '../app.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { type CatalogueTestDeps, catalogueDeps, makeOwner } from './catalogue-makers.ts';

/** Model servers that users run themselves: their detection, and the context window of their models. */

let database: TestDatabase;
let deps: CatalogueTestDeps & { egress: Egress };
let origin: string;
/** Answers by path; an unknown path is a 404. */
let answers: Record<string, (body: Json) => unknown>;
const asked: string[] = [];
const server = createServer(async (request, response) => {
  let text = '';
  for await (const chunk of request) text += chunk;
  asked.push(`${request.method} ${request.url} ${request.headers.authorization ?? ''}`);
  const answer = answers[request.url ?? '']?.(text === '' ? undefined : JSON.parse(text));
  response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
  response.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
});
before(async () => {
  database = await createTestDatabase();
  const egress = createEgress({ allowPrivateEgress: true, allowInsecureHttp: true });
  deps = { ...catalogueDeps(database.database), egress };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  origin = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
});
after(async () => {
  deps.egress.close();
  server.closeAllConnections();
  server.close();
  await database.drop();
});

async function list(baseUrl: string): Promise<Map<string, ListedModel>> {
  asked.length = 0;
  const { signal } = new AbortController();
  const models = await testProvider(deps, makeOwner(), { baseUrl, apiKey: 'sk-local' }, signal);
  return new Map(models.map((model) => [model.id, model]));
}

const ids =
  (owner: string, ...names: string[]) =>
  () => ({
    object: 'list',
    data: names.map((id) => ({ id, object: 'model', owned_by: owner })),
  });
const info = (size: number, ...capabilities: string[]) => ({
  model_info: { 'general.architecture': 'llama', 'llama.context_length': size },
  capabilities,
});

test("Ollama: takes the loaded window, then the configured one, then the model's maximum", async () => {
  const shown: Record<string, object> = {
    loaded: info(131_072, 'completion', 'tools'),
    set: {
      ...info(131_072, 'completion', 'vision', 'thinking'),
      parameters: 'stop "x"\nnum_ctx                        16384\n',
    },
    idle: info(40_960, 'completion'),
    embedder: info(2_048, 'embedding'),
    odd: { model_info: { 'x.context_length': '9' }, capabilities: 'all', parameters: 7 },
  };
  answers = {
    '/v1/models': ids('library', ...Object.keys(shown), 'unknown'),
    '/api/ps': () => ({ models: [{ name: 'loaded', model: 'loaded', context_length: 4_096 }, 'odd', null] }),
    '/api/show': ({ model }) => shown[model],
  };
  const models = await list(`${origin}/v1`);
  const sizes = [...models].map(([id, model]) => [id, model.contextWindow, model.possibleWindow, model.isLoaded]);
  assert.deepEqual(sizes, [
    ['loaded', 4_096, 131_072, true],
    ['set', 16_384, 131_072, true],
    ['idle', 40_960, undefined, false],
    ['embedder', 2_048, undefined, false],
    ['odd', undefined, undefined, undefined],
    ['unknown', undefined, undefined, undefined],
  ]);
  assert.deepEqual(
    [...models].map(([, model]) => model.chat),
    [true, true, true, false, true, true],
  );
  const { images, tools, reasoning } = models.get('set')?.abilities ?? {};
  assert.deepEqual([images, tools, reasoning], [true, false, []]);
  assert.equal(models.get('loaded')?.sources.contextWindow, 'provider');
  assert.ok(
    asked.every((request) => request.endsWith('Bearer sk-local')),
    'the key goes to its own origin only',
  );
});

test('LM Studio: takes the loaded window, recognizes models with vision, and drops those that cannot chat', async () => {
  answers = {
    '/at/v1/models': ids('organization_owner', 'loaded', 'idle', 'vectors'),
    '/at/api/v0/models': () => ({
      data: [
        { id: 'loaded', type: 'vlm', state: 'loaded', max_context_length: 131_072, loaded_context_length: 8_192 },
        { id: 'idle', type: 'llm', state: 'not-loaded', max_context_length: 32_768, loaded_context_length: 1 },
        { id: 'vectors', type: 'embeddings', state: 'not-loaded', max_context_length: 512 },
      ],
    }),
  };
  const models = await list(`${origin}/at/v1/`);
  const sizes = [...models].map(([id, model]) => [
    id,
    model.chat,
    model.contextWindow,
    model.possibleWindow,
    model.isLoaded,
  ]);
  assert.deepEqual(sizes, [
    ['loaded', true, 8_192, 131_072, true],
    ['idle', true, 32_768, undefined, false],
    ['vectors', false, 512, undefined, false],
  ]);
  assert.equal(models.get('loaded')?.abilities.images, true);
});

test('a server without these endpoints, or with invalid answers, keeps its list; others are not asked', async () => {
  answers = { '/v1/models': ids('library', 'a'), '/api/ps': () => 'no json', '/api/show': () => '[]' };
  assert.equal((await list(`${origin}/v1`)).get('a')?.contextWindow, undefined);
  answers = { '/v1/models': ids('somebody', 'a') };
  await list(`${origin}/v1`);
  assert.deepEqual(asked, ['GET /v1/models Bearer sk-local']);
});

test("a server's details about its models can't crash the provider test, and can't lead it to another address", async () => {
  const odd = { toString: 1, valueOf: 1 };
  answers = {
    '/v1/models': ids('library', 'a'),
    '/api/ps': () => ({ models: [{ name: odd, model: odd, context_length: 4_096 }] }),
    '/api/show': () => info(8_192, 'completion'),
  };
  assert.equal((await list(`${origin}/v1`)).get('a')?.contextWindow, 8_192);
  answers = { '/v1/models': () => ({ error: { message: 'x', status: odd } }) };
  await assert.rejects(list(`${origin}/v1`), { code: 'provider_error' });
  // Two slashes would make the first folder another host, which would get the key.
  answers = { '//127.0.0.2/v1/models': ids('library', 'a') };
  await list(`${origin}//127.0.0.2/v1`);
  assert.deepEqual(asked.slice(1).sort(), [
    'GET //127.0.0.2/api/ps Bearer sk-local',
    'POST //127.0.0.2/api/show Bearer sk-local',
  ]);
});

test('asks for the details of a limited number of models', async () => {
  answers = {
    '/v1/models': ids('library', ...Array.from({ length: 500 }, (_, index) => `m${index}`)),
    '/api/ps': () => ({ models: [] }),
    '/api/show': () => info(8_192, 'completion'),
  };
  const models = await list(`${origin}/v1`);
  assert.equal(models.size, 500);
  assert.ok(asked.length < 50, `${asked.length} requests`);
});

test('looks for model servers at their ports on this machine only', async () => {
  const urls: string[] = [];
  const request: Egress['request'] = async (url, init) => {
    urls.push(url);
    const { hostname, port } = new URL(url);
    if (hostname !== 'localhost' || (port !== '11434' && port !== '8000')) throw new Error('Nothing there');
    answers = { '/v1/models': ids('library', 'a', 'b') };
    return deps.egress.request(`${origin}${port === '8000' ? '/nothing' : '/v1/models'}`, init);
  };
  const config = { allowPrivateEgress: true, allowInsecureHttp: true };
  const { signal } = new AbortController();
  const found = await findLocalServers({ egress: { request }, config }, makeOwner(), signal);
  const baseUrl = 'http://localhost:11434/v1';
  assert.deepEqual(found, { allowed: true, servers: [{ name: 'Ollama', baseUrl, models: 2, needsKey: false }] });
  const ports = [11434, 1234, 8000, 8080];
  const places = ['localhost', 'host.docker.internal'].flatMap((host) =>
    ports.map((port) => `http://${host}:${port}/v1/models`),
  );
  assert.deepEqual(urls.toSorted(), places.toSorted());

  const app = await startTestApp({ config: { allowPrivateEgress: false } });
  try {
    const answer = await (await app.signIn()).call('POST /api/providers/find');
    assert.deepEqual([answer.status, answer.body], [200, { allowed: false, servers: [] }]);
    const without = await (await app.signIn({ providerSettingsEnabled: false })).call('POST /api/providers/find');
    assert.equal(without.body.error.code, 'provider_settings_disabled');
  } finally {
    await app.stop();
  }
});
