import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setMustChangePassword } from '../../src/accounts/users.ts';
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

const dayMs = 86_400_000;
const newPassword = 'another horse 2';
const outcome = ({ status, body }: Answer) => [status, body?.error?.code];
const get = (path: string, cookie: string | undefined) => app.request('GET', path, { cookie });

test('the list of sessions shows their devices and addresses, never a token', async () => {
  const user = await app.addUser();
  const first = await app.signIn(user.email);
  const second = await app.signIn(user.email);
  const stranger = await app.signIn((await app.addUser()).email);
  const { body } = await get('/api/me/sessions', second);
  assert.equal(body.sessions.length, 2);
  assert.deepEqual(
    body.sessions.map((session: { current: boolean }) => session.current),
    [true, false],
  );
  for (const session of body.sessions) {
    assert.deepEqual(Object.keys(session).sort(), ['address', 'createdAt', 'current', 'id', 'userAgent']);
    assert.equal(session.address, '127.0.0.1');
  }
  const rows = await app.db.kysely.selectFrom('sessions').select('token').execute();
  for (const { token } of rows) assert.ok(!JSON.stringify(body).includes(token));
  const foreign = (await get('/api/me/sessions', stranger)).body.sessions[0].id;
  const end = (id: string) =>
    app.request('DELETE', `/api/me/sessions?id=${id}`, { cookie: second, headers: { 'x-request-id': 'same' } });
  const [missing, notOurs] = [await end('nothing'), await end(foreign)];
  assert.deepEqual(outcome(missing), [404, 'not_found']);
  assert.deepEqual(notOurs.body, missing.body);
  assert.equal((await get('/api/me', stranger)).status, 200);
  assert.deepEqual((await end(body.sessions[1].id)).body, { ok: true, ended: 1 });
  assert.equal((await get('/api/me', first)).status, 401);
  assert.equal((await get('/api/me', second)).status, 200);
});

test('ends all other sessions in one request', async () => {
  const user = await app.addUser();
  const [first, second, third] = [
    await app.signIn(user.email),
    await app.signIn(user.email),
    await app.signIn(user.email),
  ];
  const answer = await app.request('DELETE', '/api/me/sessions?others=1', { cookie: second });
  assert.deepEqual(answer.body, { ok: true, ended: 2 });
  const statuses = [await get('/api/me', first), await get('/api/me', second), await get('/api/me', third)];
  assert.deepEqual(
    statuses.map(({ status }) => status),
    [401, 200, 401],
  );
  for (const query of ['', '?others=0', '?id=x&others=1']) {
    const bad = await app.request('DELETE', `/api/me/sessions${query}`, { cookie: second });
    assert.deepEqual(outcome(bad), [400, 'invalid_request'], query);
  }
});

test('changing the password invalidates all earlier cookies and sets a new one', async () => {
  const user = await app.addUser();
  const [cookie, other] = [await app.signIn(user.email), await app.signIn(user.email)];
  const change = (currentPassword: string, next: string) =>
    app.request('POST', '/api/auth/change-password', { cookie, body: { currentPassword, newPassword: next } });
  assert.deepEqual(outcome(await change('wrong', newPassword)), [401, 'invalid_credentials']);
  for (const weak of ['short 1', 'no digit in here', '123456789012', testPassword]) {
    assert.deepEqual(outcome(await change(testPassword, weak)), [400, 'invalid_request'], weak);
  }
  assert.equal((await get('/api/me', other)).status, 200);
  const answer = await change(testPassword, newPassword);
  assert.deepEqual([answer.status, answer.body.user.id, answer.cookies.length], [200, user.id, 1]);
  assert.doesNotMatch(JSON.stringify(answer.body), /horse/);
  assert.equal((await get('/api/me', answer.session)).status, 200);
  assert.equal((await get('/api/me', cookie)).status, 401);
  assert.equal((await get('/api/me', other)).status, 401);
  const old = await app.request('POST', '/api/auth/sign-in/email', {
    body: { email: user.email, password: testPassword },
  });
  assert.equal(old.status, 401);
  await app.signIn(user.email, newPassword);
});

test('only one of two concurrent password changes succeeds', async () => {
  const user = await app.addUser();
  const cookie = await app.signIn(user.email);
  const tries = ['another horse 2', 'another horse 3'].map((next) =>
    app.request('POST', '/api/auth/change-password', {
      cookie,
      body: { currentPassword: testPassword, newPassword: next },
    }),
  );
  const statuses = (await Promise.all(tries)).map(({ status }) => status).sort();
  assert.deepEqual(statuses, [200, 401]);
});

