import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { agreeAt } from '../accounts/oidc/sign-in-pages.ts';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { protect, startAuthorizationServer } from '../fakes/authorization-server.ts';
import { type FakeMcp, startFakeMcp } from '../fakes/mcp-server.ts';

/** Hostile authorization servers, and concurrent refreshes: no code, token or secret is sent to the wrong party. */

let app: TestApp;
before(async () => {
  app = await startTestApp();
});
after(() => app.stop());

/** An authorization server with scripted answers, which records its requests. */
async function startHostileServer() {
  const seen: { path: string; body: string; authorization: string | undefined }[] = [];
  const documents: Record<string, unknown> = {};
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const path = request.url ?? '/';
    if (request.method === 'POST') seen.push({ path, body, authorization: request.headers.authorization });
    const document = documents[path];
    if (typeof document === 'function') return document(response);
    response.writeHead(document === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(document ?? {}));
  };
  const server: Server = createServer((request, response) => void serve(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const metadata = {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    registration_endpoint: `${issuer}/register`,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
    authorization_response_iss_parameter_supported: true,
  };
  documents['/.well-known/oauth-authorization-server'] = metadata;
  documents['/register'] = { client_id: 'liar-client', redirect_uris: [`${app.url}/api/mcp/oauth/callback`] };
  documents['/token'] = { access_token: 'liar-token', token_type: 'Bearer', expires_in: 3600 };
  return {
    issuer,
    metadata,
    documents,
    seen,
    accepts: async () => undefined,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
type HostileServer = Awaited<ReturnType<typeof startHostileServer>>;

async function withHostileServer(
  work: (hostile: HostileServer, fake: FakeMcp, user: SignedIn, id: string) => Promise<void>,
): Promise<void> {
  const [hostile, fake, user] = await Promise.all([startHostileServer(), startFakeMcp(), app.signIn()]);
  try {
    protect(fake, hostile);
    const { body } = await user.call('POST /api/mcp', { name: 'Liar', url: fake.url });
    await work(hostile, fake, user, body.server.id);
  } finally {
    hostile.close();
    await fake.close();
  }
}

const refusals: [name: string, attack: (hostile: HostileServer, fake: FakeMcp) => void][] = [
  [
    'another issuer',
    ({ documents, metadata }) => serveMetadata(documents, { ...metadata, issuer: 'https://other.example' }),
  ],
  [
    'no PKCE',
    ({ documents, metadata: { code_challenge_methods_supported: _, ...rest } }) => serveMetadata(documents, rest),
  ],
  [
    'plain PKCE',
    ({ documents, metadata }) => serveMetadata(documents, { ...metadata, code_challenge_methods_supported: ['plain'] }),
  ],
  [
    'a script to open',
    ({ documents, metadata }) =>
      serveMetadata(documents, { ...metadata, authorization_endpoint: 'javascript:alert(1)' }),
  ],
  [
    'a file to open',
    ({ documents, metadata }) =>
      serveMetadata(documents, { ...metadata, authorization_endpoint: 'file:///etc/passwd' }),
  ],
  [
    'a page of the cloud to open',
    ({ documents, metadata }) =>
      serveMetadata(documents, { ...metadata, authorization_endpoint: 'http://169.254.169.254/latest' }),
  ],
  [
    'a registration at a metadata service',
    ({ documents, metadata }) =>
      serveMetadata(documents, { ...metadata, registration_endpoint: 'http://169.254.169.254/r' }),
  ],
  [
    'oversize metadata',
    ({ documents, metadata }) => serveMetadata(documents, { ...metadata, filler: 'x'.repeat(200_000) }),
  ],
  ['endless nesting', ({ documents, metadata }) => serveMetadata(documents, { ...metadata, filler: nested(500) })],
  [
    'a page with a password to open',
    ({ documents, metadata, issuer }) =>
      serveMetadata(documents, { ...metadata, authorization_endpoint: issuer.replace('//', '//me:secret@') }),
  ],
  [
    'a list in place of an address',
    ({ documents, metadata, issuer }) => serveMetadata(documents, { ...metadata, token_endpoint: [`${issuer}/token`] }),
  ],
  [
    'an HTML page as metadata',
    ({ documents }) => {
      documents['/.well-known/oauth-authorization-server'] = (response: ServerResponse) =>
        response.end('<h1>Hello</h1>');
    },
  ],
  [
    'metadata that redirects to a metadata service',
    ({ documents }) => {
      documents['/.well-known/oauth-authorization-server'] = (response: ServerResponse) =>
        response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end();
    },
  ],
  [
    'a registration without an id',
    ({ documents }) => {
      documents['/register'] = { client_id: '', redirect_uris: [] };
    },
  ],
  [
    'a registration with an endless id',
    ({ documents }) => {
      documents['/register'] = { client_id: 'x'.repeat(10_000), redirect_uris: [] };
    },
  ],
  ['a resource description at a metadata service', (_liar, fake) => challenge(fake, 'http://169.254.169.254/resource')],
  ['a resource description in a file', (_liar, fake) => challenge(fake, 'file:///etc/passwd')],
  [
    'an authorization server that is a script',
    (_liar, fake) => describeResource(fake, { authorization_servers: ['javascript:alert(1)'] }),
  ],
  [
    'a resource of the same name at another port',
    (_liar, fake) => describeResource(fake, { resource: fake.url.replace(/:\d+/, ':1') }),
  ],
  ['a resource beside the server', (_liar, fake) => describeResource(fake, { resource: `${fake.url}-other` })],
  [
    'a redirected registration',
    ({ documents, issuer }) => {
      documents['/register'] = (response: ServerResponse) =>
        response.writeHead(307, { location: `${issuer}/elsewhere` }).end();
    },
  ],
  ['a resource of another party', (_liar, fake) => describeResource(fake, { resource: 'https://bank.example/mcp' })],
  [
    'a forbidden authorization server',
    (_liar, fake) => describeResource(fake, { authorization_servers: ['http://169.254.169.254'] }),
  ],
];

for (const [name, attack] of refusals) {
  test(`refuses before the user leaves: ${name}`, () =>
    withHostileServer(async (hostile, fake, user, id) => {
      attack(hostile, fake);
      const { status, body, text } = await user.call('POST /api/mcp/connect', { id });
      assert.ok(['mcp_unreachable', 'blocked_destination'].includes(body.error.code), text);
      assert.ok(status === 502 || status === 400, text);
      assert.deepEqual(
        hostile.seen.filter(({ path }) => path !== '/register'),
        [],
      );
    }));
}

const leaks: [name: string, attack: (hostile: HostileServer, canary: HostileServer) => void][] = [
  [
    'redirects the code elsewhere',
    ({ documents }, canary) => {
      documents['/token'] = (response: ServerResponse) =>
        response.writeHead(307, { location: `${canary.issuer}/token` }).end();
    },
  ],
  [
    'is at a metadata service',
    ({ documents, metadata }) =>
      serveMetadata(documents, { ...metadata, token_endpoint: 'http://169.254.169.254/token' }),
  ],
  [
    'answers with a page',
    ({ documents }) => {
      documents['/token'] = (response: ServerResponse) => response.end('<h1>Hello</h1>');
    },
  ],
  [
    'answers endlessly',
    ({ documents }) => {
      documents['/token'] = { access_token: 'a', token_type: 'Bearer', filler: 'x'.repeat(200_000) };
    },
  ],
];

const endpoints = ['token', 'registration', 'revocation'] as const;
for (const kind of endpoints) {
  test(`metadata from another origin can't name a ${kind} endpoint there`, () =>
    withHostileServer(async (hostile, _fake, user, id) => {
      const other = await startHostileServer();
      const path = '/.well-known/oauth-authorization-server';
      other.documents[path] = { ...hostile.metadata, [`${kind}_endpoint`]: `${other.issuer}/${kind}` };
      hostile.documents[path] = (response: ServerResponse) =>
        response.writeHead(302, { location: other.issuer + path }).end();
      const { status, body, text } = await user.call('POST /api/mcp/connect', { id });
      assert.deepEqual([status, body.error?.details.reason], [502, 'endpoint'], text);
      assert.deepEqual([...hostile.seen, ...other.seen], []);
      other.close();
    }));
}

test('an issuer can name a token endpoint at another origin in its own metadata', () =>
  withHostileServer(async (hostile, _fake, user, id) => {
    const other = await startHostileServer();
    serveMetadata(hostile.documents, { ...hostile.metadata, token_endpoint: `${other.issuer}/token` });
    const begun = await user.call('POST /api/mcp/connect', { id });
    const state = new URL(begun.body.authorizeUrl).searchParams.get('state') ?? '';
    const query = new URLSearchParams({ code: 'c', state, iss: hostile.issuer });
    await user.fetch(`/api/mcp/oauth/callback?${query}`);
    assert.deepEqual(
      other.seen.map(({ path }) => path),
      ['/token'],
    );
    other.close();
  }));

for (const [name, attack] of leaks) {
  test(`a token endpoint that ${name} ends the sign-in`, () =>
    withHostileServer(async (hostile, fake, user, id) => {
      const canary = await startHostileServer();
      attack(hostile, canary);
      const begun = await user.call('POST /api/mcp/connect', { id });
      const state = new URL(begun.body.authorizeUrl).searchParams.get('state') ?? '';
      const query = new URLSearchParams({ code: 'precious', state, iss: hostile.issuer });
      const back = await user.fetch(`/api/mcp/oauth/callback?${query}`);
      assert.equal(back.headers.get('location'), '/settings/tools?error=mcp_failed');
      assert.deepEqual(canary.seen, []);
      assert.ok(fake.headersSeen.every(({ authorization }) => authorization === undefined));
      canary.close();
    }));
}

test("an authorization page with parameters of its own gets Homeport's, each once", () =>
  withHostileServer(async (hostile, _fake, user, id) => {
    const own =
      'redirect_uri=https://evil.example&state=known&client_id=evil&code_challenge=weak&code_challenge_method=plain';
    serveMetadata(hostile.documents, {
      ...hostile.metadata,
      authorization_endpoint: `${hostile.issuer}/authorize?${own}`,
    });
    const { body, text } = await user.call('POST /api/mcp/connect', { id });
    const { searchParams } = new URL(body.authorizeUrl);
    assert.deepEqual(searchParams.getAll('redirect_uri'), [`${app.url}/api/mcp/oauth/callback`], text);
    assert.deepEqual(searchParams.getAll('client_id'), ['liar-client']);
    assert.deepEqual(searchParams.getAll('code_challenge_method'), ['S256']);
    for (const parameter of ['state', 'code_challenge']) {
      assert.equal(searchParams.getAll(parameter).length, 1, parameter);
      assert.ok((searchParams.get(parameter) ?? '').length >= 43, parameter);
    }
  }));

test('a signed-in server that redirects elsewhere carries no token along', () =>
  withHostileServer(async (hostile, fake, user, id) => {
    const canary = await startHostileServer();
    const begun = await user.call('POST /api/mcp/connect', { id });
    const state = new URL(begun.body.authorizeUrl).searchParams.get('state') ?? '';
    let redirected = 0;
    const elsewhere: Record<string, string> = { location: `${canary.issuer}/mcp` };
    const needed: Record<string, string> = { 'www-authenticate': 'Bearer' };
    fake.gate = async ({ authorization }) => {
      if (authorization !== 'Bearer liar-token') return { status: 401, headers: needed };
      redirected += 1;
      return { status: 307, headers: elsewhere };
    };
    const query = new URLSearchParams({ code: 'c', state, iss: hostile.issuer });
    const back = await user.fetch(`/api/mcp/oauth/callback?${query}`);
    assert.equal(back.headers.get('location'), `/settings/tools?mcp=${id}`);
    assert.ok(redirected > 0);
    assert.deepEqual(canary.seen, []);
    canary.close();
  }));

test('redeems no code of an answer that names another issuer, or none', () =>
  withHostileServer(async (hostile, _fake, user, id) => {
    for (const iss of ['https://other.example', `${hostile.issuer}/`, undefined]) {
      const begun = await user.call('POST /api/mcp/connect', { id });
      const state = new URL(begun.body.authorizeUrl).searchParams.get('state') ?? '';
      const answer = new URLSearchParams({ code: 'precious', state, ...(iss === undefined ? {} : { iss }) });
      const back = await user.fetch(`/api/mcp/oauth/callback?${answer}`);
      assert.equal(back.headers.get('location'), '/settings/tools?error=mcp_failed');
    }
    assert.deepEqual(
      hostile.seen.filter(({ path }) => path === '/token'),
      [],
    );
  }));

test('sends a given secret only to the issuer where it was first used', () =>
  withHostileServer(async (hostile, fake, user, id) => {
    await user.call('PATCH /api/mcp', { id, clientId: 'mine', clientSecret: 'precious-secret' });
    const begun = await user.call('POST /api/mcp/connect', { id });
    const state = new URL(begun.body.authorizeUrl).searchParams.get('state') ?? '';
    const answer = new URLSearchParams({ code: 'c', state, iss: hostile.issuer });
    const back = await user.fetch(`/api/mcp/oauth/callback?${answer}`);
    assert.equal(back.headers.get('location'), `/settings/tools?mcp=${id}`);
    const other = await startHostileServer();
    protect(fake, other);
    const moved = await user.call('POST /api/mcp/connect', { id });
    assert.deepEqual([moved.status, moved.body.error.details.reason], [502, 'issuer']);
    assert.deepEqual(other.seen, []);
    other.close();
  }));

test('refuses tokens that no header can carry, and sends a token to no other origin', () =>
  withHostileServer(async (hostile, _fake, user, id) => {
    for (const answer of [
      { access_token: 'a\r\nx-injected: 1', token_type: 'Bearer' },
      { access_token: '', token_type: 'Bearer' },
      { access_token: 'a', token_type: 'mac' },
      { access_token: 'x'.repeat(20_000), token_type: 'Bearer' },
      { error: 'invalid_grant', error_description: 'precious' },
    ]) {
      hostile.documents['/token'] = answer;
      const begun = await user.call('POST /api/mcp/connect', { id });
      const state = new URL(begun.body.authorizeUrl).searchParams.get('state') ?? '';
      const query = new URLSearchParams({ code: 'c', state, iss: hostile.issuer });
      const back = await user.fetch(`/api/mcp/oauth/callback?${query}`);
      assert.equal(
        back.headers.get('location'),
        '/settings/tools?error=mcp_failed',
        JSON.stringify(answer).slice(0, 80),
      );
    }
  }));

test('private addresses are closed here too: nothing is called, nothing is opened', async () => {
  const closed = await startTestApp({ config: { allowPrivateEgress: false }, database: app.database });
  try {
    await withHostileServer(async (hostile, _fake, user, id) => {
      const before = hostile.seen.length;
      const there = { ...user, fetch: (path: string, init?: RequestInit) => fetch(closed.url + path, init) };
      const response = await there.fetch('/api/mcp/connect', {
        method: 'POST',
        headers: { 'content-type': 'application/json', cookie: user.cookie ?? '' },
        body: JSON.stringify({ id }),
      });
      assert.equal(response.status, 400, await response.text());
      assert.equal(hostile.seen.length, before);
    });
  } finally {
    await closed.stop();
  }
});

const rounds = Number(process.env.MCP_REFRESH_ROUNDS ?? 12);

test(`refreshes a token once, whichever of three replicas needs it first (${rounds} times)`, async () => {
  const replicas = [app];
  for (let index = 0; index < 2; index += 1) replicas.push(await startTestApp({ database: app.database }));
  const authority = await startAuthorizationServer({ registers: true });
  const fake = await startFakeMcp();
  try {
    const tokens = protect(fake, authority);
    const user = await app.signIn();
    const { body } = await user.call('POST /api/mcp', { name: 'Notes', url: fake.url });
    const { id } = body.server;
    const begun = await user.call('POST /api/mcp/connect', { id });
    const back = await agreeAt(app.url, begun.body.authorizeUrl, 'grace');
    assert.equal((await user.fetch(back.replace(app.url, ''))).headers.get('location'), `/settings/tools?mcp=${id}`);
    const { getOwnedMcpServer } = await import('../../src/mcp/servers.ts');
    const { McpTokens } = await import('../../src/mcp/oauth/grants.ts');
    const row = await getOwnedMcpServer(app.service.deps.db.kysely, user.id, id);
    let last = tokens.at(-1) ?? '';
    for (let round = 0; round < rounds; round += 1) {
      const readers = replicas.flatMap(({ service }) => [new McpTokens(service.deps), new McpTokens(service.deps)]);
      const read = await Promise.all(readers.map((reader) => reader.read(row, last)));
      const [first] = read;
      assert.ok(first !== undefined && first.token !== last);
      assert.deepEqual(new Set(read.map((each) => each?.token)).size, 1);
      last = first.token;
    }
    assert.equal(authority.grants.filter((type) => type === 'refresh_token').length, rounds);
    assert.equal((await user.call('POST /api/mcp/test', { id })).status, 200, 'the last token works');
  } finally {
    authority.close();
    await fake.close();
    for (const replica of replicas.slice(1)) await replica.stop();
  }
});

function serveMetadata(documents: Record<string, unknown>, metadata: object): void {
  documents['/.well-known/oauth-authorization-server'] = metadata;
}

/** Sets the MCP server's own description as a resource. */
function describeResource(fake: FakeMcp, fields: object): void {
  const path = '/.well-known/oauth-protected-resource/mcp';
  fake.documents[path] = { ...(fake.documents[path] as object), ...fields };
}

/** The MCP server refuses everything and names this address as its description. */
function challenge(fake: FakeMcp, address: string): void {
  fake.documents = {};
  const headers = { 'www-authenticate': `Bearer resource_metadata="${address}"` };
  fake.gate = async () => ({ status: 401, headers });
}

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
}
