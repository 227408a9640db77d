import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { insertPassword } from '../../../src/accounts/credentials.ts';
import { setUserEnabled } from '../../../src/accounts/users.ts';
import { type Json, startTestApp } from '../../app.ts';
import { createTestDatabase, type TestDatabase } from '../../database.ts';
import { begin, comeBack, type OidcWorld, openBrowser, signInBy, startOidcWorld } from './oidc-browser.ts';

/** The users whom single sign-on admits and refuses (contract.md section 3). */

let database: TestDatabase;
let world: OidcWorld;
before(async () => {
  database = await createTestDatabase();
  world = await startOidcWorld({ database });
});
after(async () => {
  await world.stop();
  await database.drop();
});
beforeEach(async () => {
  world.idp.person = {};
  world.idp.document = {};
  await world.configure({ autoProvision: false, linkByEmail: false, allowedDomains: [], label: 'Corp' });
});

let people = 0;
const someone = () => {
  people += 1;
  return { sub: `subject-${people}`, email: `person-${people}@corp.example`, email_verified: true, name: 'Jo Doe' };
};
const landed = { path: '/c/1', error: null, status: 302 };
const refused = (error: string) => ({ path: '/sign-in', error, email: undefined, status: 302 });
const userOf = (email: string) =>
  database.database.kysely.selectFrom('users').selectAll().where('email', '=', email).executeTakeFirst();
const identitiesOf = (userId: string) =>
  database.database.kysely.selectFrom('credentials').selectAll().where('user_id', '=', userId).execute();
const eventsOf = (userId: string) =>
  database.database.kysely
    .selectFrom('audit_events')
    .select(['action', 'details', 'target_id'])
    .where('actor_id', '=', userId)
    .orderBy('at')
    .orderBy('id')
    .execute();

test('refuses unknown users without provisioning, and creates an account of role user with it', async () => {
  const person = someone();
  world.idp.person = person;
  assert.deepEqual(await signInBy(world), refused('signup_disabled'));
  assert.equal(await userOf(person.email), undefined);

  await world.configure({ autoProvision: true });
  world.idp.person = { ...person, role: 'admin', enabled: false, must_change_password: true, id: 'chosen' };
  const browser = openBrowser();
  assert.deepEqual(await signInBy(world, browser), { ...landed, email: person.email });
  const user = await userOf(person.email);
  assert.ok(user !== undefined && user.id !== 'chosen');
  assert.deepEqual(
    [user.role, user.enabled, user.name, user.email_verified, user.must_change_password],
    ['user', true, 'Jo Doe', true, false],
  );
  const [identity, ...others] = await identitiesOf(user.id);
  assert.equal(others.length, 0);
  assert.equal(identity?.account_id, `${world.idp.issuer}#${person.sub}`);
  const { access_token, refresh_token, id_token, password } = identity;
  assert.deepEqual([access_token, refresh_token, id_token, password], [null, null, null, null]);
  assert.deepEqual(await eventsOf(user.id), [
    { action: 'oidc.provisioned', details: {}, target_id: user.id },
    { action: 'session.signed_in', details: { method: 'oidc' }, target_id: null },
  ]);

  // Known from here on: with provisioning or not, and under another address.
  await world.configure({ autoProvision: false });
  world.idp.person = { ...person, email: 'another@elsewhere.example', email_verified: false, name: 'New Name' };
  assert.deepEqual(await signInBy(world), { ...landed, email: person.email });
  world.idp.person = { sub: person.sub };
  assert.deepEqual(await signInBy(world), { ...landed, email: person.email });
  assert.deepEqual(await userOf(person.email), user);
  const row = await database.database.kysely
    .selectFrom('sessions')
    .select(['ip_address', 'user_agent'])
    .where('user_id', '=', user.id)
    .executeTakeFirst();
  assert.deepEqual([row?.ip_address, row?.user_agent], ['127.0.0.1', 'node']);
});

