import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { agreeAt } from '../accounts/oidc/sign-in-pages.ts';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { protect, startAuthorizationServer } from '../fakes/authorization-server.ts';
import { type FakeMcp, startFakeMcp } from '../fakes/mcp-server.ts';

/** MCP servers that an administrator offers to all users: each user adds, trusts and signs in for themselves. */

const home = 'https://chat.example.org';
let app: TestApp;
let admin: SignedIn;
let fake: FakeMcp;
before(async () => {
  app = await startTestApp({ config: { baseUrl: home } });
  admin = await app.signIn({ role: 'admin' });
  fake = await startFakeMcp();
});
after(async () => {
  await fake.close();
  await app.stop();
});

async function offer(fields: object): Promise<{ id: string; name: string }> {
  const { status, body } = await admin.call('POST /api/admin/mcp/offers', { url: fake.url, ...fields });
  assert.equal(status, 201, JSON.stringify(body));
  return body.offer;
}

async function add(user: SignedIn, offerId: string, fields: object = {}) {
  const { status, body } = await user.call('POST /api/mcp', { name: 'Mine', offerId, ...fields });
  assert.equal(status, 201, JSON.stringify(body));
  return body.server;
}

async function serversOf(user: SignedIn) {
  return (await user.call('GET /api/mcp')).body.servers;
}

async function offeredTo(user: SignedIn, id: string) {
  return (await user.call('GET /api/mcp/offers')).body.offers.find((each: { id: string }) => each.id === id);
}

async function trust(user: SignedIn, server: { id: string; fingerprint: string }): Promise<void> {
  const { id, fingerprint } = server;
  assert.equal((await user.call('POST /api/mcp/trust', { id, fingerprint })).status, 200);
}

test('each user adds an offer, trusts it, uses it and can delete it', async () => {
  const { id } = await offer({ name: 'Notes', description: 'Notes of the team', headerNames: ['x-key'] });
  const [ada, bob] = await Promise.all([app.signIn(), app.signIn()]);
  const seen = await offeredTo(ada, id);
  assert.deepEqual(
    [seen.description, seen.headerNames, seen.serverId, seen.url],
    ['Notes of the team', ['x-key'], null, fake.url],
  );
  const server = await add(ada, id, { headers: { 'x-key': 'of-ada' } });
  assert.deepEqual([server.offerId, server.url, server.trustState], [id, fake.url, 'untrusted']);
  assert.equal(fake.headersSeen.at(-1)?.['x-key'], 'of-ada');
  assert.equal((await offeredTo(ada, id)).serverId, server.id);
  await trust(ada, server);
  // One user's actions have no effect for another.
  assert.deepEqual([await serversOf(bob), (await offeredTo(bob, id)).serverId], [[], null]);
  const theirs = await add(bob, id);
  assert.equal(theirs.trustState, 'untrusted');
  assert.equal(fake.headersSeen.at(-1)?.['x-key'], undefined);
  assert.equal((await bob.call('POST /api/mcp', { name: 'Again', offerId: id })).status, 400);
  const { body } = await admin.call('GET /api/admin/mcp/offers');
  assert.equal(body.offers.find((each: { id: string }) => each.id === id).servers, 2);
  // The user decides about name, use and headers, the offer about everything else.
  assert.equal((await ada.call('PATCH /api/mcp', { id: server.id, name: 'My notes', enabled: false })).status, 200);
  for (const change of [
    { url: 'https://elsewhere.example/mcp' },
    { transport: 'stdio', command: 'sh' },
    { clientId: 'x' },
    { clientSecret: 'x' },
  ]) {
    const refused = await ada.call('PATCH /api/mcp', { id: server.id, ...change });
    assert.deepEqual([refused.status, refused.body.error.code], [400, 'invalid_request']);
    assert.equal((await bob.call('POST /api/mcp', { name: 'X', offerId: id, ...change })).status, 400);
  }
  assert.equal((await ada.call('DELETE /api/mcp', undefined, { query: { id: server.id } })).status, 200);
  assert.equal((await offeredTo(ada, id)).serverId, null);
});

test('users without access to MCP settings see offers, and an administrator adds one for them', async () => {
  const { id } = await offer({ name: 'For all' });
  const user = await app.signIn({ mcpSettingsEnabled: false });
  assert.ok(await offeredTo(user, id));
  const refused = await user.call('POST /api/mcp', { name: 'Mine', offerId: id });
  assert.deepEqual([refused.status, refused.body.error.code], [403, 'mcp_settings_disabled']);
  const query = { userId: user.id };
  assert.equal((await admin.call('POST /api/admin/mcp', { name: 'Theirs', offerId: id }, { query })).status, 201);
  assert.equal((await serversOf(user))[0].offerId, id);
});

test('refuses taken names and invalid offers', async () => {
  await offer({ name: 'Taken' });
  for (const bad of [
    { name: 'Taken', url: fake.url },
    { name: 'Nowhere' },
    { name: 'A program', transport: 'stdio' },
    { name: 'Header', url: fake.url, headerNames: ['host'] },
    { name: 'Header', url: fake.url, headerNames: ['x-a', 'X-A'] },
    { name: 'Header', url: fake.url, headerNames: ['a b'] },
    { name: 'Variable', transport: 'stdio', command: 'npx', envNames: ['A-B'] },
  ]) {
    const { status, body } = await admin.call('POST /api/admin/mcp/offers', bad);
    assert.deepEqual([status, body.error?.code], [400, 'invalid_request'], JSON.stringify(bad));
  }
  const other = await offer({ name: 'Other' });
  assert.equal((await admin.call('PATCH /api/admin/mcp/offers', { id: other.id, name: 'Taken' })).status, 400);
});