test('a sign-in with the old password does not outlive the change', async () => {
  const user = await app.addUser();
  const cookie = await app.signIn(user.email);
  // The change waits for this lock; a sign-in that checks the old password meanwhile waits behind the change.
  const holder = await database.database.openClient();
  const waiting = async (count: number) => {
    const query = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    while ((await database.database.pool.query(query)).rowCount !== count) await new Promise(setImmediate);
  };
  await holder.query('begin');
  await holder.query('select 1 from users where id = $1 for update', [user.id]);
  const body = { currentPassword: testPassword, newPassword };
  const change = app.request('POST', '/api/auth/change-password', { cookie, body });
  await waiting(1);
  const signIn = app.request('POST', '/api/auth/sign-in/email', {
    body: { email: user.email, password: testPassword },
  });
  await waiting(2);
  await holder.query('commit');
  await holder.end();
  const changed = await change;
  assert.equal(changed.status, 200);
  assert.deepEqual(outcome(await signIn), [401, 'invalid_credentials']);
  assert.equal((await get('/api/me/sessions', changed.session)).body.sessions.length, 1);
});

test('while the password must be changed, only endpoints of the account itself are available', async () => {
  const user = await app.addUser({ mustChangePassword: true });
  const cookie = await app.signIn(user.email);
  for (const path of ['/api/chats', '/api/providers', '/api/me/sessions']) {
    assert.deepEqual(outcome(await get(path, cookie)), [403, 'password_change_required'], path);
  }
  for (const path of ['/api/me', '/api/auth/get-session']) {
    assert.equal((await get(path, cookie)).status, 200, path);
  }
  assert.equal((await get('/api/me', cookie)).body.user.mustChangePassword, true);
  const body = { currentPassword: testPassword, newPassword };
  const answer = await app.request('POST', '/api/auth/change-password', { cookie, body });
  assert.equal(answer.body.user.mustChangePassword, false);
  assert.equal((await get('/api/chats', answer.session)).status, 200);
  await setMustChangePassword(app.db.kysely, user.id, true);
  assert.equal((await get('/api/chats', answer.session)).status, 403);
});

test("ignores extra members that would raise a user's own rights", async () => {
  const user = await app.addUser();
  const extra = {
    role: 'admin',
    enabled: false,
    id: 'x',
    email: 'eve@example.org',
    mustChangePassword: true,
    userId: 'x',
  };
  const signedIn = await app.request('POST', '/api/auth/sign-in/email', {
    body: { ...extra, email: user.email, password: testPassword },
  });
  const renamed = await app.request('PATCH', '/api/me', {
    cookie: signedIn.session,
    body: { ...extra, name: '  Ada King  ' },
  });
  assert.deepEqual(renamed.body.user, { ...user, name: 'Ada King' });
  const changed = await app.request('POST', '/api/auth/change-password', {
    cookie: signedIn.session,
    body: { ...extra, currentPassword: testPassword, newPassword },
  });
  assert.deepEqual((await get('/api/me', changed.session)).body.user, {
    ...user,
    name: 'Ada King',
  });
  const bad = await app.request('PATCH', '/api/me', { cookie: changed.session, body: { name: 'A' } });
  assert.deepEqual(outcome(bad), [400, 'invalid_request']);
});

test('signing in again and again keeps a bounded number of sessions', async () => {
  const user = await app.addUser();
  const expired = { user_id: user.id, expires_at: new Date(app.clock.now() - 1), ip_address: '', user_agent: '' };
  const rows = Array.from({ length: 150 }, (_, index) => ({
    ...expired,
    id: `expired-${index}`,
    token: `expired-${index}`,
  }));
  await app.db.kysely.insertInto('sessions').values(rows).execute();
  const cookie = await app.signIn(user.email);
  const left = await app.db.kysely.selectFrom('sessions').select('id').where('user_id', '=', user.id).execute();
  assert.equal(left.length, 1);
  assert.equal((await get('/api/me', cookie)).status, 200);
});

test('a session is renewed once a day and ends after seven days without a visit', async () => {
  const user = await app.addUser();
  const cookie = await app.signIn(user.email);
  assert.deepEqual((await get('/api/me', cookie)).cookies, []);
  app.clock.advance(dayMs / 2);
  assert.deepEqual((await get('/api/me', cookie)).cookies, []);
  app.clock.advance(dayMs / 2);
  const visits = await Promise.all(Array.from({ length: 8 }, () => get('/api/me', cookie)));
  const renewals = visits.filter(({ cookies }) => cookies.length > 0);
  assert.equal(renewals.length, 1);
  assert.equal(renewals[0]?.session, cookie);
  assert.match(renewals[0]?.cookies.join() ?? '', /; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/);
  assert.deepEqual((await get('/api/me', cookie)).cookies, []);
  app.clock.advance(6.5 * dayMs);
  const body = { currentPassword: testPassword, newPassword };
  const changed = await app.request('POST', '/api/auth/change-password', { cookie, body });
  assert.equal(changed.cookies.length, 1, 'the new cookie, not also the renewed old one');
  assert.equal((await get('/api/me', changed.session)).status, 200);
  app.clock.advance(7 * dayMs);
  assert.deepEqual(outcome(await get('/api/me', changed.session)), [401, 'unauthorized']);
});
