import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createCaller, type SignedIn, startTestApp, type TestApp } from '../../app.ts';
import { sendRaw } from '../../raw-request.ts';
import { assertRefused, createToken, tokenCaller } from './token-calls.ts';

/** How a token is carried: one function checks every way, and nothing else in the request counts beside it. */

let app: TestApp;
let user: SignedIn;
let other: SignedIn;
const statements: string[] = [];
before(async () => {
  app = await startTestApp({
    config: { metricsToken: 'a-metrics-token' },
    trace: (sql, work) => {
      statements.push(sql);
      return work();
    },
  });
  user = await app.signIn();
  other = await app.signIn();
});
after(() => app.stop());

test('ignores cookies beside a token and sets none', async () => {
  const { secret } = await createToken(user, ['chats:read', 'chats:write']);
  const { call } = tokenCaller(app, secret);
  const { body } = await call('POST /api/chats', { title: 'By a token' });
  const withCookie = await call('GET /api/chats', undefined, { headers: { cookie: other.cookie ?? '' } });
  assert.deepEqual(
    withCookie.body.chats.map(({ id }: { id: string }) => id),
    [body.chat.id],
  );
  assert.deepEqual(withCookie.headers.getSetCookie(), []);
  // Signing in and out is for people in browsers.
  const out = await call('POST /api/auth/sign-out', {}, { headers: { cookie: other.cookie ?? '' } });
  assert.deepEqual(out.headers.getSetCookie(), []);
  assert.equal((await other.call('GET /api/me')).status, 200);
  const session = await call('GET /api/auth/get-session', undefined, { headers: { cookie: other.cookie ?? '' } });
  assert.equal(session.body, null);
  const wrong = tokenCaller(app, `${secret.slice(0, -1)}-`);
  const refused = await wrong.call('GET /api/chats', undefined, { headers: { cookie: other.cookie ?? '' } });
  assertRefused(refused, 401, 'invalid_api_key');
});

test('needs no origin of its own with a token, as with no cookie', async () => {
  const { call } = tokenCaller(app, (await createToken(user, ['chats:write'])).secret);
  const headers = { origin: 'https://elsewhere.example.org' };
  assert.equal((await call('POST /api/chats', { title: 'From another page' }, { headers })).status, 201);
  assertRefused(await user.call('POST /api/chats', { title: 'No' }, { headers }), 403, 'origin_not_allowed');
});

test('refuses whatever is no token without asking the database', async () => {
  const { secret } = await createToken(user, ['chats:read']);
  const flipped = secret.at(-1) === '0' ? '1' : '0';
  const wrong = [
    `Bearer ${secret.slice(0, -1)}${flipped}`,
    `Bearer ${secret.slice(0, -1)}`,
    `Bearer ${secret}0`,
    `Bearer ${secret} x`,
    `Bearer ${secret}, Bearer ${secret}`,
    `Bearer ${secret.slice(0, 20)} ${secret.slice(20)}`,
    `Bearer hp_${'ü'.repeat(49)}`,
    'Bearer hp_',
    'Bearer token',
    `Bearer ${secret.toUpperCase()}`,
    `bearer "${secret}"`,
  ];
  const before = statements.length;
  for (const authorization of wrong) {
    const answer = await app.anonymous.call('GET /api/chats', undefined, {
      headers: { authorization },
    });
    assertRefused(answer, 401, 'invalid_api_key', authorization);
  }
  assert.deepEqual(statements.slice(before), []);
  const call = (headers: Record<string, string>, query = '') =>
    app.anonymous.call(`GET /api/chats${query}`, undefined, { headers });
  const basic = Buffer.from(`user:${secret}`).toString('base64');
  assertRefused(await call({ authorization: `Basic ${basic}` }), 401, 'unauthorized');
  assertRefused(await call({ authorization: secret }), 401, 'unauthorized');
  assertRefused(await call({ 'x-api-key': secret }), 401, 'unauthorized');
  assertRefused(await call({}, `?token=${secret}`), 401, 'unauthorized');
  assertRefused(await call({ cookie: `homeport.session_token=${secret}` }), 401, 'unauthorized');
  assert.equal((await call({ authorization: `bearer   ${secret}` })).status, 200);
  assert.ok(statements.length > before, 'statements are seen here');
});

test('refuses two different tokens in one request', async () => {
  const first = await createToken(user, ['chats:read']);
  const second = await createToken(user, ['chats:read']);
  const lines = [first, second].map(({ secret }) => `authorization: Bearer ${secret}`);
  const head = (authorization: string[]) =>
    ['GET /api/chats HTTP/1.1', 'host: 127.0.0.1', 'connection: close', ...authorization, '', ''].join('\r\n');
  const refused = await sendRaw(app.url, head(lines));
  assert.equal(refused.status, 401);
  assert.match(refused.body, /"code":"invalid_api_key"/);
  assert.equal((await sendRaw(app.url, head(lines.slice(0, 1)))).status, 200);
});

test('lets a session work beside the bearer of a proxy that signs people in', async () => {
  const headers = { authorization: 'Bearer eyJhbGciOiJSUzI1NiJ9.e30.c2ln' };
  assert.equal((await user.call('GET /api/chats', undefined, { headers })).status, 200);
  assertRefused(await app.anonymous.call('GET /api/chats', undefined, { headers }), 401, 'invalid_api_key');
});

test('opens the metrics to a token of an administrator with that scope', async () => {
  const administrator = await app.signIn({ role: 'admin' });
  const read = async (secret: string) => {
    const response = await createCaller(app.url, undefined).fetch('/metrics', {
      headers: { authorization: `Bearer ${secret}` },
    });
    return { status: response.status, text: await response.text() };
  };
  const { secret } = await createToken(administrator, ['metrics']);
  assert.match((await read(secret)).text, /homeport_/);
  assert.equal((await read('a-metrics-token')).status, 200);
  assert.equal((await read((await createToken(administrator, ['admin:write'])).secret)).status, 403);
  assert.match((await read(`${secret}0`)).text, /invalid_api_key/);
  await app.database.database.pool.query(`update users set role = 'user' where id = $1`, [administrator.id]);
  assert.equal((await read(secret)).status, 403);
});
