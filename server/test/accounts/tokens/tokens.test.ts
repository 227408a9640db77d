import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { cookieRule, sessionCookie } from '../../../src/accounts/session-cookie.ts';
import { insertSession } from '../../../src/accounts/sessions.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { createCaller, type SignedIn, startTestApp, type TestApp, testConfig } from '../../app.ts';
import { assertRefused, createToken, tokenCaller } from './token-calls.ts';

/** Access tokens, their life, and everything that ends them. */

let app: TestApp;
let administrator: SignedIn;
let offset = 0;
const clock = { ...systemClock, now: () => Date.now() + offset };
const day = 86_400_000;
const from = { address: '127.0.0.1', userAgent: 'test' };
before(async () => {
  app = await startTestApp({ clock });
  administrator = await app.signIn({ role: 'admin' });
});
after(() => app.stop());

const inDays = (days: number) => new Date(clock.now() + days * day).toISOString();
const setPolicy = async (policy: Record<string, unknown>) => {
  const { status, text } = await administrator.call('POST /api/admin/config', policy);
  assert.equal(status, 200, text);
};

test('creates a token whose secret is shown once and stored only as its hash', async () => {
  const user = await app.signIn();
  const { id, secret, token } = await createToken(user, ['chats:read', 'models', 'models'], { expiresAt: null });
  assert.match(secret, /^hp_[0-9A-Za-z]{49}$/);
  const { createdAt, ...rest } = token;
  assert.ok(Math.abs(Date.parse(createdAt) - clock.now()) < 60_000);
  assert.deepEqual(rest, {
    id,
    name: 'Script',
    scopes: ['models', 'chats:read'],
    start: secret.slice(0, 8),
    expiresAt: null,
    lastUsedAt: null,
    lastUsedAddress: null,
  });
  const listed = await user.call('GET /api/me/tokens');
  assert.deepEqual(listed.body, { tokens: [token], allowed: true, maxDays: null });
  const { rows } = await app.database.database.pool.query('select * from access_tokens where id = $1', [id]);
  assert.equal(rows[0].hash, createHash('sha256').update(secret).digest('hex'));
  assert.ok(!JSON.stringify(rows).includes(secret.slice(8)));
  const other = await app.signIn();
  assert.deepEqual((await other.call('GET /api/me/tokens')).body.tokens, []);
});

test('rejects a name, scopes or an end that no token can have', async () => {
  const user = await app.signIn();
  const bodies: [unknown, string][] = [
    [{ scopes: ['models'], expiresAt: null }, 'name'],
    [{ name: '', scopes: ['models'], expiresAt: null }, 'name'],
    [{ name: ' \n ', scopes: ['models'], expiresAt: null }, 'name'],
    [{ name: 'x'.repeat(65), scopes: ['models'], expiresAt: null }, 'name'],
    [{ name: 'a\0b'.repeat(40), scopes: ['models'], expiresAt: null }, 'name'],
    [{ name: 'Script', expiresAt: null }, 'scopes'],
    [{ name: 'Script', scopes: [], expiresAt: null }, 'scopes'],
    [{ name: 'Script', scopes: 'models', expiresAt: null }, 'scopes'],
    [{ name: 'Script', scopes: ['models', 'everything'], expiresAt: null }, 'scopes.1'],
    [{ name: 'Script', scopes: ['chats'], expiresAt: null }, 'scopes.0'],
    [{ name: 'Script', scopes: ['models'], expiresAt: 'tomorrow' }, 'expiresAt'],
    [{ name: 'Script', scopes: ['models'], expiresAt: inDays(-1) }, 'expiresAt'],
    [{ name: 'Script', scopes: ['models'], expiresAt: 7 }, 'expiresAt'],
  ];
  for (const [body, path] of bodies) {
    const answer = await user.call('POST /api/me/tokens', body);
    assertRefused(answer, 400, 'invalid_request');
    if (JSON.stringify(body).includes('\\u0000')) continue;
    assert.deepEqual([...new Set(answer.body.error.details.map((detail: { path: string }) => detail.path))], [path]);
  }
  assert.deepEqual((await user.call('GET /api/me/tokens')).body.tokens, []);
});

