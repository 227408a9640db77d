import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { McpConnection } from '../../src/mcp/connection/connection.ts';
import { refusedAccess } from '../../src/mcp/connection/failures.ts';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { echoTool, type FakeMcp, type Hook, type RpcMessage, sse, startFakeMcp } from '../fakes/mcp-server.ts';

/**
 * MCP servers that hang, lie, flood or redirect: bounded, with typed errors, and without a request to any other host.
 */

let app: TestApp;
let user: SignedIn;
let canary: Server;
let canaryUrl: string;
let canaryHits = 0;
before(async () => {
  app = await startTestApp();
  user = await app.signIn();
  canary = createServer((_request, response) => {
    canaryHits += 1;
    response.end('{}');
  });
  await new Promise<void>((resolve) => canary.listen(0, '127.0.0.1', resolve));
  canaryUrl = `http://127.0.0.1:${(canary.address() as AddressInfo).port}`;
});
after(async () => {
  await app.stop();
  canary.close();
});

async function withFake<T>(work: (fake: FakeMcp) => Promise<T>): Promise<T> {
  const fake = await startFakeMcp();
  try {
    return await work(fake);
  } finally {
    await fake.close();
  }
}

async function lastErrorOf(fake: FakeMcp, fields: object = {}): Promise<string> {
  const { status, body } = await user.call('POST /api/mcp', { name: 'Fake', url: fake.url, ...fields });
  assert.equal(status, 201);
  const { id, lastError, tools, fingerprint } = body.server;
  assert.deepEqual([tools, fingerprint], [[], null]);
  const tested = await user.call('POST /api/mcp/test', { id });
  assert.deepEqual([tested.status, tested.body.error.code], [502, 'mcp_unreachable']);
  await user.call('DELETE /api/mcp', undefined, { query: { id } });
  assert.equal(typeof lastError, 'string');
  return lastError;
}

const answerWith =
  (status: number, headers: Record<string, string>, body = ''): Hook =>
  (_message, response) => {
    response.writeHead(status, headers).end(body);
    return 'handled';
  };

const events = (body: string): Hook => answerWith(200, { 'content-type': 'text/event-stream' }, body);

/** Answers this method with this result, the others as usual. */
const result =
  (method: string, make: (message: RpcMessage) => unknown): Hook =>
  (message, response) => {
    if (message.method !== method) return undefined;
    const text = JSON.stringify({ jsonrpc: '2.0', id: message.id, result: make(message) });
    response.writeHead(200, { 'content-type': 'application/json' }).end(text);
    return 'handled';
  };

const tool = (fields: object) => ({ ...echoTool, ...fields });
const deep = (levels: number): unknown => (levels === 0 ? {} : { a: deep(levels - 1) });

