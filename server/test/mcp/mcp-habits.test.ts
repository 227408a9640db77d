import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { until } from '../../../contracts/test/until.ts';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { createChat } from '../chat/chat-harness.ts';
import { type FakeMcp, type RpcMessage, startFakeMcp } from '../fakes/mcp-server.ts';

/** Habits of MCP servers in the field, over HTTP: each is either used or refused with what to do about it. */

let app: TestApp;
before(async () => {
  app = await startTestApp();
});
after(() => app.stop());

type Intercept = NonNullable<FakeMcp['intercept']>;
type Habit = { fake: FakeMcp; user: SignedIn };

async function withFake(work: (habit: Habit) => Promise<void>): Promise<void> {
  const fake = await startFakeMcp();
  try {
    await work({ fake, user: await app.signIn() });
  } finally {
    await fake.close();
  }
}

async function add({ user, fake }: Habit, fields: object = {}) {
  const { body } = await user.call('POST /api/mcp', { name: 'Habit', url: fake.url, ...fields });
  return body.server;
}

async function trusted(habit: Habit, fields: object = {}): Promise<string> {
  const { id, fingerprint, lastError } = await add(habit, fields);
  assert.equal(lastError, null);
  await habit.user.call('POST /api/mcp/trust', { id, fingerprint });
  return id;
}

/** The tools of a turn, and the notices about servers that are left out. */
async function beginTurn(user: SignedIn) {
  const { findMcpTools } = await import('../../src/mcp/turn-tools.ts');
  const notices: string[] = [];
  const request = { ownerId: user.id, chatId: await createChat(user), serverIds: null };
  const tools = await findMcpTools(app.service.deps, request, ({ code }) => notices.push(code));
  return { tools, notices };
}

async function callEcho(user: SignedIn, signal = new AbortController().signal): Promise<string> {
  const { tools, notices } = await beginTurn(user);
  const [tool] = tools;
  assert.ok(tool, notices.join());
  return JSON.stringify(await tool.call({ text: 'hi' }, signal));
}

/** Changes how the JSON responses to requests are written. */
function writeAs(fake: FakeMcp, write: (response: ServerResponse, json: string) => void): Intercept {
  const answers: Record<string, unknown> = {
    initialize: {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'habit', version: '1' },
    },
    'tools/list': { tools: fake.tools },
    'tools/call': { content: [{ type: 'text', text: 'héllo 世界' }] },
  };
  return (_request, response, body) => {
    const { id, method = '' }: RpcMessage = body === '' ? { jsonrpc: '2.0' } : JSON.parse(body);
    const result = answers[method];
    if (id === undefined || result === undefined) response.writeHead(id === undefined ? 202 : 404).end();
    else write(response, JSON.stringify({ jsonrpc: '2.0', id, result }));
    return 'handled';
  };
}

const written: [habit: string, write: (response: ServerResponse, json: string) => void][] = [
  [
    'an event stream whose last event has no blank line',
    (response, json) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${json}`),
  ],
  [
    'an event stream whose last event ends with one line feed',
    (response, json) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${json}\n`),
  ],
  [
    'compressed responses',
    (response, json) =>
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(gzipSync(json)),
  ],
  ['no content type', (response, json) => response.writeHead(200).end(json)],
  [
    'JSON under a name of its own',
    (response, json) => response.writeHead(200, { 'content-type': 'application/json-rpc; charset=utf-8' }).end(json),
  ],
  ['JSON as plain text', (response, json) => response.writeHead(200, { 'content-type': 'text/plain' }).end(json)],
  [
    'JSON with a byte order mark',
    (response, json) => response.writeHead(200, { 'content-type': 'application/json' }).end(`\ufeff${json}`),
  ],
];
for (const [habit, write] of written) {
  test(`uses a server with ${habit}`, () =>
    withFake(async (scene) => {
      scene.fake.intercept = writeAs(scene.fake, write);
      await trusted(scene);
      assert.match(await callEcho(scene.user), /héllo 世界/);
    }));
}

