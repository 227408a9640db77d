import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { exportJWK, type GenerateKeyPairResult, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { createTestDatabase, type TestDatabase } from '../../database.ts';
import { signRight, type TokenFacts } from '../../fakes/identity-provider.ts';
import { begin, comeBack, type OidcWorld, openBrowser, signInBy, startOidcWorld } from './oidc-browser.ts';

/** Attacks of a hostile provider, page or user on the protocol of single sign-on. */

let database: TestDatabase;
let world: OidcWorld;
before(async () => {
  database = await createTestDatabase();
  world = await startOidcWorld({ database });
  await world.configure({ autoProvision: true });
});
after(async () => {
  await world.stop();
  await database.drop();
});
beforeEach(() => {
  const { idp } = world;
  idp.person = { sub: 'ada', email: 'ada@corp.example', email_verified: true };
  idp.document = {};
  idp.sign = undefined;
  idp.answers.clear();
  idp.forgetful = false;
});

const refused = (error: string) => ({ path: '/sign-in', error, email: undefined, status: 302 });
const welcome = { path: '/c/1', error: null, status: 302, email: 'ada@corp.example' };
const seconds = () => Math.floor(Date.now() / 1000);

test('accepts the right token, before and after every wrong one', async () => {
  assert.deepEqual(await signInBy(world), welcome);
  const stranger = await generateKeyPair('RS256');
  const changed =
    (change: JWTPayload) =>
    ({ claims, ...facts }: TokenFacts) =>
      signRight({ ...facts, claims: { ...claims, ...change } });
  const wrong: [string, (facts: TokenFacts) => Promise<string>][] = [
    ['alg none', async ({ claims }) => new UnsecuredJWT(claims).encode()],
    ['alg None', async ({ claims }) => `${encode({ alg: 'None' })}.${encode(claims)}.`],
    ['HS256 with the public key', (facts) => hmac(facts, new TextEncoder().encode(facts.publicKeyPem))],
    ['HS256 with the client secret', (facts) => hmac(facts, new TextEncoder().encode(world.idp.client.clientSecret))],
    ['another key', (facts) => signRight({ ...facts, privateKey: stranger.privateKey })],
    ['another key and its id', (facts) => signRight({ ...facts, privateKey: stranger.privateKey, keyId: 'theirs' })],
    ['its own key inside', (facts) => withOwnKey(facts, stranger)],
    ['no signature', async (facts) => (await signRight(facts)).replace(/[^.]+$/, '')],
    ['changed content', async (facts) => tampered(await signRight(facts))],
    ['another audience', changed({ aud: 'somebody-else' })],
    ['no audience', changed({ aud: undefined })],
    ['others as well, and they are the party', changed({ aud: ['homeport', 'other'], azp: 'other' })],
    ['others as well, and no party', changed({ aud: ['homeport', 'other'] })],
    ['another party', changed({ azp: 'other' })],
    ['another issuer', changed({ iss: 'https://evil.example' })],
    ['its issuer with a slash', changed({ iss: `${world.idp.issuer}/` })],
    ['no issuer', changed({ iss: undefined })],
    ['expired', changed({ exp: seconds() - 60 })],
    ['without an end', changed({ exp: undefined })],
    ['not yet', changed({ nbf: seconds() + 600 })],
    ['without a time', changed({ iat: undefined })],
    ['another nonce', changed({ nonce: 'another' })],
    ['no nonce', changed({ nonce: undefined })],
    ['no subject', changed({ sub: undefined })],
    ['an empty subject', changed({ sub: '' })],
    ['a long subject', changed({ sub: 's'.repeat(256) })],
    ['a strange subject', changed({ sub: 'ad\u0430' })],
    ['no token', async () => ''],
    ['not a token', async () => 'a.b.c'],
  ];
  for (const [name, sign] of wrong) {
    world.idp.sign = sign;
    assert.deepEqual(await signInBy(world), refused('invalid_token'), name);
  }
  world.idp.sign = changed({ aud: ['homeport', 'other'], azp: 'homeport' });
  assert.deepEqual(await signInBy(world), welcome);
  world.idp.sign = (facts) => changed({ exp: seconds() - 10 })(facts);
  assert.deepEqual(await signInBy(world), welcome, 'clocks may differ a little');
});

test('accepts a state once, in the browser that began, and for a limited time', async () => {
  const { app, idp } = world;
  idp.forgetful = true;
  const mine = openBrowser();
  const address = idp.agree(await begin(app, mine));
  const theirs = openBrowser();
  assert.deepEqual(await comeBack(app, theirs, address), refused('state_mismatch'), 'no cookie');
  await begin(app, theirs);
  assert.deepEqual(await comeBack(app, theirs, address), refused('state_mismatch'), 'the cookie of another sign-in');
  const copy = new Map(mine.cookies);
  assert.deepEqual(await comeBack(app, mine, address), welcome);
  assert.deepEqual((await comeBack(app, mine, address)).error, 'state_mismatch', 'again');
  const thief = { cookies: copy };
  assert.deepEqual(await comeBack(app, thief, address), refused('state_mismatch'), 'with the cookie from before');

  for (const state of ['', 'x', 'x'.repeat(3000), '\u0000']) {
    const changed = new URL(idp.agree(await begin(app, mine)));
    changed.searchParams.set('state', state);
    const fresh = { cookies: new Map([...mine.cookies].filter(([name]) => !name.includes('session'))) };
    assert.deepEqual(await comeBack(app, fresh, changed.href), refused('state_mismatch'), JSON.stringify(state));
  }
  const late = openBrowser();
  const old = idp.agree(await begin(app, late));
  await database.database.pool.query(`update verifications set expires_at = now() - interval '1 second',
    value = regexp_replace(value, '"expiresAt":[0-9]+', '"expiresAt":1')`);
  assert.deepEqual(await comeBack(app, late, old), refused('state_mismatch'));
});

test('unfinished sign-ins leave nothing behind, however many', async () => {
  const { pool } = database.database;
  const count = async () => (await pool.query('select count(*)::int as begun from verifications')).rows[0].begun;
  await pool.query('delete from verifications');
  for (let index = 0; index < 5; index += 1) await begin(world.app, openBrowser());
  await pool.query(`update verifications set expires_at = now() - interval '1 second'`);
  const last = openBrowser();
  const address = world.idp.agree(await begin(world.app, last));
  assert.equal(await count(), 1);
  await pool.query(`insert into verifications (id, identifier, value, expires_at)
    select '0' || n, 'x', 'x', now() + interval '1 hour' from generate_series(1, 10010) n`);
  await begin(world.app, openBrowser());
  assert.equal(await count(), 10_000);
  assert.deepEqual(await comeBack(world.app, last, address), welcome, 'the newest stay');
  await pool.query('delete from verifications');
});

test('accepts a code once, with its verifier and its address', async () => {
  const { app, idp } = world;
  const first = openBrowser();
  const one = new URL(idp.agree(await begin(app, first)));
  assert.deepEqual(await comeBack(app, first, one.href), welcome);
  const second = openBrowser();
  const two = new URL(idp.agree(await begin(app, second)));
  two.searchParams.set('code', one.searchParams.get('code') ?? '');
  assert.deepEqual(await comeBack(app, second, two.href), refused('invalid_token'), 'used before');
  const third = openBrowser();
  const stolen = new URL(idp.agree(await begin(app, openBrowser())));
  const own = new URL(idp.agree(await begin(app, third)));
  own.searchParams.set('code', stolen.searchParams.get('code') ?? '');
  assert.deepEqual(await comeBack(app, third, own.href), refused('invalid_token'), 'of another sign-in');
  idp.forgetful = true;
  const fourth = openBrowser();
  const without = new URL(idp.agree(await begin(app, fourth)));
  without.searchParams.delete('code');
  assert.deepEqual(await comeBack(app, fourth, without.href), refused('invalid_token'), 'none');
});

test('a sign-in ends at the provider where it began', async () => {
  const { app, idp } = world;
  const browser = openBrowser();
  const address = idp.agree(await begin(app, browser));
  await world.configure({ clientId: 'another-client' });
  idp.seen.length = 0;
  assert.deepEqual(await comeBack(app, browser, address), refused('sso_unavailable'));
  assert.ok(!idp.seen.includes('/token'), 'the code went to somebody');
  await world.configure({ clientId: idp.client.clientId });

  for (const [iss, expected] of [
    ['https://evil.example', 'invalid_token'],
    [idp.issuer, null],
  ] as const) {
    const named = openBrowser();
    const back = new URL(idp.agree(await begin(app, named)));
    back.searchParams.set('iss', iss);
    assert.equal((await comeBack(app, named, back.href)).error, expected);
  }
});

test('requires an issuer in the answer of a provider that announces one', async () => {
  const other = await startOidcWorld({ database });
  try {
    other.idp.document = { authorization_response_iss_parameter_supported: true };
    other.idp.person = world.idp.person;
    await other.configure({ linkByEmail: true });
    assert.deepEqual(await signInBy(other), refused('invalid_token'));
    const browser = openBrowser();
    const back = new URL(other.idp.agree(await begin(other.app, browser)));
    back.searchParams.set('iss', other.idp.issuer);
    assert.deepEqual(await comeBack(other.app, browser, back.href), welcome);
  } finally {
    await other.stop();
    await world.configure({ issuer: world.idp.issuer, ...world.idp.client, linkByEmail: false });
  }
});

test("maps a provider's error to a code of Homeport, and shows nothing of it", async () => {
  for (const [error, expected] of [
    ['access_denied', 'access_denied'],
    ['temporarily_unavailable', 'provider_unreachable'],
    ['invalid_scope', 'provider_error'],
    ['<script>alert(1)</script>', 'sign_in_failed'],
    ['account_disabled', 'account_disabled'],
  ] as const) {
    const browser = openBrowser();
    const address = new URL(await begin(world.app, browser));
    const back = new URL('/api/auth/oauth2/callback/corp', world.app.url);
    back.search = `${new URLSearchParams({ error, error_description: 'evil words', state: address.searchParams.get('state') ?? '' })}`;
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(back, { headers: { cookie }, redirect: 'manual' });
    const location = answer.headers.get('location') ?? '';
    assert.deepEqual([answer.status, location], [302, `/sign-in?return=%2Fc%2F1&error=${expected}`]);
    assert.equal(answer.headers.get('referrer-policy'), 'no-referrer');
  }
});

test('redirects only to pages of Homeport', async () => {
  const { app } = world;
  const foreign = [
    ...['https://evil.example/', '//evil.example', '/\\evil.example', '\\/evil.example', 'javascript:alert(1)', 'evil'],
    ...[
      `${app.url}.evil.example/`,
      `${app.url}@evil.example/`,
      'http://127.0.0.1:1/',
      '/\t/evil.example',
      ' //evil.example',
      '',
    ],
    ...[`https${app.url.slice(4)}/`, 'data:text/html,x', '/x\r\nset-cookie: a=b'],
  ];
  for (const address of foreign) {
    for (const name of ['callbackURL', 'errorCallbackURL']) {
      const answer = await app.anonymous.call('POST /api/auth/sign-in/social', { provider: 'corp', [name]: address });
      const paths = answer.body.error?.details?.map((detail: { path: string }) => detail.path);
      assert.deepEqual([answer.status, paths], [400, [name]], `${name} ${JSON.stringify(address)}`);
    }
  }
  const browser = openBrowser();
  const back = world.idp.agree(await begin(app, browser, { callbackURL: `${app.url}/c/2?a=b#c` }));
  assert.equal((await comeBack(app, browser, back)).path, '/c/2');
  assert.equal((await app.anonymous.call('POST /api/auth/sign-in/social', { provider: 'google' })).status, 404);
  assert.equal((await app.anonymous.call('POST /api/auth/sign-in/social', { provider: 'oidc' })).status, 404);
  const smuggled = { provider: 'corp', idToken: { token: 'x' }, additionalData: { link: 1 }, disableRedirect: false };
  const answer = await app.anonymous.call('POST /api/auth/sign-in/social', smuggled);
  assert.deepEqual([answer.status, answer.body.redirect], [200, false]);
  for (const path of [
    '/api/auth/callback/oidc',
    '/api/auth/callback/corp',
    '/api/auth/oauth2/callback',
    '/api/auth/link-social',
  ]) {
    assert.equal((await app.anonymous.fetch(`${path}?code=a&state=b`)).status, 404, path);
  }
});

test('replaces an earlier session with a new one', async () => {
  const browser = openBrowser();
  await signInBy(world, browser);
  const before = new Map(browser.cookies);
  await signInBy(world, browser);
  assert.notDeepEqual(browser.cookies, before);
  assert.match([...browser.cookies.keys()].join(), /^homeport\.session_token$/);
});

test('reports an unreadable client secret and does not use it', async () => {
  await database.database.pool.query(`update settings set oidc_client_secret = 'v1.a.b.c'`);
  const answer = await world.app.anonymous.call('POST /api/auth/sign-in/social', { provider: 'corp' });
  assert.deepEqual([answer.status, answer.body.error.code], [409, 'credentials_unreadable']);
  const back = await comeBack(
    world.app,
    openBrowser(),
    `${world.app.url}/api/auth/oauth2/callback/corp?code=a&state=b`,
  );
  assert.equal(back.error, 'sso_unavailable');
  await world.configure(world.idp.client);
  assert.deepEqual(await signInBy(world), welcome);
});

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function hmac({ claims, keyId }: TokenFacts, key: Uint8Array): Promise<string> {
  return new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: keyId }).sign(key);
}

async function withOwnKey({ claims }: TokenFacts, pair: GenerateKeyPairResult): Promise<string> {
  const jwk = await exportJWK(pair.publicKey);
  return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', jwk }).sign(pair.privateKey);
}

function tampered(token: string): string {
  const [header = '', payload = '', signature = ''] = token.split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
  return [header, encode({ ...claims, email: 'chief@corp.example' }), signature].join('.');
}