describe('rejects false answers of a server', () => {
  const lists: [name: string, expected: RegExp, make: (message: RpcMessage) => unknown][] = [
    ['no list at all', /not that of an MCP server/, () => ({ tools: 'many' })],
    ['a tool that is not an object', /not an object/, () => ({ tools: [null] })],
    ['a tool without a name', /tool name is missing/, () => ({ tools: [tool({ name: '' })] })],
    ['a name with half a surrogate pair', /tool name is missing/, () => ({ tools: [tool({ name: 'a\ud800' })] })],
    ['an endless name', /tool name is missing/, () => ({ tools: [tool({ name: 'x'.repeat(300) })] })],
    ['no input schema', /input schema/, () => ({ tools: [{ name: 'a' }] })],
    ['text in place of an object', /not an object/, () => ({ tools: [tool({ annotations: 'safe' })] })],
    ['a definition of a megabyte', /too large/, () => ({ tools: [tool({ description: 'x'.repeat(1_000_000) })] })],
    ['a schema of ten thousand levels', /nested|canonical/, () => ({ tools: [tool({ inputSchema: deep(2_000) })] })],
    [
      'too many tools',
      /more than 500/,
      () => ({ tools: Array.from({ length: 501 }, (_, i) => tool({ name: `t${i}` })) }),
    ],
    [
      'endless pages',
      /too many pages/,
      ({ params }) => ({
        tools: [],
        nextCursor: String(Number(params?.cursor ?? 0) + 1),
      }),
    ],
    ['cyclic pages', /repeats its pages/, () => ({ tools: [], nextCursor: 'again' })],
    ['a description that has no canonical form', /canonical/, () => ({ tools: [tool({ description: '\udfff' })] })],
  ];
  for (const [name, expected, make] of lists) {
    test(name, () =>
      withFake(async (fake) => {
        fake.hook = result('tools/list', make);
        assert.match(await lastErrorOf(fake), expected);
      }),
    );
  }

  const answers: [name: string, expected: RegExp, hook: Hook][] = [
    ['not MCP but a page', /not that of an MCP server/, answerWith(200, { 'content-type': 'text/html' }, '<p>Hi')],
    ['not JSON', /not that of an MCP server/, answerWith(200, { 'content-type': 'application/json' }, '{')],
    ['a request taken without an answer', /not that of an MCP server/, answerWith(202, {})],
    ['a stream that ends without an answer', /not that of an MCP server/, events('')],
    ['a stream of invalid data', /not that of an MCP server/, events('data: rubbish\n\n')],
    [
      'an answer to another request',
      /not that of an MCP server/,
      answerWith(200, { 'content-type': 'application/json' }, '{"jsonrpc":"2.0","id":"other","result":{}}'),
    ],
    [
      'an error for no request',
      /not that of an MCP server/,
      answerWith(
        200,
        { 'content-type': 'application/json' },
        '{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"secret"}}',
      ),
    ],
    ['an error of the server', /HTTP 500/, answerWith(500, {}, 'Traceback: secret')],
    ['a missing page', /HTTP 404/, answerWith(404, {})],
    ['a refusal', /refused access \(HTTP 403\)/, answerWith(403, {})],
    [
      'another protocol version',
      /not that of an MCP server/,
      result('initialize', () => ({
        protocolVersion: '1999-01-01',
        capabilities: {},
        serverInfo: { name: 'x', version: '1' },
      })),
    ],
  ];
  for (const [name, expected, hook] of answers) {
    test(name, () =>
      withFake(async (fake) => {
        fake.hook = hook;
        const text = await lastErrorOf(fake);
        assert.match(text, expected);
        assert.doesNotMatch(text, /secret|<p>/);
      }),
    );
  }
});

test('a call whose answer breaks off fails immediately', { timeout: 300_000 }, () =>
  withFake(async (fake) => {
    fake.hook = (message, response) => {
      if (message.method !== 'tools/call') return undefined;
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(': working\n\n');
      return 'handled';
    };
    const signal = new AbortController().signal;
    const deps = { fetch, version: '1', now: () => 0 };
    const connection = await McpConnection.open(deps, { url: fake.url, transport: 'http', headers: {} }, signal);
    await assert.rejects(connection.call(echoTool, {}, signal));
    connection.close();
  }),
);

for (const transport of ['http', 'sse'] as const) {
  test(`over ${transport}, a refusal during a call states the accepted versions`, () =>
    withFake(async (fake) => {
      const signal = new AbortController().signal;
      const deps = { fetch, version: '1', now: () => 0 };
      const url = transport === 'http' ? fake.url : fake.sseUrl;
      const connection = await McpConnection.open(deps, { url, transport, headers: {} }, signal);
      const headers: Record<string, string> = { 'www-authenticate': 'Bearer scope="more"' };
      fake.gate = async () => ({ status: 401, headers });
      await assert.rejects(connection.call(echoTool, {}, signal), (error) => {
        assert.deepEqual(refusedAccess(error)?.challenge, { scope: 'more' });
        return true;
      });
      connection.close();
    }));
}

test('unknown parts of a result cost little more than their parsing, and do not affect the others', () =>
  withFake(async (fake) => {
    const pieces = [{ type: 'text', text: 'readable' }, { type: 'new' }, ...Array.from({ length: 45_000 }, () => ({}))];
    const json = JSON.stringify(pieces);
    const signal = new AbortController().signal;
    const deps = { fetch, version: '1', now: () => 0 };
    const connection = await McpConnection.open(deps, { url: fake.url, transport: 'http', headers: {} }, signal);
    fake.answer = () => ({ content: pieces });
    const costs = { parsing: 0, calling: 0 };
    // Sums of CPU time of this thread: a single one is measured too coarsely.
    for (let times = 0; times < 10; times += 1) {
      const started = process.threadCpuUsage();
      JSON.parse(json);
      const parsed = process.threadCpuUsage(started);
      const { content } = await connection.call(echoTool, {}, signal);
      const called = process.threadCpuUsage(started);
      costs.parsing += parsed.user + parsed.system;
      costs.calling += called.user + called.system - parsed.user - parsed.system;
      assert.deepEqual(content[0], { type: 'text', text: 'readable' });
    }
    // An explanation of each part would take hundreds of times as much.
    assert.ok(costs.calling < 30 * costs.parsing, `microseconds of CPU: ${JSON.stringify(costs)}`);
    connection.close();
  }));

