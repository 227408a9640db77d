import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { secretPlaceholder } from '@homeport/contracts/provision/manifest';
import { resealProviders } from '../../src/catalogue/reseal-providers.ts';
import { resealMcpServers } from '../../src/mcp/rotation.ts';
import { createKeyRing, seal } from '../../src/secrets/key-ring.ts';
import { type Answer, type SignedIn, startTestApp, type TestApp, testConfig } from '../app.ts';
import { addModels, answer, createChat, postChat, submit } from '../chat/chat-harness.ts';
import { type FakeMcp, startFakeMcp } from '../fakes/mcp-server.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';

/** A credential is sent to the origin it was entered for, and to no other. */

let app: TestApp;
let own: FakeProvider;
let other: FakeProvider;
before(async () => {
  app = await startTestApp();
  [own, other] = [await startFakeProvider(), await startFakeProvider()];
});
after(async () => {
  await app.stop();
  await own.close();
  await other.close();
});

const apiKey = 'sk-canary-key';
const headers = { 'x-secret': 'canary-header' };

async function withProvider(fields: object = { apiKey }): Promise<{ user: SignedIn; id: string }> {
  const user = await app.signIn();
  const { body } = await user.call('POST /api/providers', { name: 'P', baseUrl: own.url, ...fields });
  return { user, id: body.provider.id };
}

const patch = (user: SignedIn, body: object) => user.call('PATCH /api/providers', body);
const ask = (user: SignedIn, id: string) => user.call('POST /api/providers/test', { id });

function assertRefused({ status, body }: Answer, origin = new URL(own.url).origin): void {
  assert.equal(status, 409, JSON.stringify(body));
  assert.equal(body.error.code, 'credentials_unreadable');
  assert.deepEqual(body.error.details, { reason: 'address_changed', origin });
}

function nothingLeaked(): void {
  for (const request of other.requests) assert.doesNotMatch(JSON.stringify(request.headers), /canary/);
}

describe('a provider’s credentials', () => {
  test('are withheld from a changed address until they are entered again', async () => {
    const { user, id } = await withProvider();
    const moved = await patch(user, { id, baseUrl: other.url });
    assert.equal(moved.body.provider.hasApiKey, true);
    assert.equal(moved.body.provider.credentialsOrigin, new URL(own.url).origin);
    assert.equal(moved.body.provider.credentialsError, undefined);
    assertRefused(await ask(user, id));
    assert.equal(other.requests.length, 0);
    const entered = await patch(user, { id, apiKey: 'sk-other' });
    assert.equal(entered.body.provider.credentialsOrigin, undefined);
    assert.equal((await ask(user, id)).status, 200);
    assert.equal(other.requests[0]?.headers.authorization, 'Bearer sk-other');
  });

  test('work again once the address is changed back, and for another path or letter case of the same origin', async () => {
    const { user, id } = await withProvider({ apiKey, headers });
    await patch(user, { id, baseUrl: other.url });
    assertRefused(await ask(user, id));
    for (const baseUrl of [own.url, `${own.url}/deeper`, own.url.replace('http', 'HTTP')]) {
      await patch(user, { id, baseUrl });
      own.requests.length = 0;
      assert.equal((await ask(user, id)).status, 200, baseUrl);
      assert.equal(own.requests[0]?.headers.authorization, `Bearer ${apiKey}`);
      assert.equal(own.requests[0]?.headers['x-secret'], headers['x-secret']);
    }
  });

  test('include headers that stay visible to their editor and are sent nowhere else, even after only the key is entered again', async () => {
    const { user, id } = await withProvider({ headers });
    const moved = await patch(user, { id, baseUrl: other.url });
    assert.deepEqual(moved.body.provider.headers, headers);
    assertRefused(await ask(user, id));
    await patch(user, { id, apiKey: 'sk-new' });
    assertRefused(await ask(user, id));
    other.requests.length = 0;
    const given = await patch(user, { id, headers: { 'x-other': 'value' } });
    assert.equal(given.body.provider.credentialsOrigin, undefined);
    assert.equal((await ask(user, id)).status, 200);
    assert.equal(other.requests[0]?.headers['x-other'], 'value');
    nothingLeaked();
  });

  test('are used at a new address when given together with it', async () => {
    const { user, id } = await withProvider({ apiKey, headers });
    await patch(user, { id, baseUrl: other.url, apiKey: 'sk-b', headers: { 'x-b': 'b' } });
    other.requests.length = 0;
    assert.equal((await ask(user, id)).status, 200);
    assert.equal(other.requests[0]?.headers.authorization, 'Bearer sk-b');
    await patch(user, { id, baseUrl: own.url });
    assertRefused(await ask(user, id), new URL(other.url).origin);
  });

  test('are never used for responses or titles while they belong to another origin', async () => {
    const user = await app.signIn();
    await addModels(user, own, ['words-3']);
    const { body } = await user.call('GET /api/providers');
    await patch(user, { id: body.providers[0].id, baseUrl: other.url });
    other.requests.length = 0;
    const chatId = await createChat(user);
    const messageId = await submit(user, chatId, 'go');
    const refused = await postChat(user, { chatId, messageId });
    assert.match(await refused.text(), /belongs to http:/);
    assert.equal(other.requests.length, 0);
    await patch(user, { id: body.providers[0].id, baseUrl: own.url });
    await answer(user, chatId, await submit(user, chatId, 'again'));
  });

  test('do not open after a move in the database to another owner', async () => {
    const { id } = await withProvider();
    const thief = await app.signIn();
    await app.database.database.pool.query('update providers set owner_id = $1 where id = $2', [thief.id, id]);
    const { status, body } = await ask(thief, id);
    assert.deepEqual([status, body.error.code, body.error.details], [409, 'credentials_unreadable', undefined]);
  });
});

