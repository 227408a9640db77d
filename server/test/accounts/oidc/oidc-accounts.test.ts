import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import type { SignedIn } from '../../app.ts';
import { createTestDatabase, type TestDatabase } from '../../database.ts';
import {
  type Browser,
  begin,
  comeBack,
  type OidcWorld,
  openBrowser,
  request,
  signInBy,
  startOidcWorld,
} from './oidc-browser.ts';

/** Several sign-ins of one browser, other accounts at the provider, signing out there, and identities of an account. */

let database: TestDatabase;
let world: OidcWorld;
let admin: SignedIn;
before(async () => {
  database = await createTestDatabase();
  world = await startOidcWorld({ database });
  admin = await world.app.signIn({ role: 'admin' });
  await defaults();
});
after(async () => {
  await world.stop();
  await database.drop();
});
afterEach(async () => {
  world.idp.document = {};
  await defaults();
});

const defaults = () =>
  world.configure({
    autoProvision: true,
    linkByEmail: false,
    trustEmail: false,
    allowedDomains: [],
    prompt: 'none',
    endSession: false,
    syncProfile: false,
  });
let people = 0;
const someone = () => {
  people += 1;
  const person = {
    sub: `member-${people}`,
    email: `member-${people}@corp.example`,
    email_verified: true,
    name: 'Jo Doe',
  };
  world.idp.person = person;
  return person;
};
const promptOf = async (browser: Browser) => new URL(await begin(world.app, browser)).searchParams.get('prompt');
const send = async (browser: Browser, method: string, path: string, body?: unknown) => {
  const headers = { 'content-type': 'application/json', origin: world.app.url };
  const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
  const response = await request(world.app, browser, path, init);
  return { status: response.status, body: JSON.parse((await response.text()) || '{}') };
};
const browserOf = ({ cookie = '' }: SignedIn): Browser => {
  const at = cookie.indexOf('=');
  return { cookies: new Map([[cookie.slice(0, at), cookie.slice(at + 1)]]) };
};
const signOut = (browser: Browser) => send(browser, 'POST', '/api/auth/sign-out', {});
const beginLink = async (browser: Browser): Promise<string> =>
  (await send(browser, 'POST', '/api/me/identities/link', {})).body.url;
const identities = async (browser: Browser) => (await send(browser, 'GET', '/api/me/identities')).body.identities;

test('finishes sign-ins of several tabs in any order, the newest five of them', async () => {
  const person = someone();
  const browser = openBrowser();
  const tabs: string[] = [];
  for (let tab = 0; tab < 7; tab += 1) tabs.push(world.idp.agree(await begin(world.app, browser)));
  const landings: (string | null)[] = [];
  for (const tab of [6, 2, 4, 3, 5, 0, 1]) {
    const { email, error } = await comeBack(world.app, browser, tabs[tab] ?? '');
    landings.push(error);
    assert.equal(email, person.email);
  }
  assert.deepEqual(landings, [null, null, null, null, null, 'state_mismatch', 'state_mismatch']);
  assert.ok(![...browser.cookies.keys()].some((name) => name.includes('state')));
});

test('asks the provider for a choice of account after a refusal and after signing out, until a sign-in succeeds', async () => {
  await world.configure({ allowedDomains: ['corp.example'] });
  const browser = openBrowser();
  assert.equal(await promptOf(browser), null);
  world.idp.person = { ...someone(), email: 'x@private.example' };
  assert.equal((await signInBy(world, browser)).error, 'domain_not_allowed');
  assert.equal(await promptOf(browser), 'select_account');
  someone();
  assert.equal((await signInBy(world, browser)).error, null);
  assert.equal(await promptOf(browser), null);
  assert.deepEqual((await signOut(browser)).body, { success: true });
  assert.equal(await promptOf(browser), 'select_account');
  for (const [values, prompt] of [
    [['none', 'login', 'consent'], 'login'],
    [['none'], null],
    [['select_account'], 'select_account'],
  ] as const) {
    world.idp.document = { prompt_values_supported: values };
    await world.configure({ label: 'Corp' });
    assert.equal(await promptOf(browser), prompt);
  }
  const other = await world.app.signIn();
  const password = browserOf(other);
  await signOut(password);
  assert.equal([...password.cookies.keys()].length, 0, 'a password needs no choice');
  world.idp.document = {};
  await world.configure({ prompt: 'login' });
  assert.equal(await promptOf(openBrowser()), 'login');
  assert.equal(await promptOf(browser), 'login');
});

test('signs out at the provider with the ID token, only where the setting and an endpoint allow it', async () => {
  const end = `${world.idp.issuer}/logout?flow=1`;
  world.idp.document = { end_session_endpoint: end };
  await world.configure({ endSession: true });
  const browser = openBrowser();
  someone();
  await signInBy(world, browser);
  const url = new URL((await signOut(browser)).body.url);
  assert.equal(url.origin + url.pathname, `${world.idp.issuer}/logout`);
  const sent = Object.fromEntries(url.searchParams);
  assert.deepEqual([sent.flow, sent.client_id], ['1', world.idp.client.clientId]);
  assert.equal(sent.post_logout_redirect_uri, `${world.app.url}/sign-in`);
  assert.equal(sent.id_token_hint?.split('.').length, 3);
  assert.deepEqual((await signOut(browser)).body, { success: true }, 'the session is over');

  await signInBy(world, browser);
  await world.configure({ endSession: false });
  assert.deepEqual((await signOut(browser)).body, { success: true }, 'switched off');
  world.idp.document = {};
  await world.configure({ endSession: true });
  await signInBy(world, browser);
  assert.deepEqual((await signOut(browser)).body, { success: true }, 'no endpoint');
  const { body } = await admin.call('POST /api/admin/oidc-test', {});
  assert.match(body.checks[2].message, /no end_session_endpoint/);
});

