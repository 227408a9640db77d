import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { agreeAt } from '../accounts/oidc/sign-in-pages.ts';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { createChat } from '../chat/chat-harness.ts';
import { type AuthorizationServer, protect, startAuthorizationServer } from '../fakes/authorization-server.ts';
import { type FakeMcp, startFakeMcp } from '../fakes/mcp-server.ts';

/** Signing in to MCP servers, end to end with an independent authorization server. */

const home = 'https://chat.example.org';
const callback = `${home}/api/mcp/oauth/callback`;
const given = { client_id: 'given', client_secret: 'given:secret/with+signs%', redirect_uris: [callback] };
let app: TestApp;
let log = '';
before(async () => {
  app = await startTestApp({
    config: { baseUrl: home },
    log: (line) => {
      log += line;
    },
  });
});
after(() => app.stop());

type Setting = { fake: FakeMcp; authority: AuthorizationServer; tokens: string[] };

async function withServers(
  options: Parameters<typeof startAuthorizationServer>[0],
  work: (setting: Setting) => Promise<void>,
): Promise<void> {
  const [fake, authority] = await Promise.all([startFakeMcp(), startAuthorizationServer(options)]);
  try {
    await work({ fake, authority, tokens: protect(fake, authority) });
  } finally {
    authority.close();
    await fake.close();
  }
}

async function add(user: SignedIn, fake: FakeMcp, fields: object = {}) {
  const { status, body } = await user.call('POST /api/mcp', { name: 'Notes', url: fake.url, ...fields });
  assert.equal(status, 201, JSON.stringify(body));
  return body.server;
}

async function find(user: SignedIn, id: string) {
  const { body } = await user.call('GET /api/mcp');
  return body.servers.find((server: { id: string }) => server.id === id);
}

/** Presses "Connect", consents there, and comes back; returns the path where the browser lands. */
async function connect(user: SignedIn, id: string, login: string | undefined = 'grace'): Promise<string> {
  const begun = await user.call('POST /api/mcp/connect', { id });
  assert.equal(begun.status, 200, begun.text);
  const back = await agreeAt(home, begun.body.authorizeUrl, login);
  return comeBack(user, back);
}

async function comeBack(user: Pick<SignedIn, 'fetch'>, address: string): Promise<string> {
  const response = await user.fetch(address.replace(home, ''));
  assert.equal(response.status, 302, await response.text());
  assert.equal(response.headers.get('referrer-policy'), 'no-referrer');
  return response.headers.get('location') ?? '';
}

const fromDocument = async (url: string) => {
  const response = await app.anonymous.fetch(url.replace(home, ''));
  return new Response(await response.text(), { headers: { 'content-type': 'application/json' } });
};

for (const [way, options, fields] of [
  ['a client id metadata document', { documents: fromDocument }, {}],
  ['dynamic registration', { registers: true }, {}],
  ['a given client', { clients: [given] }, { clientId: given.client_id, clientSecret: given.client_secret }],
] as const) {
  test(`signs in by ${way}, trusts and calls the server, and signs out`, () =>
    withServers({ ...options }, async ({ fake, authority, tokens }) => {
      const user = await app.signIn();
      const { id, connection, lastError } = await add(user, fake, fields);
      assert.deepEqual([connection, /asks you to sign in/.test(lastError)], ['needed', true]);
      const refused = await user.call('POST /api/mcp/test', { id });
      assert.deepEqual([refused.status, refused.body.error.details.reason], [502, 'sign_in_needed']);

      assert.equal(await connect(user, id), `/settings/tools?mcp=${id}`);
      const signedIn = await find(user, id);
      assert.deepEqual(
        [signedIn.connection, signedIn.trustState, signedIn.lastError],
        ['connected', 'untrusted', null],
      );
      assert.equal(signedIn.tools.length, 1, 'the tools were listed signed in');
      const { fingerprint } = signedIn;
      const trusted = await user.call('POST /api/mcp/trust', { id, fingerprint });
      assert.equal(trusted.body.server.trustState, 'trusted');

      const { tools, notices } = await findTools(user);
      const [tool] = tools;
      assert.ok(tool, JSON.stringify(notices));
      const result = await tool.call({ text: 'hi' }, new AbortController().signal);
      assert.ok('output' in result, JSON.stringify(result));
      assert.equal(fake.calls.length, 1);

      const again = await user.call('POST /api/mcp/test', { id });
      assert.equal(again.body.drift.changed, false);
      const out = await user.call('DELETE /api/mcp/connect', undefined, { query: { id } });
      assert.equal(out.body.server.connection, 'needed');
      assert.equal(await authority.accepts(tokens.at(-1) ?? ''), undefined, 'it was told to forget the token');
      const without = await findTools(user);
      assert.deepEqual(
        without.notices.map(({ code, serverId }) => [code, serverId]),
        [['mcp_sign_in', id]],
      );
      assert.deepEqual(without.tools, []);

      assert.equal(await connect(user, id), `/settings/tools?mcp=${id}`);
      assert.equal((await findTools(user)).tools.length, 1, 'the same tools are still trusted');
      const { rows } = await app.database.database.pool.query('select * from mcp_grants where server_id = $1', [id]);
      assert.match(rows[0].envelope, /^v2\./);
      for (const secret of [...tokens, given.client_secret]) {
        assert.ok(!log.includes(secret) && !JSON.stringify(rows).includes(secret), 'no secret in log or database');
      }
    }));
}