test("gives administrators' scopes to administrators only, and ends them when they no longer are", async () => {
  const user = await app.signIn();
  for (const scope of ['admin:read', 'admin:write', 'metrics']) {
    const answer = await user.call('POST /api/me/tokens', {
      name: 'Script',
      scopes: ['models', scope],
      expiresAt: null,
    });
    assertRefused(answer, 403, 'forbidden');
  }
  const second = await app.signIn({ role: 'admin' });
  const { call } = tokenCaller(app, (await createToken(second, ['admin:read'])).secret);
  assert.equal((await call('GET /api/admin/users')).status, 200);
  await administrator.call('PATCH /api/admin/users', { id: second.id, role: 'user' });
  assertRefused(await call('GET /api/admin/users'), 403, 'forbidden');
});

test('keeps the number of tokens of an account within its limit', async () => {
  const user = await app.signIn();
  for (let made = 0; made < 100; made += 1) await createToken(user, ['models']);
  assertRefused(
    await user.call('POST /api/me/tokens', { name: 'One more', scopes: ['models'], expiresAt: null }),
    403,
    'forbidden',
  );
});

test('a token that was deleted, has ended, or belongs to a disabled account opens nothing', async () => {
  const user = await app.signIn();
  const ending = await createToken(user, ['chats:read'], { expiresAt: inDays(1) });
  const lasting = await createToken(user, ['chats:read'], { expiresAt: null });
  const byEnding = tokenCaller(app, ending.secret);
  const byLasting = tokenCaller(app, lasting.secret);
  assert.equal((await byEnding.call('GET /api/chats')).status, 200);
  offset = Date.parse(ending.token.expiresAt) - Date.now() + 1_000;
  try {
    assertRefused(await byEnding.call('GET /api/chats'), 401, 'invalid_api_key');
    assert.equal((await byLasting.call('GET /api/chats')).status, 200);
  } finally {
    offset = 0;
  }
  await administrator.call('PATCH /api/admin/users', { id: user.id, enabled: false });
  assertRefused(await byLasting.call('GET /api/chats'), 401, 'invalid_api_key');
  await administrator.call('PATCH /api/admin/users', { id: user.id, enabled: true });
  assert.equal((await byLasting.call('GET /api/chats')).status, 200);
  // Disabling ended the session, so that another one is needed.
  const { token } = await insertSession(app.database.database.kysely, user.id, from, Date.now());
  const again = createCaller(app.url, sessionCookie(cookieRule(testConfig), token).split(';')[0]);
  assert.deepEqual((await again.call(`DELETE /api/me/tokens?id=${lasting.id}`)).body, { ok: true });
  assertRefused(await byLasting.call('GET /api/chats'), 401, 'invalid_api_key');
  assertRefused(await again.call(`DELETE /api/me/tokens?id=${lasting.id}`), 404, 'not_found');
});

test("one user's token can't be deleted by another, and by an administrator only in the administrators' list", async () => {
  const user = await app.signIn();
  const other = await app.signIn();
  const { id, secret, token } = await createToken(user, ['chats:read']);
  for (const caller of [other, administrator]) {
    assertRefused(await caller.call(`DELETE /api/me/tokens?id=${id}`), 404, 'not_found');
  }
  assertRefused(await other.call(`DELETE /api/admin/tokens?id=${id}`), 403, 'forbidden');
  assertRefused(await other.call('GET /api/admin/tokens'), 403, 'forbidden');
  const page = await administrator.call('GET /api/admin/tokens?limit=1');
  assert.deepEqual(page.body.tokens, [{ ...token, user: { id: user.id, name: 'Test User', email: user.email } }]);
  const next = await administrator.call(`GET /api/admin/tokens?limit=500&cursor=${page.body.nextCursor}`);
  assert.ok(next.body.tokens.length > 0);
  assert.ok(!next.body.tokens.some((each: { id: string }) => each.id === id));
  assert.ok(!JSON.stringify([page.body, next.body]).includes(secret));
  assert.equal((await administrator.call(`DELETE /api/admin/tokens?id=${id}`)).status, 200);
  assertRefused(await tokenCaller(app, secret).call('GET /api/chats'), 401, 'invalid_api_key');
  assertRefused(await administrator.call(`DELETE /api/admin/tokens?id=${id}`), 404, 'not_found');
});

