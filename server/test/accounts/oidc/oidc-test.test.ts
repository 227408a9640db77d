import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { OidcCheck } from '@homeport/contracts/accounts/single-sign-on';
import { createEgress } from '../../../src/egress/egress.ts';
import { bindCredentials } from '../../../src/provision/bind-credentials.ts';
import { seal } from '../../../src/secrets/key-ring.ts';
import type { SignedIn } from '../../app.ts';
import { type OidcWorld, startOidcWorld } from './oidc-browser.ts';

/** The test of a provider for administrators, before they enable it. */

let world: OidcWorld;
let admin: SignedIn;
before(async () => {
  world = await startOidcWorld();
  admin = await world.app.signIn({ role: 'admin' });
});
after(() => world.stop());
beforeEach(async () => {
  world.idp.document = {};
  world.idp.answers.clear();
  await world.configure({ issuer: world.idp.issuer, discoveryUrl: '', ...world.idp.client });
});

const notTried = 'Skipped because the previous check failed.';

/** The checks as `name: message`, with a dash in front of failed ones. */
async function runTest(oidc?: object): Promise<string[]> {
  const body = oidc === undefined ? undefined : { oidc };
  const answer = await admin.call('POST /api/admin/oidc-test', body);
  assert.equal(answer.status, 200, answer.text);
  const checks: OidcCheck[] = answer.body.checks;
  assert.equal(
    answer.body.ok,
    checks.every((check) => check.ok),
  );
  assert.doesNotMatch(answer.text, /1\+1=2/);
  return checks.map(({ name, ok, message }) => `${ok ? '' : '- '}${name}: ${message}`);
}

test('a good configuration passes every check, even without a body', async () => {
  const good = [
    'discovery: The discovery document was read.',
    `issuer: The issuer is ${world.idp.issuer}.`,
    'endpoints: All endpoints were found, with 1 signing key.',
    'client: The provider accepts the client id and its secret.',
  ];
  assert.deepEqual(await runTest(), good);
  assert.deepEqual(await runTest({}), good);
  await world.configure({ clientSecret: null, clientId: 'other', issuer: 'https://elsewhere.example' });
  assert.deepEqual(await runTest({ ...world.idp.client, issuer: world.idp.issuer }), good);
  const { body } = await admin.call('GET /api/admin/config');
  assert.deepEqual([body.oidc.clientId, body.oidc.hasClientSecret], ['other', false], 'a test saves nothing');
});

test('really tries the client: a wrong secret, a wrong id, none', async () => {
  const refused = '- client: The provider refused the client id or the client secret.';
  assert.equal((await runTest({ clientSecret: 'wrong' })).at(-1), refused);
  assert.equal((await runTest({ clientSecret: null })).at(-1), refused);
  assert.equal((await runTest({ clientId: 'wrong' })).at(-1), refused);
  assert.equal((await runTest({ clientId: '' })).at(-1), '- client: Give the client id.');
  for (const [status, error, message] of [
    [400, 'unauthorized_client', 'The provider does not allow this client the authorization code flow.'],
    [400, 'invalid_request', "The provider's answer (invalid_request) does not say whether it accepts this client."],
    [500, '<script>', "The provider's answer (status 500) does not say whether it accepts this client."],
    [200, undefined, "The provider's answer (status 200) does not say whether it accepts this client."],
  ] as const) {
    world.idp.answers.set('/token', () => ({ status, body: { error } }));
    assert.equal((await runTest()).at(-1), `- client: ${message}`);
  }
});

test('keeps the client secret at another address without sending it, and uses it again at its own', async () => {
  const { issuer } = world.idp;
  const moved = issuer.replace('127.0.0.1', 'localhost');
  const config = async (oidc: object) => (await admin.call('POST /api/admin/config', { oidc })).body.oidc;
  const begin = () => world.app.anonymous.call('POST /api/auth/sign-in/social', { provider: 'corp' });
  const discoveryUrl = `${moved}/.well-known/openid-configuration`;
  world.idp.seen.length = 0;
  for (const oidc of [{ issuer: moved }, { discoveryUrl }]) {
    const { status, body } = await admin.call('POST /api/admin/oidc-test', { oidc });
    assert.deepEqual([status, body.error.code], [409, 'credentials_unreadable']);
    assert.deepEqual(body.error.details, { reason: 'address_changed', origin: issuer });
  }
  const { credentialsOrigin, credentialsError, hasClientSecret } = await config({ issuer: moved });
  assert.deepEqual([credentialsOrigin, credentialsError, hasClientSecret], [issuer, undefined, true]);
  const refused = await begin();
  assert.deepEqual([refused.status, refused.body.error.code], [409, 'credentials_unreadable']);
  assert.match(refused.body.error.message, /enter it again/);
  assert.ok(!refused.text.includes(issuer), 'strangers are not told where it belongs');
  assert.deepEqual(world.idp.seen, [], 'nobody was asked anything');
  assert.match((await runTest({ clientSecret: 'new' }))[1] ?? '', /^- issuer:/, 'a new one is for the new address');
  assert.equal((await config({ issuer })).credentialsOrigin, undefined);
  assert.match((await runTest()).at(-1) ?? '', /^client: The provider accepts/);
  assert.equal((await begin()).status, 200);
});