test('without any way of registration the user is asked for a client id', () =>
  withServers({ clients: [given] }, async ({ fake }) => {
    const user = await app.signIn();
    const { id } = await add(user, fake);
    const { status, body } = await user.call('POST /api/mcp/connect', { id });
    assert.deepEqual([status, body.error.code, body.error.details.reason], [502, 'mcp_unreachable', 'client_id']);
    const patched = await user.call('PATCH /api/mcp', { id, clientId: 'given', clientSecret: given.client_secret });
    assert.deepEqual([patched.body.server.clientId, patched.body.server.hasClientSecret], ['given', true]);
    assert.doesNotMatch(patched.text, /with\+signs/);
    assert.equal(await connect(user, id), `/settings/tools?mcp=${id}`);
  }));

test('a sign-in ends once, in its session, and only at a page of Homeport', () =>
  withServers({ registers: true }, async ({ fake, authority }) => {
    const user = await app.signIn();
    const { id } = await add(user, fake);
    for (const returnTo of ['https://evil.example', '//evil.example', '/..//evil.example', 'javascript:alert(1)']) {
      const { status, body } = await user.call('POST /api/mcp/connect', { id, returnTo });
      assert.deepEqual([status, body.error.code], [400, 'invalid_request'], returnTo);
    }
    const begun = await user.call('POST /api/mcp/connect', { id, returnTo: '/c/1?x=2' });
    const back = await agreeAt(home, begun.body.authorizeUrl, 'grace');
    const other = await app.signIn();
    assert.equal(await comeBack(other, back), '/settings/tools?error=mcp_state');
    const anonymous = await app.anonymous.fetch(back.replace(home, ''));
    assert.equal(anonymous.status, 401);
    const landed = await Promise.all(Array.from({ length: 8 }, () => comeBack(user, back)));
    assert.equal(landed.filter((place) => place === `/c/1?x=2&mcp=${id}`).length, 1, landed.join());
    assert.equal(authority.grants.length, 1);
    const refusing = await user.call('POST /api/mcp/connect', { id });
    assert.equal(
      await comeBack(user, await agreeAt(home, refusing.body.authorizeUrl, undefined)),
      '/settings/tools?error=mcp_denied',
    );
    const late = await user.call('POST /api/mcp/connect', { id });
    const answer = await agreeAt(home, late.body.authorizeUrl, 'grace');
    await app.database.database.pool.query(`update mcp_sign_ins set expires_at = now() - interval '1 second'`);
    assert.equal(await comeBack(user, answer), '/settings/tools?error=mcp_state');
    const changed = await user.call('POST /api/mcp/connect', { id });
    const stale = await agreeAt(home, changed.body.authorizeUrl, 'grace');
    await user.call('PATCH /api/mcp', { id, url: `${fake.url}?other` });
    assert.equal(await comeBack(user, stale), '/settings/tools?error=mcp_changed');
    assert.equal((await find(user, id)).connection, 'needed', 'tokens end with the address');
    assert.equal((await user.call('POST /api/mcp/connect', { id: 'none' })).status, 404);
    assert.equal((await other.call('POST /api/mcp/connect', { id })).status, 404);
  }));

test('a call that needs more access fails once with the reason, and the next sign-in asks for all of it', () =>
  withServers({ registers: true }, async ({ fake, authority }) => {
    const user = await app.signIn();
    const { id } = await add(user, fake);
    assert.equal(await connect(user, id), `/settings/tools?mcp=${id}`);
    const { fingerprint } = await find(user, id);
    await user.call('POST /api/mcp/trust', { id, fingerprint });
    let refused = 0;
    fake.hook = async ({ method }, response) => {
      if (method !== 'tools/call') return undefined;
      const token = response.req.headers.authorization?.replace('Bearer ', '') ?? '';
      const { scope = '' } = (await authority.accepts(token)) ?? {};
      if (scope.split(' ').includes('write')) return undefined;
      refused += 1;
      const challenge = 'Bearer error="insufficient_scope", scope="write"';
      response.writeHead(403, { 'www-authenticate': challenge }).end();
      return 'handled';
    };
    const { signal } = new AbortController();
    for (const times of [1, 2]) {
      const { tools, notices } = await findTools(user);
      const result = await tools[0]?.call({ text: 'hi' }, signal);
      assert.match(JSON.stringify(result), /wants more access than you gave it/);
      assert.deepEqual(
        notices.map(({ code, serverId }) => [code, serverId]),
        [['mcp_sign_in', id]],
      );
      assert.equal(refused, times, 'a call is not tried again');
    }
    assert.deepEqual([(await find(user, id)).connection, authority.grants.length], ['connected', 1]);
    const begun = await user.call('POST /api/mcp/connect', { id });
    const asked = new URL(begun.body.authorizeUrl).searchParams.get('scope')?.split(' ') ?? [];
    assert.deepEqual([asked.includes('read'), asked.includes('write')], [true, true], asked.join());
    await comeBack(user, await agreeAt(home, begun.body.authorizeUrl, 'grace'));
    const [tool] = (await findTools(user)).tools;
    assert.ok(tool, 'the same tools are still trusted');
    assert.ok('output' in (await tool.call({ text: 'hi' }, signal)));
    assert.equal(refused, 2);
  }));

async function findTools(user: SignedIn, from: TestApp = app) {
  const { findMcpTools } = await import('../../src/mcp/turn-tools.ts');
  const notices: { code: string; message: string; serverId?: string }[] = [];
  const request = { ownerId: user.id, chatId: await createChat(user), serverIds: null };
  const tools = await findMcpTools(from.service.deps, request, (notice) => notices.push(notice));
  return { tools, notices };
}