test('Stop tells the server that the call is canceled', () =>
  withFake(async (scene) => {
    const { fake, user } = scene;
    await trusted(scene);
    const stop = new AbortController();
    let called: RpcMessage['id'];
    const canceled: unknown[] = [];
    fake.hook = ({ method, id, params }) => {
      if (method === 'notifications/cancelled') canceled.push(params?.requestId);
      if (method !== 'tools/call') return undefined;
      called = id;
      stop.abort(new Error('stopped'));
      return 'handled';
    };
    await assert.rejects(callEcho(user, stop.signal));
    await until(async () => canceled.length > 0);
    assert.deepEqual(canceled, [called]);
  }));

for (const [place, refusal] of [
  ['405', 405],
  ['404', 404],
  ['400', 400],
] as const) {
  test(`an SSE address entered as http is used as SSE (POST answers ${place})`, () =>
    withFake(async (scene) => {
      const { fake, user } = scene;
      fake.intercept = ({ method, url }, response) => {
        if (method !== 'POST' || url !== '/sse') return undefined;
        response.writeHead(refusal).end();
        return 'handled';
      };
      await trusted(scene, { url: fake.sseUrl });
      assert.match(await callEcho(user), /echo/);
    }));
}

test('an address without an MCP server gets a hint about the address', () =>
  withFake(async (scene) => {
    for (const [status, expected] of [
      [404, /HTTP 404.*check its path/],
      [405, /HTTP 405.*check its path/],
    ] as const) {
      scene.fake.intercept = (_request, response) => {
        response.writeHead(status).end();
        return 'handled';
      };
      assert.match((await add(scene)).lastError, expected);
    }
  }));

test('an SSE server that names another origin is refused with both origins', () =>
  withFake(async (scene) => {
    const { fake } = scene;
    fake.intercept = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('event: endpoint\ndata: http://internal.example:8000/messages?session=1\n\n');
      return 'handled';
    };
    const { lastError } = await add(scene, { url: fake.sseUrl, transport: 'sse' });
    assert.match(lastError, /messages to http:\/\/internal\.example:8000/);
    assert.match(lastError, /public address/);
  }));

for (const [status, to, expected] of [
  [301, '/new/mcp?key=hidden', /redirects to (http:\/\/127\.0\.0\.1:\d+\/new\/mcp)\. /],
  [302, '/login', /redirects to (http:\/\/127\.0\.0\.1:\d+\/login)\. /],
  [307, 'https://user:secret@mcp.example.org/mcp', /redirects to (https:\/\/mcp\.example\.org\/mcp)\. /],
  [308, 'https://mcp.example.org/mcp', /redirects to (https:\/\/mcp\.example\.org\/mcp)\. /],
] as const) {
  for (const transport of ['http', 'sse']) {
    test(`over ${transport}, a redirect with ${status} that is not followed names its target`, () =>
      withFake(async (scene) => {
        const { fake } = scene;
        fake.intercept = ({ url }, response) => {
          const isThere = url?.startsWith('/new/mcp') === true || url === '/login';
          response.writeHead(isThere ? 404 : status, { location: to }).end();
          return 'handled';
        };
        const { lastError } = await add(scene, { transport });
        // The stream of the older transport is read by GET, whose redirects within the origin are followed.
        if (transport === 'sse' && to.startsWith('/')) assert.match(lastError, /HTTP 404/);
        else assert.match(lastError, expected);
        assert.doesNotMatch(lastError, /hidden|secret/);
      }));
  }
}

for (const status of [400, 401, 404, 409, 200]) {
  test(`renews a session that the server has lost in the same turn (it answers ${status})`, () =>
    withFake(async (scene) => {
      const { fake, user } = scene;
      await trusted(scene);
      fake.streams = false;
      app.service.deps.mcp.drop((await user.call('GET /api/mcp')).body.servers[0].id);
      await callEcho(user);
      const lost = fake.headersSeen.at(-1)?.['mcp-session-id'];
      assert.ok(lost);
      let refused = 0;
      fake.intercept = ({ headers }: IncomingMessage, response, body) => {
        if (headers['mcp-session-id'] !== lost) return undefined;
        refused += 1;
        const { id }: RpcMessage = body === '' ? { jsonrpc: '2.0' } : JSON.parse(body);
        const error = { code: -32000, message: 'Bad Request: No valid session ID provided' };
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ jsonrpc: '2.0', id: status === 200 ? id : null, error }));
        return 'handled';
      };
      assert.match(await callEcho(user), /echo/);
      assert.equal(refused, 1);
    }));
}