test("binds an earlier release's client secret to its current address", async () => {
  const { db, secrets, log } = world.app.service.deps;
  const place = { table: 'settings', row: 'installation', column: 'oidc_client_secret' };
  const { clientSecret } = world.idp.client;
  const stored = async (envelope: string) => db.pool.query('update settings set oidc_client_secret = $1', [envelope]);
  const moved = { issuer: world.idp.issuer.replace('127.0.0.1', 'localhost') };
  await stored(seal(secrets, place, clientSecret));
  assert.equal((await admin.call('POST /api/admin/oidc-test', { oidc: moved })).status, 409, 'before it was bound');
  await bindCredentials({ db, secrets, log });
  const { rows } = await db.pool.query('select oidc_client_secret as envelope from settings');
  assert.match(rows[0].envelope, /^v2\./);
  assert.match((await runTest()).at(-1) ?? '', /^client: The provider accepts/);
  assert.equal((await admin.call('POST /api/admin/oidc-test', { oidc: moved })).status, 409);
});

test("reports a provider's fault at its check, and tries nothing after it", async () => {
  const { issuer } = world.idp;
  const rest = (from: number) =>
    ['- issuer', '- endpoints', '- client'].slice(from).map((name) => `${name}: ${notTried}`);
  assert.deepEqual(await runTest({ issuer: '', discoveryUrl: '' }), [
    '- discovery: Give the issuer or the discovery URL.',
    ...rest(0),
  ]);
  assert.deepEqual(await runTest({ issuer: `${issuer}/other` }), [
    '- discovery: There is no discovery document at this address',
    ...rest(0),
  ]);
  const other = `${issuer}/`;
  assert.deepEqual(await runTest({ issuer: other }), [
    'discovery: The discovery document was read.',
    `- issuer: The discovery document names the issuer ${issuer}, but the configured one is ${other}. They must be identical, including a final slash.`,
    ...rest(1),
  ]);
  world.idp.document = {
    token_endpoint: undefined,
    authorization_endpoint: 'javascript:alert(1)',
    code_challenge_methods_supported: ['plain'],
  };
  assert.deepEqual((await runTest()).slice(2), [
    '- endpoints: authorization_endpoint is not an address that can be used. token_endpoint is missing. PKCE with S256 is not supported.',
    ...rest(2),
  ]);
  world.idp.document = {};
  world.idp.answers.set('/jwks', () => ({ status: 200, body: { keys: [{ kty: 'oct' }] } }));
  assert.deepEqual((await runTest()).slice(2), ['- endpoints: The provider publishes no signing keys', ...rest(2)]);
  await world.idp.stop();
  assert.match((await runTest())[0] ?? '', /^- discovery: The service could not be reached/);
  await world.idp.restart();
});

test("keeps private addresses closed, including the document's, and shows nothing about them", async () => {
  const strict = await startOidcWorld({ egress: createEgress({ allowPrivateEgress: false, allowInsecureHttp: true }) });
  try {
    const chief = await strict.app.signIn({ role: 'admin' });
    const { body } = await chief.call('POST /api/admin/oidc-test');
    assert.match(body.checks[0].message, /^This address is not allowed, or its name cannot be resolved\./);
    assert.deepEqual(strict.idp.seen, []);
  } finally {
    await strict.stop();
  }
  for (const [name, at] of [
    ['jwks_uri', 2],
    ['token_endpoint', 3],
  ] as const) {
    world.idp.document = { [name]: 'http://169.254.169.254/latest/meta-data' };
    assert.match((await runTest())[at] ?? '', /This address is not allowed/);
  }
});

test('allows only administrators, and validates the tried values', async () => {
  const user = await world.app.signIn();
  assert.equal((await user.call('POST /api/admin/oidc-test', {})).status, 403);
  const answer = await admin.call('POST /api/admin/oidc-test', { oidc: { issuer: 'ftp://x' } });
  assert.deepEqual([answer.status, answer.body.error.details[0].path], [400, 'oidc.issuer']);
});
