import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { echoTool, expectedFingerprint, type FakeMcp, startFakeMcp } from '../fakes/mcp-server.ts';

let app: TestApp;
let fake: FakeMcp;
before(async () => {
  app = await startTestApp();
});
after(() => app.stop());

async function withFake(work: (fake: FakeMcp) => Promise<void>): Promise<void> {
  fake = await startFakeMcp();
  try {
    await work(fake);
  } finally {
    await fake.close();
  }
}

async function create(user: SignedIn, fields: object = {}) {
  const { status, body } = await user.call('POST /api/mcp', { name: 'Fake', url: fake.url, ...fields });
  assert.equal(status, 201, JSON.stringify(body));
  return body.server;
}

async function find(user: SignedIn, id: string) {
  const { body } = await user.call('GET /api/mcp');
  return body.servers.find((server: { id: string }) => server.id === id);
}

const trust = (user: SignedIn, body: object) => user.call('POST /api/mcp/trust', body);

test('a new server is listed, fingerprinted and untrusted, and lists never contain header values', () =>
  withFake(async (fake) => {
    const user = await app.signIn();
    fake.tools = [
      { ...echoTool, name: 'zeta', annotations: { readOnlyHint: true, custom: 1 } },
      { ...echoTool, title: 'T' },
    ];
    const server = await create(user, { headers: { authorization: 'Bearer very-secret' } });
    assert.equal(server.trustState, 'untrusted');
    assert.equal(server.hasHeaders, true);
    assert.equal(server.trustedFingerprint, null);
    assert.equal(server.fingerprint, expectedFingerprint(fake.tools));
    assert.deepEqual(
      server.tools.map((tool: { name: string }) => tool.name),
      ['echo', 'zeta'],
    );
    assert.equal(server.lastError, null);
    assert.ok(fake.headersSeen.every((headers) => headers.authorization === 'Bearer very-secret'));
    const list = await user.call('GET /api/mcp');
    assert.equal(list.body.canEdit, true);
    assert.doesNotMatch(list.text, /very-secret|v[12]\./);
    const one = await user.call('GET /api/mcp', undefined, { query: { id: server.id } });
    assert.deepEqual(one.body.server.headers, { authorization: 'Bearer very-secret' });
    assert.equal(one.headers.get('cache-control'), 'no-store');
    const { rows } = await app.database.database.pool.query('select headers from mcp_servers where id = $1', [
      server.id,
    ]);
    assert.match(rows[0].headers, /^v2\./);
  }));

test('makes every transition of the states table', () =>
  withFake(async (fake) => {
    const user = await app.signIn();
    const { id } = await create(user, { headers: { 'x-key': 'one' } });
    const state = async () => (await find(user, id)).trustState;
    const patch = (body: object) => user.call('PATCH /api/mcp', { id, ...body });
    // A test grants no trust.
    const tested = await user.call('POST /api/mcp/test', { id });
    assert.equal(tested.body.server.trustState, 'untrusted');
    assert.equal(tested.body.drift.changed, false);
    assert.ok(tested.body.server.lastTestedAt);
    assert.equal((await trust(user, { id })).body.server.trustState, 'trusted');
    // Kept by changes other than of url, transport or headers, and by the same values again.
    for (const body of [
      { name: 'Other' },
      { enabled: false },
      { enabled: true },
      { toolPolicies: { echo: 'ask' } },
      { url: fake.url, transport: 'http', headers: { 'x-key': 'one' } },
    ]) {
      assert.equal((await patch(body)).body.server.trustState, 'trusted', JSON.stringify(body));
    }
    assert.deepEqual((await find(user, id)).toolPolicies, { echo: 'ask' });
    // Withdrawn by each of the three.
    for (const body of [{ headers: { 'x-key': 'two' } }, { headers: {} }, { url: `${fake.url}?x=1` }]) {
      const { server } = (await patch(body)).body;
      assert.equal(server.trustState, 'untrusted', JSON.stringify(body));
      assert.equal(server.trustedFingerprint, null);
      assert.equal(server.fingerprint, expectedFingerprint(fake.tools), 'it was listed again');
      assert.equal((await trust(user, { id })).status, 200);
      assert.equal(await state(), 'trusted');
    }
    assert.equal((await find(user, id)).hasHeaders, false);
    const moved = await patch({ url: fake.sseUrl, transport: 'sse' });
    assert.equal(moved.body.server.trustState, 'untrusted');
    assert.equal(moved.body.server.lastError, null);
    // Omitted headers are kept.
    await patch({ headers: { 'x-key': 'three' } });
    await patch({ name: 'Third', url: fake.url, transport: 'http' });
    const { body } = await user.call('GET /api/mcp', undefined, { query: { id } });
    assert.deepEqual(body.server.headers, { 'x-key': 'three' });
    assert.equal((await user.call('DELETE /api/mcp', undefined, { query: { id } })).status, 200);
    assert.equal(await find(user, id), undefined);
  }));

