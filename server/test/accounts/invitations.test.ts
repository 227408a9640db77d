import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { sendRaw } from '../raw-request.ts';
import { type AccountsApp, type Answer, startAccountsApp } from './accounts-app.ts';

/** Invitations from creation to the account (contract.md section 3). */

const path = '/api/invitations';
const password = 'invited horse 1';
const outcome = ({ status, body }: Answer) => [status, body?.error?.code];
const fieldOf = ({ body }: Answer) => body?.error?.details?.[0]?.path;

let database: TestDatabase;
let app: AccountsApp;
let other: AccountsApp;
let cookie: string;
let made = 0;
const newEmail = () => {
  made += 1;
  return `invited${made}@example.org`;
};
before(async () => {
  database = await createTestDatabase();
  app = await startAccountsApp({ database, config: { baseUrl: 'https://chat.example.org' } });
  other = await startAccountsApp({ database, clock: app.clock });
  const administrator = await app.addUser({ role: 'admin', name: 'Mara' });
  cookie = await app.signIn(administrator.email);
});
after(async () => {
  await app.stop();
  await other.stop();
  await database.drop();
});

const invite = (body: object = {}) => app.request('POST', path, { cookie, body: { email: newEmail(), ...body } });
const open = (token: string, from?: string) =>
  app.request('GET', `${path}?${new URLSearchParams({ token })}`, from === undefined ? {} : { from });
const redeem = (token: string, via: AccountsApp = app, from?: string) =>
  via.request('PUT', path, {
    body: { token, name: 'Grace', password },
    ...(from === undefined ? {} : { from }),
  });
const states = async () => {
  const { body } = await app.request('GET', `${path}?limit=500`, { cookie });
  return new Map(body.invitations.map((one: { id: string; state: string }) => [one.id, one.state]));
};

test('an invitation becomes a signed-in account with its role and address', async () => {
  const email = newEmail();
  const body = { email: email.toUpperCase(), name: 'Grace', role: 'admin', mcpSettingsEnabled: false };
  const answer = await invite(body);
  assert.equal(answer.status, 201);
  const { invitation, token, url } = answer.body;
  const { id, createdAt, expiresAt, ...rest } = invitation;
  assert.deepEqual(rest, { email, name: 'Grace', role: 'admin', state: 'pending' });
  assert.equal(Date.parse(expiresAt) - Date.parse(createdAt), 168 * 3_600_000);
  assert.match(token, /^[A-Za-z0-9_-]{43}$/);
  assert.equal(url, `https://chat.example.org/invitation#token=${token}`);
  assert.deepEqual((await open(token)).body, {
    invitation: { email, name: 'Grace', expiresAt },
  });
  const redeemed = await redeem(token);
  assert.equal(redeemed.status, 201);
  assert.deepEqual(Object.keys(redeemed.body), ['user']);
  const { id: userId, ...user } = redeemed.body.user;
  assert.deepEqual(user, {
    name: 'Grace',
    email,
    role: 'admin',
    enabled: true,
    mustChangePassword: false,
    providerSettingsEnabled: true,
    mcpSettingsEnabled: false,
  });
  assert.match(
    redeemed.cookies.join(),
    /^__Secure-homeport\.session_token=[^;]+; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
  );
  assert.equal((await app.request('GET', '/api/me', { cookie: redeemed.session })).body.user.id, userId);
  await app.signIn(email, password);
  assert.equal((await states()).get(id), 'accepted');
  assert.deepEqual(outcome(await redeem(token)), [409, 'invitation_used']);
  assert.deepEqual(outcome(await open(token)), [409, 'invitation_used']);
});

test('an invitation names its inviter while that account exists, and nothing else about them', async () => {
  const inviter = await app.addUser({ role: 'admin', name: 'Ada' });
  const session = await app.signIn(inviter.email);
  const { body } = await app.request('POST', path, { cookie: session, body: { email: newEmail() } });
  const inviterOf = (token: string) => app.request('GET', `/api/invitations/inviter?token=${token}`);
  assert.deepEqual((await inviterOf(body.token)).body, { name: 'Ada' });
  assert.equal((await inviterOf('x'.repeat(43))).status, 404);
  await app.db.kysely.updateTable('users').set({ deleted_at: new Date() }).where('id', '=', inviter.id).execute();
  assert.deepEqual((await inviterOf(body.token)).body, { name: null });
});

