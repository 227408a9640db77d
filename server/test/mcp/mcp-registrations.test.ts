import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { after, before, test } from 'node:test';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { type FakeMcp, startFakeMcp } from '../fakes/mcp-server.ts';

/** Authorization servers that refuse, lose or hide the registration of this installation. */

const home = 'https://chat.example.org';
let app: TestApp;
before(async () => {
  app = await startTestApp({ config: { baseUrl: home } });
});
after(() => app.stop());

type Authority = {
  issuer: string;
  /** Ids of the clients that it knows. */
  clients: Set<string>;
  /** Answers a registration, or undefined to accept it. */
  refuse: (() => { status: number; body: string }) | undefined;
  /** Status of the page for an unknown client. */
  strangerStatus: number;
  registered: number;
};

/** An authorization server whose memory of clients a test can change. */
async function withAuthority(
  work: (setting: { fake: FakeMcp; authority: Authority; user: SignedIn; id: string }) => Promise<void>,
  challenge: Record<string, string> = {},
): Promise<void> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const issuer = `http://127.0.0.1:${address.port}`;
  const authority: Authority = { issuer, clients: new Set(), refuse: undefined, strangerStatus: 400, registered: 0 };
  server.on('request', (request, response) => answer(authority, request, response));
  const fake = await startFakeMcp();
  try {
    fake.documents['/.well-known/oauth-protected-resource/mcp'] = {
      resource: fake.url,
      authorization_servers: [issuer],
    };
    fake.gate = async ({ authorization = '' }) =>
      authorization === 'Bearer good' ? undefined : { status: 401, headers: challenge };
    const user = await app.signIn();
    const { body } = await user.call('POST /api/mcp', { name: 'Notes', url: fake.url });
    await work({ fake, authority, user, id: body.server.id });
  } finally {
    server.closeAllConnections();
    server.close();
    await fake.close();
  }
}

function answer(authority: Authority, request: IncomingMessage, response: ServerResponse): void {
  const { issuer, clients } = authority;
  const url = new URL(request.url ?? '/', issuer);
  const json = (status: number, body: unknown) =>
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(typeof body === 'string' ? body : JSON.stringify(body));
  if (url.pathname === '/.well-known/oauth-authorization-server') {
    return void json(200, {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      registration_endpoint: `${issuer}/register`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
    });
  }
  if (url.pathname === '/register') {
    authority.registered += 1;
    const refusal = authority.refuse?.();
    if (refusal !== undefined) return void json(refusal.status, refusal.body);
    const id = `client-${authority.registered}`;
    clients.add(id);
    return void json(201, { client_id: id, redirect_uris: [`${home}/api/mcp/oauth/callback`] });
  }
  if (url.pathname === '/authorize') {
    if (clients.has(url.searchParams.get('client_id') ?? '')) return void response.writeHead(200).end('Sign in');
    return void json(authority.strangerStatus, { message: 'Unrecognized client_id' });
  }
  if (url.pathname === '/token') return void json(401, { error: 'invalid_client' });
  json(404, {});
}

async function begin(user: SignedIn, id: string): Promise<URL> {
  const { status, body, text } = await user.call('POST /api/mcp/connect', { id });
  assert.equal(status, 200, text);
  return new URL(body.authorizeUrl);
}

const clientOf = (url: URL) => url.searchParams.get('client_id');

test('sign-in registers again where the registration is no longer known', () =>
  withAuthority(async ({ authority, user, id }) => {
    assert.equal(clientOf(await begin(user, id)), 'client-1');
    assert.equal(clientOf(await begin(user, id)), 'client-1', 'a known registration is used again');
    authority.clients.clear();
    assert.equal(clientOf(await begin(user, id)), 'client-2');
    assert.equal(clientOf(await begin(user, id)), 'client-2');
  }));

test('signing out forgets the registration', () =>
  withAuthority(async ({ authority, user, id }) => {
    authority.strangerStatus = 200;
    await begin(user, id);
    authority.clients.clear();
    assert.equal(clientOf(await begin(user, id)), 'client-1', 'a page that answers 200 does not reveal it');
    assert.equal((await user.call('DELETE /api/mcp/connect', undefined, { query: { id } })).status, 200);
    assert.equal(clientOf(await begin(user, id)), 'client-2');
  }));

test('a registration that the token endpoint does not know is made again', () =>
  withAuthority(async ({ user, id }) => {
    const url = await begin(user, id);
    const back = `/api/mcp/oauth/callback?code=x&state=${url.searchParams.get('state')}`;
    const landed = await user.fetch(back);
    assert.equal(landed.headers.get('location'), '/settings/tools?error=mcp_failed');
    assert.equal(clientOf(await begin(user, id)), 'client-2');
  }));

test('a refused registration gives the reason of the authorization server', () =>
  withAuthority(async ({ authority, user, id }) => {
    const bodies: [string, RegExp][] = [
      [
        JSON.stringify({ error: 'invalid_redirect_uri', error_description: 'Only\r\n\u0000https://*.example.com.' }),
        /did not register this installation: “Only https:\/\/\*\.example\.com” \(HTTP 403\)\./,
      ],
      [JSON.stringify({ message: 'Ask your administrator' }), /“Ask your administrator” \(HTTP 403\)/],
      ['<html>no</html>', /this installation: HTTP 403\./],
      [JSON.stringify({ error: 'x'.repeat(100_000) }), /“x{300}”/],
      ['[1]', /HTTP 403/],
    ];
    for (const [body, expected] of bodies) {
      authority.refuse = () => ({ status: 403, body });
      const answered = await user.call('POST /api/mcp/connect', { id });
      assert.deepEqual([answered.status, answered.body.error.code], [502, 'mcp_unreachable']);
      assert.equal(answered.body.error.details.reason, 'registration');
      assert.match(answered.body.error.message, expected);
    }
  }));

test('a server that answers 401 without a challenge offers the sign-in that it describes', () =>
  withAuthority(async ({ fake, user, id }) => {
    const { body } = await user.call('GET /api/mcp');
    const server = body.servers.find((one: { id: string }) => one.id === id);
    assert.deepEqual([server.connection, /asks you to sign in/.test(server.lastError)], ['needed', true]);
    delete fake.documents['/.well-known/oauth-protected-resource/mcp'];
    const other = await user.call('POST /api/mcp', { name: 'Plain', url: `${fake.url}?plain` });
    assert.equal(other.body.server.connection, 'none');
    assert.match(other.body.server.lastError, /check the headers/);
  }));