test('deletes a server once under concurrent requests', () =>
  withFake(async () => {
    const user = await app.signIn();
    for (let round = 0; round < 5; round += 1) {
      const { id } = await create(user);
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => user.call('DELETE /api/mcp', undefined, { query: { id } })),
      );
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(7).fill(404)]);
    }
  }));

test('trusts only the tools that the user saw: a change in the meantime is 409, and nothing is trusted', () =>
  withFake(async (fake) => {
    const user = await app.signIn();
    const server = await create(user);
    const { fingerprint } = server;
    fake.change([{ ...echoTool, description: 'Sends your files away' }]);
    const refused = await trust(user, { id: server.id, fingerprint });
    assert.equal(refused.status, 409);
    assert.equal(refused.body.error.code, 'mcp_tools_changed');
    const now = await find(user, server.id);
    assert.equal(now.trustState, 'untrusted');
    assert.equal(now.fingerprint, expectedFingerprint(fake.tools));
    for (const other of ['', 'none', now.fingerprint.toUpperCase(), '0'.repeat(64)]) {
      const { status, body } = await trust(user, { id: server.id, fingerprint: other });
      assert.deepEqual([status, body.error.code], [409, 'mcp_tools_changed'], other);
    }
    assert.equal((await find(user, server.id)).trustState, 'untrusted');
    const trusted = await trust(user, { id: server.id, fingerprint: now.fingerprint });
    assert.equal(trusted.body.server.trustedFingerprint, now.fingerprint);
  }));

test('shows drift with before and after until it is trusted, and ignores the order of members', () =>
  withFake(async (fake) => {
    const user = await app.signIn();
    fake.tools = [echoTool, { ...echoTool, name: 'gone' }];
    const { id } = await create(user);
    await trust(user, { id });
    const { inputSchema } = echoTool;
    fake.tools = [
      {
        name: 'gone',
        description: echoTool.description ?? '',
        inputSchema: Object.fromEntries(Object.entries(inputSchema).reverse()),
      },
      echoTool,
    ];
    assert.equal((await user.call('POST /api/mcp/test', { id })).body.drift.changed, false);
    const after = { ...echoTool, description: 'Says it again.' };
    fake.tools = [after, { ...echoTool, name: 'new' }];
    for (let round = 0; round < 2; round += 1) {
      const { server, drift } = (await user.call('POST /api/mcp/test', { id })).body;
      assert.equal(server.trustState, 'trusted', 'a test leaves the state unchanged');
      assert.notEqual(server.fingerprint, server.trustedFingerprint);
      assert.deepEqual(drift, {
        changed: true,
        added: [{ ...echoTool, name: 'new' }],
        removed: [{ ...echoTool, name: 'gone' }],
        modified: [{ name: 'echo', before: echoTool, after }],
      });
    }
    await trust(user, { id });
    assert.equal((await user.call('POST /api/mcp/test', { id })).body.drift.changed, false);
  }));

test('saves an unreachable server, and its test has a typed, stored error', async () => {
  const user = await app.signIn();
  const { status, body } = await user.call('POST /api/mcp', { name: 'Away', url: 'http://127.0.0.1:9/mcp' });
  assert.equal(status, 201);
  assert.match(body.server.lastError, /refused/);
  assert.equal(body.server.fingerprint, null);
  for (const route of ['POST /api/mcp/test', 'POST /api/mcp/trust']) {
    const answer = await user.call(route, { id: body.server.id });
    assert.equal(answer.status, 502);
    assert.equal(answer.body.error.code, 'mcp_unreachable');
  }
  const blocked = await user.call('POST /api/mcp', { name: 'Blocked', url: 'http://169.254.169.254/mcp' });
  assert.equal(blocked.status, 201);
  assert.match(blocked.body.server.lastError, /not allowed/);
  const tested = await user.call('POST /api/mcp/test', { id: blocked.body.server.id });
  assert.equal(tested.body.error.code, 'blocked_destination');
});