test('move to another address only with a manifest that has the key, and are reported if they stay behind', async () => {
  const administrator = await app.signIn({ role: 'admin' });
  const model = { providerModelId: 'm', displayName: 'M', contextWindow: 10, maxOutputTokens: 1, tier: 1 };
  const apply = async (provider: object): Promise<string[]> => {
    const entry = { name: 'P', models: [model], ...provider };
    const users = [{ email: administrator.email, name: 'Test User', role: 'admin', providers: [entry] }];
    const { status, body, text } = await administrator.call('POST /api/admin/provision', { version: 1, users });
    assert.equal(status, 200, text);
    return body.warnings;
  };
  const test = async () => {
    const { body } = await administrator.call('GET /api/providers');
    other.requests.length = 0;
    return ask(administrator, body.providers[0].id);
  };
  const placeholders = { apiKey: secretPlaceholder, headers: { 'x-secret': secretPlaceholder } };
  const key = 'sk-manifest';
  await apply({ baseUrl: own.url, apiKey: key, headers });
  const warnings = await apply({ baseUrl: other.url, ...placeholders });
  assert.match(warnings.join(), /apiKey: the stored secret belongs to .*headers: the stored secret belongs to /);
  assertRefused(await test());
  await apply({ baseUrl: other.url, headers: { 'x-secret': secretPlaceholder, 'x-new': 'new' }, apiKey: key });
  assert.equal((await test()).status, 200);
  const sent = other.requests[0]?.headers;
  assert.deepEqual([sent?.authorization, sent?.['x-secret'], sent?.['x-new']], [`Bearer ${key}`, undefined, 'new']);
});

describe('an MCP server’s headers', () => {
  let mcp: FakeMcp;
  let elsewhere: FakeMcp;
  before(async () => {
    [mcp, elsewhere] = [await startFakeMcp(), await startFakeMcp()];
  });
  after(async () => {
    await mcp.close();
    await elsewhere.close();
  });

  test('are withheld from a changed address until they are entered again', async () => {
    const user = await app.signIn();
    const created = await user.call('POST /api/mcp', { name: 'M', url: mcp.url, headers });
    const { id } = created.body.server;
    assert.equal(created.body.server.lastError, null);
    const moved = await user.call('PATCH /api/mcp', { id, url: elsewhere.url });
    assert.equal(moved.body.server.hasHeaders, true);
    assert.equal(moved.body.server.credentialsOrigin, new URL(mcp.url).origin);
    assert.match(moved.body.server.lastError, /Enter it again/);
    for (const route of ['POST /api/mcp/test', 'POST /api/mcp/trust']) {
      assertRefused(await user.call(route, { id }), new URL(mcp.url).origin);
    }
    assert.deepEqual(elsewhere.headersSeen, []);
    const detail = await user.call('GET /api/mcp', undefined, { query: { id } });
    assert.deepEqual(detail.body.server.headers, headers);
    // The same value, entered for the new address, is another credential.
    const entered = await user.call('PATCH /api/mcp', { id, headers });
    assert.equal(entered.body.server.lastError, null);
    assert.equal(elsewhere.headersSeen[0]?.['x-secret'], headers['x-secret']);
    assert.equal((await user.call('POST /api/mcp/trust', { id })).status, 200);
    await user.call('PATCH /api/mcp', { id, url: mcp.url });
    assertRefused(await user.call('POST /api/mcp/test', { id }), new URL(elsewhere.url).origin);
  });

  test('work again once the address is changed back', async () => {
    const user = await app.signIn();
    const { body } = await user.call('POST /api/mcp', { name: 'M', url: mcp.url, headers });
    const { id } = body.server;
    await user.call('PATCH /api/mcp', { id, url: elsewhere.url });
    await user.call('PATCH /api/mcp', { id, url: mcp.url });
    assert.equal((await user.call('POST /api/mcp/test', { id })).status, 200);
  });

  test('do not open after a move in the database to another owner', async () => {
    const [user, thief] = [await app.signIn(), await app.signIn()];
    const { body } = await user.call('POST /api/mcp', { name: 'M', url: mcp.url, headers });
    const { id } = body.server;
    await app.database.database.pool.query('update mcp_servers set owner_id = $1 where id = $2', [thief.id, id]);
    mcp.headersSeen.length = 0;
    for (const route of ['POST /api/mcp/test', 'POST /api/mcp/trust']) {
      const refused = await thief.call(route, { id });
      assert.deepEqual(
        [refused.status, refused.body.error?.code],
        [409, 'credentials_unreadable'],
        `${route} ${refused.text}`,
      );
    }
    assert.doesNotMatch((await thief.call('GET /api/mcp', undefined, { query: { id } })).text, /canary/);
    assert.deepEqual(mcp.headersSeen, []);
  });
});