test('the policy decides who may have tokens and how long they last, and counts for earlier ones at once', async () => {
  const user = await app.signIn();
  const mine = tokenCaller(app, (await createToken(user, ['chats:read'], { expiresAt: null })).secret);
  const theirs = tokenCaller(app, (await createToken(administrator, ['chats:read'], { expiresAt: null })).secret);
  const create = (caller: SignedIn, expiresAt?: string | null) =>
    caller.call('POST /api/me/tokens', { name: 'Script', scopes: ['models'], expiresAt });
  try {
    const config = await administrator.call('GET /api/admin/config');
    assert.equal(config.body.tokens, 'everyone');
    assert.equal(config.body.tokenMaxDays, null);
    for (const wrong of [{ tokens: 'nobody' }, { tokens: null }, { tokenMaxDays: 0 }, { tokenMaxDays: 1.5 }]) {
      assertRefused(await administrator.call('POST /api/admin/config', wrong), 400, 'invalid_request');
    }
    await setPolicy({ tokens: 'administrators' });
    assertRefused(await mine.call('GET /api/chats'), 401, 'invalid_api_key');
    assertRefused(await create(user, null), 403, 'forbidden');
    assert.equal((await user.call('GET /api/me/tokens')).body.allowed, false);
    assert.equal((await theirs.call('GET /api/chats')).status, 200);
    await setPolicy({ tokens: 'off' });
    assertRefused(await theirs.call('GET /api/chats'), 401, 'invalid_api_key');
    assertRefused(await create(administrator, null), 403, 'forbidden');
    await setPolicy({ tokens: 'everyone', tokenMaxDays: 30 });
    assert.equal((await mine.call('GET /api/chats')).status, 200);
    assertRefused(await create(user, null), 400, 'invalid_request');
    assertRefused(await create(user, inDays(31)), 400, 'invalid_request');
    assert.equal((await create(user, inDays(29))).status, 201);
    const standard = await create(user);
    assert.ok(Math.abs(Date.parse(standard.body.token.expiresAt) - Date.parse(inDays(30))) < 60_000);
    const listed = await user.call('GET /api/me/tokens');
    assert.equal(listed.body.maxDays, 30);
    assert.ok(listed.body.tokens.every(({ expiresAt }: { expiresAt: string | null }) => expiresAt !== null));
    offset = 30 * day + 1_000;
    assertRefused(await mine.call('GET /api/chats'), 401, 'invalid_api_key');
  } finally {
    offset = 0;
    await setPolicy({ tokens: 'everyone', tokenMaxDays: null });
  }
  assert.equal((await mine.call('GET /api/chats')).status, 200);
  const standard = await create(user);
  assert.ok(Math.abs(Date.parse(standard.body.token.expiresAt) - Date.parse(inDays(90))) < 60_000);
});

test('records who made, used and deleted a token, and its last use without a write per request', async () => {
  const user = await app.signIn();
  const { id, secret } = await createToken(user, ['chats:read']);
  const { call } = tokenCaller(app, secret);
  for (let calls = 0; calls < 10; calls += 1) assert.equal((await call('GET /api/chats')).status, 200);
  const versions = async () =>
    (await app.database.database.pool.query('select xmin::text, last_used_at from access_tokens where id = $1', [id]))
      .rows[0];
  const used = await versions();
  for (let calls = 0; calls < 10; calls += 1) await call('GET /api/chats');
  assert.deepEqual(await versions(), used);
  offset = 6 * 60_000;
  try {
    await call('GET /api/chats');
  } finally {
    offset = 0;
  }
  assert.notDeepEqual(await versions(), used);
  const [listed] = (await user.call('GET /api/me/tokens')).body.tokens;
  assert.equal(listed.lastUsedAddress, '127.0.0.1');
  assert.ok(Date.parse(listed.lastUsedAt) > clock.now());
  await user.call(`DELETE /api/me/tokens?id=${id}`);
  const { rows } = await app.database.database.pool.query(
    'select action, actor_id, address, details from audit_events where target_id = $1 order by at, id',
    [id],
  );
  assert.deepEqual(
    rows.map(({ action, actor_id, address }) => ({ action, actor_id, address })),
    ['token.created', 'token.used', 'token.deleted'].map((action) => ({
      action,
      actor_id: user.id,
      address: '127.0.0.1',
    })),
  );
  assert.deepEqual(rows[0].details.scopes, ['chats:read']);
  assert.ok(!JSON.stringify(rows).includes(secret.slice(8)));
});

test('the tokens of an account are deleted with it, also when its data is kept', async () => {
  for (const data of ['keep', 'delete']) {
    const user = await app.signIn();
    const { id } = await createToken(user, ['chats:read']);
    const { status, text } = await administrator.call(`DELETE /api/admin/users?id=${user.id}&data=${data}`);
    assert.equal(status, 200, text);
    const { rows } = await app.database.database.pool.query('select id from access_tokens where id = $1', [id]);
    assert.deepEqual(rows, [], data);
  }
});