test('users whose MCP settings are managed only list and select, and an administrator acts for them', () =>
  withFake(async () => {
    const admin = await app.signIn({ role: 'admin' });
    const user = await app.signIn({ mcpSettingsEnabled: false });
    const query = { userId: user.id };
    const made = await admin.call(
      'POST /api/admin/mcp',
      { name: 'Given', url: fake.url, headers: { 'x-key': 'k' } },
      { query },
    );
    assert.equal(made.status, 201);
    const { id } = made.body.server;
    const list = await user.call('GET /api/mcp');
    assert.equal(list.body.canEdit, false);
    assert.deepEqual(
      list.body.servers.map((server: { id: string }) => server.id),
      [id],
    );
    for (const [route, body, of] of [
      ['GET /api/mcp', undefined, { id }],
      ['POST /api/mcp', { name: 'x', url: fake.url }, {}],
      ['PATCH /api/mcp', { id, name: 'x' }, {}],
      ['DELETE /api/mcp', undefined, { id }],
      ['POST /api/mcp/test', { id }, {}],
      ['POST /api/mcp/trust', { id }, {}],
    ] as const) {
      const answer = await user.call(route, body, { query: of });
      assert.equal(answer.status, 403, route);
      assert.equal(answer.body.error.code, 'mcp_settings_disabled');
    }
    const detail = await admin.call('GET /api/admin/mcp', undefined, { query: { ...query, id } });
    assert.deepEqual(detail.body.server.headers, { 'x-key': 'k' });
    assert.equal((await admin.call('POST /api/admin/mcp/trust', { id }, { query })).body.server.trustState, 'trusted');
    assert.equal((await admin.call('POST /api/admin/mcp/test', { id }, { query })).status, 200);
    assert.equal((await admin.call('POST /api/admin/mcp/test', { id }, { query: { userId: admin.id } })).status, 404);
    assert.equal((await admin.call('GET /api/admin/mcp')).status, 400);
    assert.equal((await admin.call('GET /api/admin/mcp', undefined, { query: { userId: 'nobody' } })).status, 404);
    assert.equal((await admin.call('DELETE /api/admin/mcp', undefined, { query: { ...query, id } })).status, 200);
    const { rows } = await app.database.database.pool.query(
      `select action, actor_id, details from audit_events where target_id = $1 order by at`,
      [id],
    );
    assert.deepEqual(
      rows.map((row) => row.action),
      ['created', 'trusted', 'tested', 'deleted'].map((act) => `mcp_server.${act}`),
    );
    assert.ok(rows.every((row) => row.actor_id === admin.id));
    assert.doesNotMatch(JSON.stringify(rows), /x-key/);
  }));

test('reports headers sealed with another key in lists, answers 409 where they are needed, and accepts new ones', () =>
  withFake(async () => {
    const user = await app.signIn();
    const { id } = await create(user, { headers: { 'x-key': 'one' } });
    await trust(user, { id });
    const pool = app.database.database.pool;
    await pool.query(`update mcp_servers set headers = 'v1.' || substr(headers, 4) || 'AAAA' where id = $1`, [id]);
    app.service.deps.mcp.drop(id);
    assert.equal((await find(user, id)).credentialsError, 'credentials_unreadable');
    for (const route of ['POST /api/mcp/test', 'POST /api/mcp/trust']) {
      assert.equal((await user.call(route, { id })).body.error.code, 'credentials_unreadable');
    }
    assert.deepEqual((await user.call('GET /api/mcp', undefined, { query: { id } })).body.server.headers, {});
    const mended = await user.call('PATCH /api/mcp', { id, headers: { 'x-key': 'one' } });
    assert.equal(mended.body.server.trustState, 'untrusted');
    assert.equal(mended.body.server.credentialsError, undefined);
  }));