test('stores the token nowhere', async () => {
  const { body } = await invite();
  await open(body.token);
  await redeem(body.token);
  const { rows } = await database.database.pool.query<{ name: string }>(
    `select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public'`,
  );
  for (const { name } of rows) {
    const found = await database.database.pool.query(`select 1 from ${name} t where position($1 in t::text) > 0`, [
      body.token,
    ]);
    assert.equal(found.rowCount, 0, name);
  }
});

test('200 concurrent redemptions over two replicas make one account, twenty times', async () => {
  for (let round = 0; round < 20; round += 1) {
    const { body } = await invite();
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) => redeem(body.token, index % 2 === 0 ? app : other)),
    );
    const counts = Map.groupBy(answers, (answer) => outcome(answer).join(' '));
    assert.deepEqual(
      [...counts].map(([key, group]) => [key, group.length]).sort(),
      [
        ['201 ', 1],
        ['409 invitation_used', 199],
      ],
      `round ${round}`,
    );
  }
  const { rows } = await database.database.pool.query(`select 1 from users where name = 'Grace'`);
  const accepted = await database.database.pool.query('select 1 from invitations where accepted_at is not null');
  assert.equal(rows.length, accepted.rowCount);
});

test('an invitation expires by the clock', async () => {
  const { body } = await invite({ expiresInHours: 1 });
  app.clock.advance(3_400_000);
  assert.equal((await open(body.token)).status, 200);
  app.clock.advance(201_000);
  cookie = await app.signIn((await app.addUser({ role: 'admin' })).email);
  assert.deepEqual(outcome(await open(body.token)), [410, 'invitation_expired']);
  assert.deepEqual(outcome(await redeem(body.token)), [410, 'invitation_expired']);
  assert.equal((await states()).get(body.invitation.id), 'expired');
});

test('a revoked invitation answers like one that never existed', async () => {
  const { body } = await invite();
  const { id } = body.invitation;
  for (let time = 0; time < 2; time += 1) {
    const answer = await app.request('DELETE', `${path}?id=${id}`, { cookie });
    assert.deepEqual([answer.status, answer.body.ok, answer.body.invitation.state], [200, true, 'revoked']);
  }
  const unknown = await open('never-given-out');
  for (const answer of [await open(body.token), await redeem(body.token)]) {
    assert.equal(answer.status, 404);
    assert.equal(answer.body.error.message, unknown.body.error.message);
  }
  const used = (await invite()).body;
  await redeem(used.token);
  const late = await app.request('DELETE', `${path}?id=${used.invitation.id}`, { cookie });
  assert.deepEqual(outcome(late), [409, 'invitation_used']);
  assert.equal((await app.request('DELETE', `${path}?id=missing`, { cookie })).status, 404);
});

test('refuses an address that has an account, at creation and at redemption', async () => {
  const email = newEmail();
  const first = await invite({ email });
  const second = await invite({ email });
  assert.deepEqual([first.status, second.status], [201, 201]);
  assert.equal((await redeem(first.body.token)).status, 201);
  assert.deepEqual(outcome(await redeem(second.body.token)), [409, 'email_taken']);
  assert.equal((await states()).get(second.body.invitation.id), 'pending');
  assert.deepEqual(outcome(await invite({ email: email.toUpperCase() })), [409, 'email_taken']);
});