test('links an account only by an exact, verified address, and only when that is switched on', async () => {
  const person = someone();
  const user = await world.app.signIn({ email: person.email });
  await insertPassword(database.database.kysely, user.id, 'hash');
  world.idp.person = person;
  await world.configure({ autoProvision: true });
  assert.deepEqual(await signInBy(world), refused('account_not_linked'));

  await world.configure({ linkByEmail: true });
  for (const email_verified of [false, undefined, null, 'True', 'false', 1, 'yes', {}, [true]]) {
    world.idp.person = { ...person, email_verified };
    assert.deepEqual(await signInBy(world), refused('email_not_verified'), JSON.stringify(email_verified));
  }
  const { email } = person;
  const hostile = [
    ...[`${email}\n`, ` ${email}`, `${email} `, `<${email}>`, `x@evil.example@corp.example`, `${email},x@y.example`],
    ...[
      email.replace('e', '\u0435'),
      email.replace('corp', '\uff43orp'),
      `\u212aarl@corp.example`,
      `${email}\u0000`,
      '',
    ],
    ...[undefined, null, 5, true, [], [[email]], { email }],
  ];
  for (const email of hostile) {
    world.idp.person = { ...person, email };
    assert.deepEqual(await signInBy(world), refused('email_missing'), JSON.stringify(email));
  }
  assert.deepEqual(
    (await identitiesOf(user.id)).map((row) => row.provider_id),
    ['credential'],
  );

  world.idp.person = { ...person, email: email.toUpperCase() };
  assert.deepEqual(await signInBy(world), { ...landed, email });
  const identities = await identitiesOf(user.id);
  assert.deepEqual(identities.map((row) => row.provider_id).sort(), ['credential', 'oidc']);
  assert.deepEqual(
    (await eventsOf(user.id)).map((event) => event.action),
    ['oidc.linked', 'session.signed_in'],
  );
  // A second identity with the same verified address is linked, too; each belongs to one account.
  world.idp.person = { ...person, sub: `${person.sub}-b` };
  assert.deepEqual(await signInBy(world), { ...landed, email });
});

test('linking changes neither role nor name', async () => {
  const person = someone();
  const admin = await world.app.signIn({ email: person.email, role: 'admin', name: 'The Chief' });
  await world.configure({ linkByEmail: true });
  world.idp.person = { ...person, role: 'user' };
  assert.deepEqual(await signInBy(world), { ...landed, email: admin.email });
  const user = await userOf(person.email);
  assert.deepEqual([user?.role, user?.name], ['admin', 'The Chief']);
});

test('a disabled account is neither linked nor signed in', async () => {
  const person = someone();
  const user = await world.app.signIn({ email: person.email });
  const deps = { db: database.database };
  await world.configure({ linkByEmail: true, autoProvision: true });
  await setUserEnabled(deps, user.id, false);
  world.idp.person = person;
  assert.deepEqual(await signInBy(world), refused('account_disabled'));
  assert.deepEqual(await identitiesOf(user.id), []);
  await setUserEnabled(deps, user.id, true);
  assert.deepEqual(await signInBy(world), { ...landed, email: person.email });
  await setUserEnabled(deps, user.id, false);
  assert.deepEqual(await signInBy(world), refused('account_disabled'));
});

test('matches whole domains only, for known users as well', async () => {
  await world.configure({ autoProvision: true, allowedDomains: ['corp.example', 'Other.Example'] });
  const inside = someone();
  world.idp.person = inside;
  assert.deepEqual(await signInBy(world), { ...landed, email: inside.email });
  const outside = [
    ...['x@evil-corp.example', 'x@corp.example.evil.example', 'x@sub.corp.example', 'x@example', 'x@evil.example'],
    ...['corp.example@evil.example', 'x@corp.exampl', 'x@orp.example'],
  ];
  for (const email of outside) {
    world.idp.person = { ...someone(), email };
    const landing = await signInBy(world);
    assert.ok(['domain_not_allowed', 'email_missing'].includes(landing.error ?? ''), `${email}: ${landing.error}`);
    assert.equal(await userOf(email), undefined);
  }
  world.idp.person = { ...someone(), email: `UPPER-${people}@OTHER.EXAMPLE` };
  assert.deepEqual(await signInBy(world), { ...landed, email: `upper-${people}@other.example` });

  for (const change of [{ email: 'x@evil.example' }, { email_verified: false }, { email: undefined }]) {
    world.idp.person = { ...inside, ...change };
    assert.equal((await signInBy(world)).email, undefined, JSON.stringify(change));
  }
});

test('treats the same subject of another issuer as another user', async () => {
  const person = someone();
  world.idp.person = person;
  await world.configure({ autoProvision: true });
  assert.deepEqual(await signInBy(world), { ...landed, email: person.email });
  const second = await startOidcWorld({ database });
  try {
    await second.configure({ autoProvision: false, linkByEmail: false });
    second.idp.person = { ...person, email: 'attacker@evil.example' };
    assert.deepEqual(await signInBy(second), refused('signup_disabled'));
  } finally {
    await second.stop();
    await world.configure({ issuer: world.idp.issuer, ...world.idp.client });
  }
});

test('normalizes names for an account', async () => {
  await world.configure({ autoProvision: true });
  for (const [claims, expected] of [
    [{ name: 'n'.repeat(500) }, 'n'.repeat(100)],
    [{ name: ' A\u0000B\nC ' }, 'A B C'],
    [{ name: 'X', preferred_username: 'ignored' }, /^person-\d+$/],
    [{ name: undefined, preferred_username: 'jodoe' }, 'jodoe'],
    [{ name: 7 }, /^person-\d+$/],
    [{ name: `${'a'.repeat(99)}😀` }, `${'a'.repeat(99)}\ufffd`],
  ] as const) {
    const person = { ...someone(), ...claims };
    world.idp.person = person;
    assert.equal((await signInBy(world)).email, person.email);
    const { name } = (await userOf(person.email)) ?? assert.fail();
    if (typeof expected === 'string') assert.equal(name, expected);
    else assert.match(name, expected);
  }
});

