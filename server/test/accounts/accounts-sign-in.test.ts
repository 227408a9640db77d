import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { endpoints } from '@homeport/contracts/endpoints';
import { cookieRule, sessionCookie } from '../../src/accounts/session-cookie.ts';
import { setUserEnabled } from '../../src/accounts/users.ts';
import { testConfig } from '../app.ts';
import { passwords } from '../cheap-passwords.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { type AccountsApp, type Answer, startAccountsApp, testPassword } from './accounts-app.ts';

let database: TestDatabase;
let app: AccountsApp;
before(async () => {
  database = await createTestDatabase();
  app = await startAccountsApp({ database });
});
after(async () => {
  await app.stop();
  await database.drop();
});

const signInPath = '/api/auth/sign-in/email';
const outcome = ({ status, body }: Answer) => [status, body?.error?.code];

test('signs in with the right password, in any case of the email address', async () => {
  const user = await app.addUser();
  const body = { email: ` ${user.email.toUpperCase()} `, password: testPassword, callbackURL: 'https://evil.example/' };
  const headers = { 'user-agent': 'Test Browser' };
  const answer = await app.request('POST', signInPath, { body, headers, from: '203.0.113.7' });
  assert.equal(answer.status, 200);
  assert.equal(answer.body.user.id, user.id);
  assert.equal(answer.body.user.role, 'user');
  assert.equal(answer.headers.get('location'), null);
  assert.doesNotMatch(JSON.stringify(answer.body), /evil|"password"|[0-9a-f]{32}:/);
  assert.deepEqual(answer.cookies.length, 1);
  assert.match(
    answer.cookies.join(),
    /^homeport\.session_token=[^;]+; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/,
  );
  const me = await app.request('GET', '/api/me', { cookie: answer.session });
  assert.deepEqual(me.body, { user });
  assert.equal(me.headers.get('cache-control'), 'no-store');
  const row = await app.db.kysely
    .selectFrom('sessions')
    .select(['id', 'ip_address', 'user_agent'])
    .where('user_id', '=', user.id)
    .executeTakeFirstOrThrow();
  assert.deepEqual([row.ip_address, row.user_agent], ['203.0.113.7', 'Test Browser']);
  assert.match(row.id, /^[0-9a-f]{8}-[0-9a-f]{4}-7/);
});

test('passwords and sessions stored by an earlier version still sign in to the same account', async () => {
  const user = await app.addUser();
  const hash =
    '2469e6b398f3cc043c73555cb8e32d49:7117c6ab87b8c357e162e178381f5fc8e14f4d29514dcbdf3ecd54744d0b5cf8' +
    'b879452fe3bae6cae8f6c29de76db1e6461e0e8526040c8e0ca086b88ae3efc4';
  const token = 'zCNtj4FM5jhaUbp8j9qcdLzOvPVs1YLl';
  const { pool } = app.db;
  await pool.query('update credentials set password = $1 where user_id = $2', [hash, user.id]);
  await pool.query(
    `insert into sessions (id, user_id, token, expires_at, ip_address, user_agent)
     values ('old-session', $1, $2, now() + interval '6 days 23 hours', '192.0.2.1', 'Old Browser')`,
    [user.id, token],
  );
  const [cookie = ''] = sessionCookie(cookieRule(testConfig), token).split(';');
  const old = await app.request('GET', '/api/auth/get-session', { cookie });
  assert.equal(old.status, 200);
  assert.deepEqual(
    [old.body.session.id, old.body.session.token, old.body.session.userId, old.body.session.userAgent],
    ['old-session', token, user.id, 'Old Browser'],
  );
  passwords.areCheap = false;
  const signedIn = await app
    .request('POST', signInPath, { body: { email: user.email, password: 'cafe\u0301 horse 12' } })
    .finally(() => {
      passwords.areCheap = true;
    });
  assert.equal(signedIn.status, 200);
  assert.deepEqual(Object.keys(signedIn.body).sort(), ['redirect', 'token', 'user']);
  assert.deepEqual(signedIn.body.user, old.body.user);
  assert.deepEqual(Object.keys(old.body.user).sort(), [
    ...['createdAt', 'email', 'emailVerified', 'enabled', 'id', 'image', 'mustChangePassword', 'name', 'role'],
    'updatedAt',
  ]);
});