describe('bounds floods of a server', () => {
  test('pages of large definitions end before they fill the memory', () =>
    withFake(async (fake) => {
      fake.hook = result('tools/list', ({ params }) => ({
        tools: [tool({ name: `t${params?.cursor ?? 0}`, description: 'x'.repeat(1_000_000) })],
        nextCursor: String(Number(params?.cursor ?? 0) + 1),
      }));
      assert.match(await lastErrorOf(fake), /too large/);
      const pages = fake.methods.filter((method) => method === 'tools/list').length;
      assert.ok(pages <= 2 * 10, `${pages} pages in two listings`);
    }));

  test('cuts an endless answer', () =>
    withFake(async (fake) => {
      let sent = 0;
      fake.hook = (message, response) => {
        if (message.method !== 'tools/list') return undefined;
        response.writeHead(200, { 'content-type': 'application/json' });
        const piece = Buffer.alloc(256 * 1024, 'x');
        const push = (): void => {
          while (!response.destroyed && sent < 256 * 1024 * 1024) {
            sent += piece.length;
            if (!response.write(piece)) break;
          }
        };
        response.on('drain', push);
        push();
        return 'handled';
      };
      assert.match(await lastErrorOf(fake), /too large|sent too much/);
      assert.ok(sent < 64 * 1024 * 1024, `${sent} bytes`);
    }));

  for (const [name, piece] of [
    ['an endless line of a stream', 'x'.repeat(64 * 1024)],
    ['endless events', sse({ jsonrpc: '2.0', method: 'notifications/message', params: {} }).repeat(500)],
    ['endless requests', sse({ jsonrpc: '2.0', id: 1, method: 'ping' }).repeat(500)],
  ] as const) {
    test(name, () =>
      withFake(async (fake) => {
        let stopped = 0;
        fake.hook = (message, response) => {
          if (message.method !== 'tools/list') return undefined;
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          const push = (): void => {
            while (!response.destroyed && response.write(piece));
          };
          response.on('drain', push);
          response.on('close', () => {
            stopped += 1;
          });
          push();
          return 'handled';
        };
        const text = await lastErrorOf(fake);
        assert.match(text, /too large|too many|too much|in time|early|not that of/);
        await until(async () => stopped >= 2);
      }),
    );
  }
});