test('name and address follow the provider at each sign-in if the administrator wants', async () => {
  const person = someone();
  await signInBy(world);
  const renamed = { ...person, name: 'Anna After', email: `after-${people}@corp.example` };
  world.idp.person = renamed;
  assert.equal((await signInBy(world)).email, person.email);
  await world.configure({ syncProfile: true });
  world.idp.person = { ...renamed, email_verified: false };
  assert.equal((await signInBy(world)).email, person.email, 'only a verified address');
  world.idp.person = renamed;
  const browser = openBrowser();
  assert.equal((await signInBy(world, browser)).email, renamed.email);
  assert.equal((await send(browser, 'GET', '/api/me')).body.user.name, 'Anna After');
  const taken = await world.app.signIn();
  world.idp.person = { ...renamed, email: taken.email };
  assert.equal((await signInBy(world)).email, renamed.email, 'of another account');
  const { rows } = await database.database.pool.query(
    `select details from audit_events where action = 'user.updated' and details ->> 'by' = 'oidc' order by at, id`,
  );
  assert.deepEqual(
    rows.map(({ details }) => details.changed),
    [['name'], ['email']],
  );
});

test('links an identity to the account of a recent session, and never that of another account', async () => {
  const person = someone();
  const owner = openBrowser();
  await signInBy(world, owner);
  assert.equal((await identities(owner)).length, 1);

  const member = await world.app.signIn();
  const browser = browserOf(member);
  await database.database.pool.query(
    `insert into credentials (id, user_id, account_id, provider_id, password) values ('pw-1', $1, $1, 'credential', 'x')`,
    [member.id],
  );
  const taken = await comeBack(world.app, browser, world.idp.agree(await beginLink(browser)));
  assert.deepEqual([taken.path, taken.error, taken.email], ['/settings/account', 'identity_taken', member.email]);
  assert.equal((await signInBy(world, openBrowser())).email, person.email, 'it stays with its account');

  // The address plays no part: both sides are signed in.
  world.idp.person = { sub: 'linked-by-hand' };
  const landed = await comeBack(world.app, browser, world.idp.agree(await beginLink(browser)));
  assert.deepEqual([landed.path, landed.error, landed.email], ['/settings/account', null, member.email]);
  assert.equal((await signInBy(world, openBrowser())).email, member.email);
  const again = await comeBack(world.app, browser, world.idp.agree(await beginLink(browser)));
  assert.equal(again.error, null, 'twice changes nothing');
  const [identity, ...others] = await identities(browser);
  assert.deepEqual([identity.issuer, identity.subject, others], [world.idp.issuer, 'linked-by-hand', []]);

  // Another session in the same browser by the time the provider answers.
  const address = world.idp.agree(await beginLink(browser));
  world.idp.person = { sub: 'another-hand' };
  const stolen: Browser = {
    cookies: new Map([...browser.cookies, ...[...owner.cookies].filter(([name]) => name.includes('session'))]),
  };
  assert.equal((await comeBack(world.app, stolen, address)).error, 'state_mismatch');
  assert.equal((await identities(owner)).length, 1);

  await database.database.pool.query(`update sessions set created_at = now() - interval '2 hours' where user_id = $1`, [
    member.id,
  ]);
  const old = await send(browser, 'POST', '/api/me/identities/link', {});
  assert.deepEqual([old.status, old.body.error.code], [403, 'recent_sign_in_required']);
});

test('removes an identity unless it is the last way to sign in', async () => {
  someone();
  const browser = openBrowser();
  await signInBy(world, browser);
  const [first] = await identities(browser);
  const remove = (id: string) => send(browser, 'DELETE', `/api/me/identities?id=${id}`);
  const last = await remove(first.id);
  assert.deepEqual([last.status, last.body.error.code], [409, 'last_sign_in_method']);
  world.idp.person = { sub: `second-of-${people}` };
  await comeBack(world.app, browser, world.idp.agree(await beginLink(browser)));
  assert.equal((await remove('unknown')).status, 404);
  assert.equal((await remove(first.id)).status, 200);
  assert.deepEqual(
    (await identities(browser)).map(({ subject }: { subject: string }) => subject),
    [`second-of-${people}`],
  );
});

test('an administrator changes an e-mail address, never to one that is taken', async () => {
  const member = await world.app.signIn();
  const other = await world.app.signIn();
  const change = (email: string) => admin.call('PATCH /api/admin/users', { id: member.id, email });
  const changed = await change(' New.Name@Corp.Example ');
  assert.deepEqual([changed.status, changed.body.user.email], [200, 'new.name@corp.example']);
  assert.equal((await change('new.name@corp.example')).status, 200);
  const taken = await change(other.email.toUpperCase());
  assert.deepEqual([taken.status, taken.body.error.code], [409, 'email_taken']);
  assert.equal((await change('no address')).status, 400);
  const { rows } = await database.database.pool.query(
    `select details from audit_events where action = 'user.updated' and target_id = $1 order by at, id limit 1`,
    [member.id],
  );
  assert.deepEqual(rows[0].details, { changed: ['email'], email: 'new.name@corp.example' });
});