test('with an https BASE_URL the cookie is Secure, and the plain one is ignored', async () => {
  const origin = 'https://chat.example.org';
  const secure = await startAccountsApp({ database, config: { baseUrl: origin } });
  try {
    const user = await secure.addUser();
    const body = { email: user.email, password: testPassword };
    const answer = await secure.request('POST', signInPath, { body, headers: { origin } });
    assert.match(
      answer.cookies.join(),
      /^__Secure-homeport\.session_token=[^;]+; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
    assert.equal((await secure.request('GET', '/api/me', { cookie: answer.session })).status, 200);
    const plain = answer.session?.replace('__Secure-', '');
    assert.equal((await secure.request('GET', '/api/me', { cookie: plain })).status, 401);
    const foreign = await secure.request('POST', signInPath, { body, headers: { origin: 'https://evil.example' } });
    assert.deepEqual(outcome(foreign), [403, 'origin_not_allowed']);
    const out = await secure.request('POST', '/api/auth/sign-out', { cookie: answer.session });
    assert.match(out.cookies.join('\n'), /^__Secure-homeport\.session_token=; Max-Age=0; Path=\/; HttpOnly; Secure/m);
  } finally {
    await secure.stop();
  }
});

test('rememberMe false gives a cookie of the browser session, which is not renewed', async () => {
  const user = await app.addUser();
  const body = { email: user.email, password: testPassword, rememberMe: false };
  const answer = await app.request('POST', signInPath, { body });
  assert.doesNotMatch(answer.cookies.join('\n'), /Max-Age/);
  const cookie = answer.cookies.map((text) => text.split(';')[0]).join('; ');
  const me = await app.request('GET', '/api/me', { cookie });
  assert.deepEqual([me.status, me.cookies], [200, []]);
});

test('unknown address, wrong password and unusable credentials get the same answer', async () => {
  const user = await app.addUser();
  const withoutPassword = await app.addUser();
  await app.db.kysely.deleteFrom('credentials').where('user_id', '=', withoutPassword.id).execute();
  const tries: [string, string][] = [
    [user.email, 'wrong horse 1'],
    ['nobody@example.org', 'wrong horse 1'],
    [withoutPassword.email, testPassword],
    [user.email, ''],
    [user.email, 'x'.repeat(1000)],
    ['not an address', testPassword],
    ["' or 1=1 --", testPassword],
  ];
  const answers = [];
  for (const [email, password] of tries) {
    const headers = { 'x-request-id': 'same' };
    answers.push(await app.request('POST', signInPath, { body: { email, password }, headers, from: '198.51.100.1' }));
  }
  for (const answer of answers) {
    assert.equal(answer.status, 401);
    assert.deepEqual(answer.body, answers[0]?.body);
    assert.equal(answer.body.error.code, 'invalid_credentials');
    assert.deepEqual(answer.cookies, []);
  }
});

test('spends a password hash on an unknown address as on a known one', async () => {
  const user = await app.addUser();
  const costs = async (email: string) => {
    passwords.costs.length = 0;
    const answer = await app.request('POST', signInPath, { body: { email, password: 'wrong horse 1' } });
    assert.deepEqual(outcome(answer), [401, 'invalid_credentials']);
    return [...passwords.costs];
  };
  const known = await costs(user.email);
  assert.equal(known.length, 1);
  assert.deepEqual(await costs('nobody@example.org'), known);
});

test('reports a disabled account only after the right password, and to its old cookies everywhere', async () => {
  const user = await app.addUser();
  const cookie = await app.signIn(user.email);
  await setUserEnabled({ db: app.db }, user.id, false);
  const tryPassword = async (password: string) =>
    outcome(await app.request('POST', signInPath, { body: { email: user.email, password } }));
  assert.deepEqual(await tryPassword('wrong horse 1'), [401, 'invalid_credentials']);
  assert.deepEqual(await tryPassword(testPassword), [403, 'account_disabled']);
  for (const path of ['/api/me', '/api/me/sessions', '/api/auth/get-session', '/api/chats', '/api/providers']) {
    assert.deepEqual(outcome(await app.request('GET', path, { cookie })), [403, 'account_disabled'], path);
  }
  const body = { currentPassword: testPassword, newPassword: 'another horse 2' };
  const change = await app.request('POST', '/api/auth/change-password', { cookie, body });
  assert.deepEqual(outcome(change), [403, 'account_disabled']);
  await setUserEnabled({ db: app.db }, user.id, true);
  assert.deepEqual(outcome(await app.request('GET', '/api/me', { cookie })), [401, 'unauthorized']);
  assert.equal((await app.request('GET', '/api/auth/get-session', { cookie })).body, null);
  const fresh = await app.signIn(user.email);
  assert.equal((await app.request('GET', '/api/me', { cookie: fresh })).status, 200);
  // Enabling an enabled account ends no session.
  await setUserEnabled({ db: app.db }, user.id, true);
  assert.equal((await app.request('GET', '/api/me', { cookie: fresh })).status, 200);
});

test('signing out ends the session on the server, and only that one', async () => {
  const user = await app.addUser();
  const [cookie, other] = [await app.signIn(user.email), await app.signIn(user.email)];
  const out = await app.request('POST', '/api/auth/sign-out', { cookie });
  assert.deepEqual([out.status, out.body.success], [200, true]);
  assert.match(out.cookies.join('\n'), /^homeport\.session_token=; Max-Age=0; Path=\/; HttpOnly; SameSite=Lax$/m);
  assert.deepEqual(outcome(await app.request('GET', '/api/me', { cookie })), [401, 'unauthorized']);
  assert.equal((await app.request('GET', '/api/me', { cookie: other })).status, 200);
  assert.equal((await app.request('POST', '/api/auth/sign-out', {})).status, 200);
});

test('treats a tampered cookie as anonymous', async () => {
  const user = await app.addUser();
  const cookie = await app.signIn(user.email);
  const other = await app.signIn(user.email);
  const [name, value = ''] = cookie.split('=', 2);
  const text = decodeURIComponent(value);
  const [token = '', signature = ''] = text.split('.');
  const foreign = decodeURIComponent(other.slice(other.indexOf('=') + 1)).split('.')[1];
  const flipped = (part: string) => (part.startsWith('A') ? 'B' : 'A') + part.slice(1);
  const tampered = [
    '',
    token,
    `${token}.`,
    `.${signature}`,
    `${flipped(token)}.${signature}`,
    `${token}.${flipped(signature)}`,
    `${token}.${foreign}`,
    `${token}.${signature.slice(0, -1)}`,
    `${token}.${signature}A`,
    `${token}.${signature.slice(0, -2)}${signature.at(-2) === 'A' ? 'B' : 'A'}=`,
    `${token}.${signature}`.padEnd(20_000, 'A').slice(0, 8_000),
  ];
  for (const bad of [...tampered.map(encodeURIComponent), '%', '%E0%A4%A', `${value}%00`]) {
    for (const path of ['/api/me', '/api/chats']) {
      const answer = await app.request('GET', path, { cookie: `${name}=${bad}` });
      assert.deepEqual(outcome(answer), [401, 'unauthorized'], bad);
    }
  }
  for (const good of [`${name}=${value}`, `a=b; ${name}=${value}; c=d`, `${name}=forged.x; ${name}=${value}`]) {
    assert.equal((await app.request('GET', '/api/me', { cookie: good })).status, 200, good);
  }
});

const usualRoutes = [
  ...[
    'POST sign-in/social',
    'GET callback/x',
    'POST callback/x',
    'GET get-session',
    'POST get-session',
    'POST sign-out',
  ],
  ...['POST sign-up/email', 'POST sign-in/email', 'POST reset-password', 'POST verify-password', 'GET verify-email'],
  ...['POST send-verification-email', 'POST change-email', 'POST change-password', 'POST update-session'],
  ...['POST update-user', 'POST delete-user', 'POST request-password-reset', 'GET reset-password/x'],
  ...['GET list-sessions', 'POST revoke-session', 'POST revoke-sessions', 'POST revoke-other-sessions'],
  ...['POST link-social', 'GET list-accounts', 'GET delete-user/callback', 'POST unlink-account'],
  ...['POST refresh-token', 'POST get-access-token', 'GET account-info', 'GET ok', 'GET error'],
].map((route) => route.replace(' ', ' /api/auth/'));

test("offers only the contract's routes, not the others of a sign-in library", async () => {
  const user = await app.addUser();
  const cookie = await app.signIn(user.email);
  const listed = new Set(Object.values(endpoints).map(({ method, path }) => `${method} ${path}`));
  const hidden = usualRoutes.filter((route) => !listed.has(route));
  assert.equal(usualRoutes.length - hidden.length, 5);
  const body = {
    email: 'eve@example.org',
    password: testPassword,
    name: 'Eve',
    role: 'admin',
    newEmail: 'eve@example.org',
  };
  for (const route of hidden) {
    const [method = '', path = ''] = route.split(' ');
    const known = [...listed].some((route) => route.endsWith(` ${path}`));
    const options = method === 'GET' ? { cookie } : { cookie, body };
    const answer = await app.request(method, path, options);
    assert.deepEqual(outcome(answer), known ? [405, 'method_not_allowed'] : [404, 'not_found'], route);
  }
  for (const path of [
    '/api/auth',
    '/api/auth/',
    '/api/auth//sign-up/email',
    '/api/auth/sign-up/email/',
    '/api/auth/ok',
  ]) {
    assert.deepEqual(outcome(await app.request('POST', path, { cookie, body })), [404, 'not_found'], path);
  }
  assert.equal((await app.request('GET', '/api/me', { cookie })).body.user.role, 'user');
});
