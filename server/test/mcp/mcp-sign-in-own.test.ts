import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { after, before, test } from 'node:test';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { type FakeMcp, startFakeMcp } from '../fakes/mcp-server.ts';

/** MCP servers of the protocol version 2025-03-26, which are their own authorization servers. */

const home = 'https://chat.example.org';
let app: TestApp;
let user: SignedIn;
before(async () => {
  app = await startTestApp({ config: { baseUrl: home } });
  user = await app.signIn();
});
after(() => app.stop());

/** Signs people in at the origin of the MCP server, below `folder`. */
async function withOwnSignIn(folder: string, work: (fake: FakeMcp, asked: string[]) => Promise<void>): Promise<void> {
  const fake = await startFakeMcp();
  const { origin } = new URL(fake.url);
  const asked: string[] = [];
  fake.gate = async ({ authorization }) =>
    authorization === 'Bearer good' ? undefined : { status: 401, headers: { 'www-authenticate': 'Bearer' } };
  fake.intercept = (request: IncomingMessage, response: ServerResponse, body: string) => {
    const { pathname } = new URL(request.url ?? '/', origin);
    const json = (status: number, value: object): 'handled' => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
      return 'handled';
    };
    if (!pathname.startsWith(`${folder}/`) || request.method !== 'POST') return undefined;
    asked.push(pathname);
    if (pathname === `${folder}/register`) return json(201, { client_id: 'ours', ...JSON.parse(body) });
    if (pathname === `${folder}/token`) return json(200, { access_token: 'good', token_type: 'Bearer' });
    return undefined;
  };
  try {
    await work(fake, asked);
  } finally {
    await fake.close();
  }
}

function describe(fake: FakeMcp, changes: object = {}): void {
  const { origin } = new URL(fake.url);
  fake.documents['/.well-known/oauth-authorization-server'] = {
    issuer: `${origin}/oauth`,
    authorization_endpoint: `${origin}/oauth/authorize`,
    token_endpoint: `${origin}/oauth/token`,
    registration_endpoint: `${origin}/oauth/register`,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
    ...changes,
  };
}

async function add(fake: FakeMcp): Promise<string> {
  const { status, body, text } = await user.call('POST /api/mcp', { name: 'Notes', url: fake.url });
  assert.equal(status, 201, text);
  assert.equal(body.server.connection, 'needed');
  return body.server.id;
}

/** Signs in, with the consent that the authorization server would ask for. */
async function connect(id: string): Promise<URL> {
  const { status, body, text } = await user.call('POST /api/mcp/connect', { id });
  assert.equal(status, 200, text);
  const address = new URL(body.authorizeUrl);
  assert.equal(address.searchParams.get('code_challenge_method'), 'S256');
  const answer = `code=c&state=${address.searchParams.get('state')}`;
  const landed = await user.fetch(`/api/mcp/oauth/callback?${answer}`);
  assert.equal(landed.headers.get('location'), `/settings/tools?mcp=${id}`);
  return address;
}

async function refusalOf(fake: FakeMcp): Promise<string> {
  const { status, body } = await user.call('POST /api/mcp/connect', { id: await add(fake) });
  assert.equal(status, 502);
  return body.error.message;
}

test('signs in at the default endpoints of a server that describes nothing', () =>
  withOwnSignIn('', async (fake, asked) => {
    const id = await add(fake);
    assert.equal((await connect(id)).href.split('?')[0], `${new URL(fake.url).origin}/authorize`);
    assert.deepEqual(
      asked.filter((path) => path !== '/mcp'),
      ['/register', '/token'],
    );
    const { body } = await user.call('GET /api/mcp');
    assert.equal(body.servers.find((server: { id: string }) => server.id === id).connection, 'connected');
  }));

test('signs in by the metadata at the root of a server, whatever the path of its issuer', () =>
  withOwnSignIn('/oauth', async (fake, asked) => {
    describe(fake);
    assert.equal((await connect(await add(fake))).pathname, '/oauth/authorize');
    assert.deepEqual(asked, ['/oauth/register', '/oauth/token']);
  }));

test('refuses metadata at the root that name another origin', () =>
  withOwnSignIn('/oauth', async (fake, asked) => {
    for (const changes of [
      { issuer: 'https://other.example' },
      { token_endpoint: 'https://other.example/token' },
      { registration_endpoint: 'https://other.example/register' },
    ]) {
      describe(fake, changes);
      assert.match(await refusalOf(fake), /its sign-in says it is another one/);
    }
    assert.deepEqual(asked, []);
  }));

test('says that a server without any sign-in does not say where to sign in', () =>
  withOwnSignIn('/elsewhere', async (fake) => {
    assert.match(await refusalOf(fake), /it does not say where to sign in/);
  }));