test('lists invitations for administrators, and opens one for any client with its token', async () => {
  assert.deepEqual(outcome(await app.request('GET', path)), [401, 'unauthorized']);
  assert.deepEqual(outcome(await app.request('GET', `${path}?limit=0`)), [401, 'unauthorized']);
  const user = await app.addUser();
  const session = await app.signIn(user.email);
  assert.deepEqual(outcome(await app.request('GET', path, { cookie: session })), [403, 'forbidden']);
  const { body } = await invite();
  assert.equal((await app.request('GET', `${path}?token=${body.token}`, { cookie: session })).status, 200);
  const seen: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const query: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const page: Answer = await app.request('GET', `${path}?limit=5${query}`, { cookie });
    seen.push(...page.body.invitations.map((one: { id: string }) => one.id));
    cursor = page.body.nextCursor;
  }
  const { rows } = await database.database.pool.query('select id from invitations order by created_at desc, id desc');
  assert.deepEqual(
    seen,
    rows.map((row) => row.id),
  );
  assert.doesNotMatch(JSON.stringify((await app.request('GET', path, { cookie })).body), /token/);
});

test('limits guessing per address, without locking others out', async () => {
  const { body } = await invite();
  const eve = '198.51.100.9';
  const outcomes = [];
  for (let guess = 0; guess < 35; guess += 1) outcomes.push((await open(`guess-${guess}`, eve)).status);
  assert.deepEqual(outcomes, [...Array(30).fill(404), ...Array(5).fill(429)]);
  const limited = await redeem(body.token, app, eve);
  assert.deepEqual(outcome(limited), [429, 'rate_limited']);
  assert.ok(Number(limited.headers.get('retry-after')) > 0);
  assert.equal((await open(body.token, '198.51.100.10')).status, 200);
  app.clock.advance(10 * 60_000 + 1_000);
  assert.equal((await open(body.token, eve)).status, 200);
});

test('names every field outside its limit', async () => {
  const good = { email: newEmail() };
  const cases: [string, unknown[]][] = [
    ['email', ['nobody', '', undefined, 7]],
    ['name', ['A', 'x'.repeat(101)]],
    ['role', ['owner']],
    ['expiresInHours', [0, 8761, 1.5, '24', null]],
    ['mcpSettingsEnabled', ['true']],
  ];
  for (const [name, values] of cases) {
    for (const value of values) {
      const answer = await invite({ ...good, [name]: value });
      const where = `${name} ${JSON.stringify(value)}`;
      if (value === undefined) continue;
      assert.deepEqual([...outcome(answer), fieldOf(answer)], [400, 'invalid_request', name], where);
    }
  }
  const { body } = await invite();
  for (const [name, value] of [
    ['token', ''],
    ['token', 'x'.repeat(257)],
    ['name', 'A'],
    ['password', 'short 1'],
    ['password', 'no digit in here'],
  ] as const) {
    const sent = { token: body.token, name: 'Grace', password, [name]: value };
    const answer = await app.request('PUT', path, { body: sent });
    assert.deepEqual([...outcome(answer), fieldOf(answer)], [400, 'invalid_request', name]);
  }
  assert.equal((await redeem(body.token)).status, 201);
});

test('without BASE_URL the link has the address that the administrator uses', async () => {
  const { body } = await other.request('POST', path, {
    cookie: await other.signIn((await other.addUser({ role: 'admin' })).email),
    body: { email: newEmail() },
  });
  assert.match(body.url, /^http:\/\/127\.0\.0\.1:\d+\/invitation#token=/);
});

test('a forged Host header does not become the address of an invitation', async () => {
  const admin = await other.signIn((await other.addUser({ role: 'admin' })).email);
  for (const host of ['elsewhere.example', 'localhost.elsewhere.example:80', '127.0.0.1.nip.example']) {
    const made = JSON.stringify({ email: newEmail() });
    const head = `POST ${path} HTTP/1.1\r\nhost: ${host}\r\ncookie: ${admin}\r\nconnection: close\r\n`;
    const json = `content-type: application/json\r\ncontent-length: ${made.length}\r\n\r\n${made}`;
    const answer = await sendRaw(other.url, head + json);
    assert.equal(answer.status, 201, answer.body);
    assert.match(answer.body, new RegExp(`"url":"${other.url}/invitation#token=`), host);
  }
});
