import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { createEgress } from '../../../src/egress/egress.ts';
import { createTestDatabase, type TestDatabase } from '../../database.ts';
import { begin, comeBack, type OidcWorld, openBrowser, signInBy, startOidcWorld } from './oidc-browser.ts';

/** A provider that is unreachable, answers incorrectly, or names forbidden addresses. */

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

test('a discovery document cannot lead Homeport to private addresses, nor the browser to a script', async () => {
  const strict = await startOidcWorld({
    config: { allowPrivateEgress: false },
    egress: createEgress({ allowPrivateEgress: false, allowInsecureHttp: true }),
  });
  try {
    const answer = await strict.app.anonymous.call('POST /api/auth/sign-in/social', { provider: 'corp' });
    assert.deepEqual([answer.status, answer.body.error.code], [400, 'blocked_destination']);
    assert.deepEqual(strict.idp.seen, []);
  } finally {
    await strict.stop();
  }
  // Link-local addresses are closed regardless of the setting.
  const blocked = 'http://169.254.169.254/latest';
  for (const [name, when, error] of [
    ['token_endpoint', 'back', 'provider_unreachable'],
    ['jwks_uri', 'back', 'provider_unreachable'],
    ['authorization_endpoint', 'begin', undefined],
  ] as const) {
    const other = await startOidcWorld({ database });
    try {
      other.idp.person = world.idp.person;
      if (when === 'begin') {
        for (const address of [
          'javascript:alert(1)//',
          'data:text/html,x',
          '/authorize',
          'https://a:b@c.example/',
          7,
        ]) {
          other.idp.document = { [name]: address };
          const answer = await other.app.anonymous.call('POST /api/auth/sign-in/social', { provider: 'corp' });
          assert.deepEqual([answer.status, answer.body.error.code], [502, 'provider_error'], String(address));
          await other.configure({
            discoveryUrl: `${other.idp.issuer}/.well-known/openid-configuration?${Math.random()}`,
          });
        }
      } else {
        other.idp.document = { [name]: blocked };
        assert.deepEqual(await signInBy(other), refused(error));
      }
    } finally {
      await other.stop();
    }
  }
  await world.configure({ issuer: world.idp.issuer, discoveryUrl: '', ...world.idp.client });
});

test('rejects a document that names another issuer', async () => {
  const other = await startOidcWorld({ database });
  try {
    for (const issuer of ['https://evil.example', `${other.idp.issuer}/`, '', undefined, 5]) {
      other.idp.document = { issuer };
      await other.configure({ discoveryUrl: `${other.idp.issuer}/.well-known/openid-configuration?${Math.random()}` });
      const answer = await other.app.anonymous.call('POST /api/auth/sign-in/social', { provider: 'corp' });
      assert.deepEqual([answer.status, answer.body.error.code], [502, 'provider_error'], String(issuer));
    }
  } finally {
    await other.stop();
    await world.configure({ issuer: world.idp.issuer, discoveryUrl: '', ...world.idp.client });
  }
});

test('asks an unreachable provider again at the next sign-in', async () => {
  const other = await startOidcWorld();
  try {
    await other.configure({ autoProvision: true });
    other.idp.person = world.idp.person;
    await other.idp.stop();
    const answer = await other.app.anonymous.call('POST /api/auth/sign-in/social', { provider: 'corp' });
    assert.deepEqual([answer.status, answer.body.error.code], [502, 'provider_unreachable']);
    await other.idp.restart();
    assert.deepEqual(await signInBy(other), welcome);

    const browser = openBrowser();
    const address = other.idp.agree(await begin(other.app, browser));
    await other.idp.stop();
    assert.deepEqual(await comeBack(other.app, browser, address), refused('provider_unreachable'));
    await other.idp.restart();
  } finally {
    await other.stop();
  }
});

test('invalid answers of the provider end at a page, never in an internal error', async () => {
  const { idp } = world;
  const answers: [string, { status: number; body: unknown }, string][] = [
    ['/token', { status: 200, body: {} }, 'invalid_token'],
    ['/token', { status: 200, body: { id_token: 7 } }, 'invalid_token'],
    ['/token', { status: 200, body: ['x'] }, 'invalid_token'],
    ['/token', { status: 500, body: {} }, 'provider_error'],
    ['/token', { status: 401, body: { error: 'invalid_client' } }, 'provider_error'],
    ['/token', { status: 307, body: {} }, 'provider_error'],
    ['/jwks', { status: 200, body: { keys: [] } }, 'provider_error'],
    ['/jwks', { status: 200, body: { keys: [{ kty: 'oct', k: 'AAAA' }, null, 5] } }, 'provider_error'],
    ['/jwks', { status: 200, body: { keys: [{ kty: 'RSA' }] } }, 'invalid_token'],
    ['/jwks', { status: 404, body: {} }, 'provider_error'],
    ['/jwks', { status: 200, body: { keys: 'x'.repeat(600_000) } }, 'provider_unreachable'],
  ];
  for (const [path, answer, expected] of answers) {
    idp.answers.set(path, () => answer);
    assert.deepEqual(await signInBy(world), refused(expected), `${path} ${JSON.stringify(answer).slice(0, 80)}`);
    idp.answers.clear();
  }
  assert.deepEqual(await signInBy(world), welcome);
});

test('accepts an address that is only in the userinfo, if it is about the same subject', async () => {
  const other = await startOidcWorld({ database });
  try {
    other.idp.document = { userinfo_endpoint: `${other.idp.issuer}/userinfo` };
    other.idp.person = { sub: 'grace' };
    const found = { email: 'grace@corp.example', email_verified: true, name: 'Grace' };
    for (const sub of ['ada', undefined, 'GRACE']) {
      other.idp.answers.set('/userinfo', () => ({ status: 200, body: { ...found, sub } }));
      assert.deepEqual(await signInBy(other), refused('email_missing'), String(sub));
    }
    other.idp.answers.set('/userinfo', () => ({ status: 200, body: { ...found, sub: 'grace' } }));
    assert.equal((await signInBy(other)).email, 'grace@corp.example');
  } finally {
    await other.stop();
    await world.configure({ issuer: world.idp.issuer, ...world.idp.client });
  }
});