describe('credentials of an earlier release', () => {
  const keys = createKeyRing({ current: testConfig.encryptionKey, previous: [] });

  async function earlier(user: SignedIn): Promise<{ provider: string; server: string }> {
    const { pool } = app.database.database;
    const provider = (await user.call('POST /api/providers', { name: 'Old', baseUrl: own.url, apiKey })).body.provider
      .id;
    const server = (await user.call('POST /api/mcp', { name: 'Old', url: own.url, headers })).body.server.id;
    const key = seal(keys, { table: 'providers', row: provider, column: 'api_key' }, apiKey);
    await pool.query('update providers set api_key = $1 where id = $2', [key, provider]);
    const sealed = seal(keys, { table: 'mcp_servers', row: server, column: 'headers' }, JSON.stringify(headers));
    await pool.query('update mcp_servers set headers = $1 where id = $2', [sealed, server]);
    return { provider, server };
  }

  async function stored(ids: { provider: string; server: string }): Promise<string[]> {
    const { rows } = await app.database.database.pool.query(
      'select api_key as envelope from providers where id = $1 union all select headers from mcp_servers where id = $2',
      [ids.provider, ids.server],
    );
    return rows.map(({ envelope }) => envelope.slice(0, 3));
  }

  test('are bound to their current address when the service starts', async () => {
    const user = await app.signIn();
    const ids = await earlier(user);
    assert.deepEqual(await stored(ids), ['v1.', 'v1.']);
    const replica = await startTestApp({ database: app.database });
    try {
      assert.deepEqual(await stored(ids), ['v2.', 'v2.']);
      own.requests.length = 0;
      assert.equal((await ask(user, ids.provider)).status, 200);
      assert.equal(own.requests[0]?.headers.authorization, `Bearer ${apiKey}`);
    } finally {
      await replica.stop();
    }
  });

  test('are bound to the old address when it changes first', async () => {
    const user = await app.signIn();
    const ids = await earlier(user);
    await patch(user, { id: ids.provider, baseUrl: other.url });
    await user.call('PATCH /api/mcp', { id: ids.server, url: other.url });
    assertRefused(await ask(user, ids.provider));
    assertRefused(await user.call('POST /api/mcp/test', { id: ids.server }));
    nothingLeaked();
  });

  test('keep their address through a rotation of keys', async () => {
    const { user, id } = await withProvider();
    const server = (await user.call('POST /api/mcp', { name: 'R', url: own.url, headers })).body.server.id;
    await patch(user, { id, baseUrl: other.url });
    await user.call('PATCH /api/mcp', { id: server, url: other.url });
    const encryptionKey = 'the next encryption key of more than 32 bytes';
    const secrets = createKeyRing({ current: encryptionKey, previous: [testConfig.encryptionKey] });
    const options = { signal: new AbortController().signal, onUnreadable: () => undefined };
    assert.ok((await resealProviders({ ...app.database, db: app.database.database, secrets }, options)).resealed > 0);
    await resealMcpServers({ db: app.database.database, secrets }, options);
    const replica = await startTestApp({ database: app.database, config: { encryptionKey } });
    try {
      const there = { ...user, call: callOn(replica, user) };
      assertRefused(await ask(there, id));
      assertRefused(await there.call('POST /api/mcp/test', { id: server }));
      await patch(there, { id, baseUrl: own.url });
      assert.equal((await ask(there, id)).status, 200);
    } finally {
      await replica.stop();
    }
  });
});

function callOn(replica: TestApp, user: SignedIn): SignedIn['call'] {
  const cookie = user.cookie ?? '';
  return (route, body, init = {}) => replica.anonymous.call(route, body, { ...init, headers: { cookie } });
}