test('twenty concurrent first sign-ins of one user make one account', async () => {
  await world.configure({ autoProvision: true });
  const person = someone();
  world.idp.person = person;
  const landings = await Promise.all(Array.from({ length: 20 }, () => signInBy(world)));
  assert.ok(landings.some((landing) => landing.email === person.email));
  for (const { email, error } of landings) assert.ok(email === person.email || error === 'sign_in_failed', error ?? '');
  const user = await userOf(person.email);
  assert.equal((await identitiesOf(user?.id ?? '')).length, 1);
  assert.deepEqual(await signInBy(world), { ...landed, email: person.email });
});

test('single sign-on never creates the first user before the setup', async () => {
  const fresh = await createTestDatabase();
  const other = await startOidcWorld({ database: fresh });
  try {
    await other.configure({ autoProvision: true });
    await fresh.database.pool.query('delete from users');
    other.idp.person = someone();
    assert.deepEqual(await signInBy(other), refused('setup_required'));
    const { rows } = await fresh.database.pool.query('select count(*)::int as users from users');
    assert.deepEqual(rows, [{ users: 0 }]);
    assert.equal((await other.app.anonymous.call('GET /api/setup')).body.required, true);
  } finally {
    await other.stop();
    await fresh.drop();
  }
});

test('a change takes effect immediately on every replica, even for sign-ins in progress', async () => {
  const replica = await startTestApp({ database });
  try {
    const person = someone();
    world.idp.person = person;
    const browser = openBrowser();
    const address = world.idp.agree(await begin(world.app, browser));
    await world.configure({ autoProvision: true, providerKey: 'renamed' });
    await assert.rejects(begin(replica, openBrowser()), /404/);
    const there = openBrowser();
    const back = world.idp.agree(await begin(replica, there, { provider: 'renamed' }));
    assert.equal((await comeBack(replica, there, back)).email, person.email);
    assert.deepEqual(await comeBack(world.app, browser, address), refused('sso_unavailable'));

    await world.configure({ providerKey: 'corp', enabled: false });
    await assert.rejects(begin(replica, openBrowser()), /404/);
  } finally {
    await world.configure({ enabled: true, providerKey: 'corp' });
    await replica.stop();
  }
});

test('a sign-in can begin on one replica and end on another', async () => {
  const replica = await startTestApp({ database, config: { baseUrl: world.app.url } });
  try {
    await world.configure({ autoProvision: true });
    const person = someone();
    world.idp.person = person;
    const browser = openBrowser();
    const address = world.idp.agree(await begin(world.app, browser));
    const { pathname, search } = new URL(address);
    const landing = await comeBack(replica, browser, new URL(pathname + search, replica.url).href);
    assert.deepEqual(landing, { ...landed, email: person.email });
  } finally {
    await replica.stop();
  }
});

test('behind https every cookie is Secure, and the provider gets the public address', async () => {
  const baseUrl = 'https://chat.example.org';
  const secure = await startTestApp({ database, config: { baseUrl } });
  try {
    await world.configure({ autoProvision: true });
    const person = someone();
    world.idp.person = person;
    const body = JSON.stringify({ provider: 'corp', callbackURL: `${baseUrl}/c/3` });
    const headers = { 'content-type': 'application/json', origin: baseUrl };
    const begun = await fetch(`${secure.url}/api/auth/sign-in/social`, { method: 'POST', headers, body });
    const [state = '', ...others] = begun.headers.getSetCookie();
    assert.equal(others.length, 0);
    assert.match(state, /^__Secure-homeport\.state=[^;]+; Max-Age=300; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
    const { url }: Json = await begun.json();
    const redirectUri = new URL(url).searchParams.get('redirect_uri');
    assert.equal(redirectUri, `${baseUrl}/api/auth/oauth2/callback/corp`);
    const { pathname, search } = new URL(world.idp.agree(url));
    const cookie = state.split(';')[0] ?? '';
    const back = await fetch(secure.url + pathname + search, { headers: { cookie }, redirect: 'manual' });
    assert.deepEqual([back.status, back.headers.get('location')], [302, `${baseUrl}/c/3`]);
    const session = back.headers.getSetCookie().find((text) => text.startsWith('__Secure-homeport.session_token='));
    assert.match(session ?? '', /=[^;]+; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
    const me: Json = await (
      await fetch(`${secure.url}/api/me`, { headers: { cookie: session?.split(';')[0] ?? '' } })
    ).json();
    assert.equal(me.user.email, person.email);
    // Plain http is another origin.
    const foreign = await secure.anonymous.call('POST /api/auth/sign-in/social', {
      provider: 'corp',
      callbackURL: 'http://chat.example.org/',
    });
    assert.equal(foreign.status, 400);
  } finally {
    await secure.stop();
  }
});
