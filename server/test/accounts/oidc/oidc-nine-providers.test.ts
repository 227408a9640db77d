import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../../app.ts';
import {
  type Habit,
  type RealIdentityProvider,
  startRealIdentityProvider,
} from '../../fakes/real-identity-provider.ts';
import { type Browser, begin, comeBack, openBrowser, request } from './oidc-browser.ts';
import { agreeAt } from './sign-in-pages.ts';

/** End to end with an independent provider that is set up like nine well-known ones. */

const tenant = '11111111-2222-3333-4444-555555555555';
const address = (login: string) => `${login}@corp.example`;
type Case = Habit & {
  /** Settings besides issuer and client, and the issuer where it is not the token's. */
  settings?: Record<string, unknown>;
  configured?: (issuer: string) => string;
  name?: string;
};

const providers: Record<string, Case> = {
  'Entra ID': {
    path: `/${tenant}/v2.0`,
    document: (issuer) => ({
      issuer: issuer.replace(tenant, '{tenantid}'),
      claims_supported: ['sub', 'email', 'name'],
    }),
    documentPath: '/organizations/v2.0/.well-known/openid-configuration',
    claims: (login) => ({
      email: address(login),
      name: 'Grace Hopper',
      preferred_username: `${login}@corp.onmicrosoft.com`,
      tid: tenant,
    }),
    claimsIn: 'token',
    configured: (issuer) => issuer.replace(tenant, 'organizations'),
    settings: { trustEmail: true },
  },
  Google: {
    claims: (login) => ({ email: address(login), email_verified: true, name: 'Grace Hopper', given_name: 'Grace' }),
    claimsIn: 'token',
    client: { token_endpoint_auth_method: 'client_secret_post' },
  },
  Keycloak: {
    path: '/realms/corp',
    document: () => ({ id_token_encryption_alg_values_supported: ['RSA-OAEP'] }),
    claims: (login) => ({ email: [address(login)], email_verified: true, given_name: 'Grace', family_name: 'Hopper' }),
    claimsIn: 'token',
  },
  Authentik: {
    path: '/application/o/homeport/',
    claims: (login) => ({ email: address(login), email_verified: true, name: 'Grace Hopper', nickname: login }),
    configured: (issuer) => `${issuer}.well-known/openid-configuration`,
  },
  Authelia: {
    claims: (login) => ({ email: address(login), email_verified: true, name: 'Grace Hopper' }),
    claimsIn: 'userinfo',
    signsUserinfo: true,
  },
  JumpCloud: {
    claims: (login) => ({ email: address(login), email_verified: 'true', name: 'Grace Hopper' }),
    claimsIn: 'token',
    client: { token_endpoint_auth_method: 'client_secret_post' },
  },
  Cognito: {
    path: '/eu-central-1_AbCdEf',
    claims: (login) => ({ email: address(login), email_verified: 'true', given_name: 'Grace', family_name: 'Hopper' }),
    claimsIn: 'userinfo',
  },
  Zitadel: {
    claims: (login) => ({
      email: address(login),
      email_verified: true,
      name: 'Grace Hopper',
      preferred_username: login,
    }),
    claimsIn: 'userinfo',
    signingKey: 'ES256',
  },
  'Pocket ID': {
    claims: (login) => ({ email: address(login), email_verified: true, name: 'Grace Hopper' }),
    claimsIn: 'token',
    signingKey: 'EdDSA',
  },
};

for (const [name, { settings, configured, ...habit }] of Object.entries(providers)) {
  describe(name, () => {
    let app: TestApp;
    let idp: RealIdentityProvider;
    let admin: SignedIn;
    const browser = openBrowser();
    before(async () => {
      app = await startTestApp();
      idp = await startRealIdentityProvider([`${app.url}/api/auth/oauth2/callback/corp`], habit);
      admin = await app.signIn({ role: 'admin' });
      const { status, text } = await admin.call('POST /api/admin/config', { oidc: configuration() });
      assert.equal(status, 200, text);
    });
    after(async () => {
      await app.stop();
      idp.close();
    });
    const configuration = () => ({
      enabled: true,
      providerKey: 'corp',
      label: 'Corp',
      autoProvision: true,
      endSession: true,
      issuer: configured?.(idp.issuer) ?? idp.issuer,
      ...idp.client,
      ...settings,
    });
    const signInAs = async (login: string, from: Browser) =>
      comeBack(app, from, await agreeAt(app.url, await begin(app, from), login));

    test('passes the test of the configuration', async () => {
      const { body } = await admin.call('POST /api/admin/oidc-test', { oidc: { trustEmail: false } });
      assert.equal(body.ok, true, JSON.stringify(body));
    });

    test('signs a new person in with address and name, and again', async () => {
      for (const from of [browser, openBrowser()]) {
        const landing = await signInAs('grace', from);
        assert.deepEqual([landing.error, landing.email], [null, 'grace@corp.example']);
      }
      const { user }: Json = await (await request(app, browser, '/api/me')).json();
      assert.equal(user.name, 'Grace Hopper');
    });

    test('signs out there, and lets another person sign in afterwards', async () => {
      const headers = { 'content-type': 'application/json' };
      const answer = await request(app, browser, '/api/auth/sign-out', { method: 'POST', headers, body: '{}' });
      const { url }: Json = await answer.json();
      const page = await fetch(url);
      assert.equal(page.status, 200, await page.text());
      // The provider knows no `select_account`, which must not be the end of it.
      const first = await agreeAt(app.url, await begin(app, browser), 'linus');
      const again = await comeBackOrOn(app, browser, first);
      const landing = await comeBack(app, browser, await agreeAt(app.url, again, 'linus'));
      assert.deepEqual([landing.error, landing.email], [null, 'linus@corp.example']);
    });
  });
}

/** The callback's redirect, which leads to the provider once more. */
async function comeBackOrOn(app: TestApp, browser: Browser, address: string): Promise<string> {
  const { pathname, search, searchParams } = new URL(address);
  assert.equal(searchParams.get('error'), 'invalid_request');
  const answer = await request(app, browser, pathname + search);
  const url = new URL(answer.headers.get('location') ?? '');
  assert.equal(url.searchParams.get('prompt'), null);
  return url.href;
}