async function signedIn(user: SignedIn, id: string): Promise<void> {
  const begun = await user.call('POST /api/mcp/connect', { id });
  assert.equal(begun.status, 200, begun.text);
  const back = await agreeAt(home, begun.body.authorizeUrl, user.id);
  const { pathname, search } = new URL(back);
  assert.equal((await user.fetch(pathname + search, { redirect: 'manual' })).status, 302);
  const found = (await serversOf(user)).find((server: { id: string }) => server.id === id);
  assert.equal(found.connection, 'connected');
}

async function storedFor(offerId: string): Promise<number> {
  const { rows } = await app.database.database.pool.query<{ count: number }>(
    `select (select count(*) from mcp_servers where offer_id = $1)::int
      + (select count(*) from mcp_grants where server_id not in (select id from mcp_servers where offer_id is distinct from $1))::int as count`,
    [offerId],
  );
  return rows[0]?.count ?? -1;
}

test('another address ends every user’s trust and sign-in, and keys stay with their old address', async () => {
  const [guarded, authority] = await Promise.all([startFakeMcp(), startAuthorizationServer({ registers: true })]);
  try {
    const [ada, bob] = await Promise.all([app.signIn(), app.signIn()]);
    protect(guarded, authority);
    const { id } = await offer({ name: 'Moves', url: guarded.url });
    const servers = await Promise.all([ada, bob].map((user) => add(user, id, { headers: { 'x-key': 'of-theirs' } })));
    await signedIn(ada, servers[0].id);
    const [mine] = await serversOf(ada);
    await trust(ada, mine);
    const changed = await admin.call('PATCH /api/admin/mcp/offers', { id, description: 'Only words' });
    assert.deepEqual([changed.status, changed.body.offer.servers], [200, 2]);
    assert.equal((await serversOf(ada))[0].trustState, 'trusted');
    const before = fake.headersSeen.length;
    assert.equal((await admin.call('PATCH /api/admin/mcp/offers', { id, url: fake.url })).status, 200);
    const [moved] = await serversOf(ada);
    assert.deepEqual(
      [moved.trustState, moved.connection, moved.url, moved.tools, moved.credentialsOrigin],
      ['untrusted', 'none', fake.url, [], new URL(guarded.url).origin],
    );
    assert.equal((await serversOf(bob))[0].url, fake.url);
    // Keys for the old address are not sent to the new one.
    const tested = await ada.call('POST /api/mcp/test', { id: moved.id });
    assert.deepEqual([tested.status, tested.body.error.details.reason], [409, 'address_changed']);
    assert.equal(fake.headersSeen.length, before);
    const { rows } = await app.database.database.pool.query('select 1 from mcp_grants where server_id = $1', [
      moved.id,
    ]);
    assert.equal(rows.length, 0);
  } finally {
    authority.close();
    await guarded.close();
  }
});

test('a withdrawn offer leaves nothing behind: no server, trust, sign-in or key', async () => {
  const [guarded, authority] = await Promise.all([startFakeMcp(), startAuthorizationServer({ registers: true })]);
  try {
    protect(guarded, authority);
    const user = await app.signIn();
    const { id } = await offer({ name: 'Withdrawn', url: guarded.url });
    const server = await add(user, id);
    await signedIn(user, server.id);
    const [mine] = await serversOf(user);
    await trust(user, mine);
    assert.equal(await storedFor(id), 2);
    assert.equal((await admin.call('DELETE /api/admin/mcp/offers', undefined, { query: { id } })).status, 200);
    assert.deepEqual([await serversOf(user), await storedFor(id)], [[], 0]);
    const again = await admin.call('DELETE /api/admin/mcp/offers', undefined, { query: { id } });
    assert.equal(again.status, 404);
    assert.equal((await user.call('POST /api/mcp', { name: 'Mine', offerId: id })).status, 404);
    const { body } = await admin.call('GET /api/admin/audit', undefined, { query: { limit: '10' } });
    const event = body.events.find((each: { action: string }) => each.action === 'mcp_offer.deleted');
    assert.deepEqual([event.targetId, event.details], [id, { name: 'Withdrawn', servers: 1 }]);
  } finally {
    authority.close();
    await guarded.close();
  }
});

test('after concurrent additions and changes no user keeps an outdated offer', async () => {
  for (let round = 0; round < 10; round += 1) {
    const { id } = await offer({ name: `Race ${round}`, url: 'http://127.0.0.1:9/old' });
    const users = await Promise.all([1, 2, 3].map(() => app.signIn()));
    const [, ...added] = await Promise.all([
      admin.call('PATCH /api/admin/mcp/offers', { id, url: 'http://127.0.0.1:9/new' }),
      ...users.map((user) => add(user, id)),
    ]);
    assert.equal(added.length, 3);
    for (const user of users) assert.equal((await serversOf(user))[0].url, 'http://127.0.0.1:9/new');
  }
});