describe('never follows a server to another host', () => {
  test('follows redirects within the origin, and never to another', () =>
    withFake(async (fake) => {
      const { origin } = new URL(fake.url);
      const moved = createServer((request, response) => {
        const to = request.url === '/here' ? '/there' : `${canaryUrl}/mcp`;
        response.writeHead(307, { location: to }).end();
      });
      await new Promise<void>((resolve) => moved.listen(0, '127.0.0.1', resolve));
      const url = `http://127.0.0.1:${(moved.address() as AddressInfo).port}/here`;
      try {
        for (const transport of ['http', 'sse']) {
          assert.match(await lastErrorOf(fake, { url, transport }), /redirects to /);
        }
      } finally {
        moved.close();
      }
      assert.equal(canaryHits, 0);
      assert.ok(origin);
    }));

  test('a 401 that names an authorization address causes no request before a user signs in', () =>
    withFake(async (fake) => {
      for (const transport of ['http', 'sse'] as const) {
        const challenge = `Bearer resource_metadata="${canaryUrl}/.well-known/oauth-protected-resource", error="insufficient_scope"`;
        for (const status of [401, 403]) {
          fake.hook = answerWith(status, { 'www-authenticate': challenge });
          const refusing = createServer((_request, response) => {
            response.writeHead(status, { 'www-authenticate': challenge }).end();
          });
          await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve));
          const url = `http://127.0.0.1:${(refusing.address() as AddressInfo).port}/x`;
          const error = await lastErrorOf(fake, { url, transport });
          assert.match(error, status === 401 ? /asks you to sign in/ : /wants more access/);
          refusing.closeAllConnections();
          refusing.close();
        }
      }
      assert.equal(canaryHits, 0);
    }));

  test('refuses an endpoint event of another origin', async () => {
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`event: endpoint\ndata: ${canaryUrl}/messages\n\n`);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/sse`;
    const { body } = await user.call('POST /api/mcp', { name: 'Else', url, transport: 'sse' });
    assert.match(body.server.lastError, /could not be used/);
    assert.equal(canaryHits, 0);
    server.closeAllConnections();
    server.close();
  });

  test("refuses a server's requests: no sampling, no elicitation, no roots", () =>
    withFake(async (fake) => {
      const replies: unknown[] = [];
      fake.hook = (message, response) => {
        if (message.method === undefined) replies.push(message);
        if (message.method !== 'tools/list') return undefined;
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        for (const method of ['sampling/createMessage', 'elicitation/create', 'roots/list']) {
          response.write(sse({ jsonrpc: '2.0', id: method, method, params: {} }));
        }
        response.end(sse({ jsonrpc: '2.0', id: message.id, result: { tools: [echoTool] } }));
        return 'handled';
      };
      const { body } = await user.call('POST /api/mcp', { name: 'Asks', url: fake.url });
      assert.equal(body.server.lastError, null);
      await until(async () => replies.length === 3);
      assert.ok(replies.every((reply) => JSON.stringify(reply).includes('"error"')));
    }));
});

test('a server that hangs at any point costs only its timeout', { timeout: 300_000 }, () =>
  withFake(async (fake) => {
    const hang =
      (method: string): Hook =>
      (message) =>
        message.method === method ? 'handled' : undefined;
    await Promise.all(
      ['initialize', 'tools/list'].map(async (method) => {
        const own = await startFakeMcp();
        own.hook = hang(method);
        const { body } = await user.call('POST /api/mcp', { name: 'Hangs', url: own.url });
        assert.match(body.server.lastError, /in time/);
        await own.close();
      }),
    );
    // The question for the newest protocol can hang as well: older servers are reached nevertheless.
    fake.hook = hang('server/discover');
    const { body } = await user.call('POST /api/mcp', { name: 'Old', url: fake.url });
    assert.equal(body.server.lastError, null);
    assert.equal(body.server.tools.length, 1);
  }),
);

test('two users with the same server never get each other’s answers', () =>
  withFake(async (fake) => {
    fake.answer = ({ input, headers }) => ({
      content: [{ type: 'text', text: `${headers['x-user']} ${JSON.stringify(input)}` }],
    });
    const { mcp, db } = app.service.deps;
    const people = await Promise.all(
      ['ada', 'bob'].map(async (name) => {
        const person = await app.signIn();
        const made = await person.call('POST /api/mcp', { name: 'Same', url: fake.url, headers: { 'x-user': name } });
        const { id } = made.body.server;
        const row = await db.kysely
          .selectFrom('mcp_servers')
          .selectAll()
          .where('id', '=', id)
          .executeTakeFirstOrThrow();
        return { name, row };
      }),
    );
    const { signal } = new AbortController();
    const answers = await Promise.all(
      Array.from({ length: 500 }, async (_, index) => {
        const { name, row } = people[index % 2] ?? assert.fail();
        const connection = await mcp.open(row);
        const result = await connection.call(echoTool, { index }, signal);
        return { expected: `${name} {"index":${index}}`, got: JSON.stringify(result.content) };
      }),
    );
    for (const { expected, got } of answers) assert.ok(JSON.parse(got)[0].text === expected, `${expected}: ${got}`);
  }));

test('closes idle connections, and limits their number', async () => {
  const { McpConnections } = await import('../../src/mcp/connection/connections.ts');
  const { db, egress, secrets, clock, config } = app.service.deps;
  const connections = new McpConnections(
    { db, egress, secrets, clock, config, openProgram: () => assert.fail() },
    { idleMs: 50 },
  );
  await withFake(async (fake) => {
    const server = {
      owner_id: 'o',
      revision: 1,
      url: fake.url,
      transport: 'http' as const,
      headers: null,
      connection: 'none' as const,
      command: null,
      args: null,
      env: null,
    };
    for (let index = 0; index < 60; index += 1) await connections.list({ ...server, id: `s${index}` });
    assert.ok(connections.size <= 50);
    await until(async () => connections.size === 0);
    await until(async () => fake.openStreams() === 0);
  });
  connections.close();
});
