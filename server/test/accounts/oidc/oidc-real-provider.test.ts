import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type SignedIn, startTestApp, type TestApp } from '../../app.ts';
import { type RealIdentityProvider, startRealIdentityProvider } from '../../fakes/real-identity-provider.ts';
import { begin, comeBack, openBrowser } from './oidc-browser.ts';
import { agreeAt } from './sign-in-pages.ts';

/** End to end with an independent provider, over its own sign-in and consent pages. */

let app: TestApp;
let idp: RealIdentityProvider;
let admin: SignedIn;
before(async () => {
  app = await startTestApp();
  idp = await startRealIdentityProvider([`${app.url}/api/auth/oauth2/callback/corp`]);
  admin = await app.signIn({ role: 'admin' });
  const oidc = { enabled: true, providerKey: 'corp', label: 'Corp', issuer: idp.issuer, ...idp.client };
  const answer = await admin.call('POST /api/admin/config', {
    oidc: { ...oidc, autoProvision: true, linkByEmail: true },
  });
  assert.equal(answer.status, 200, answer.text);
});
after(async () => {
  await app.stop();
  idp.close();
});

async function signInAs(login: string) {
  const browser = openBrowser();
  return comeBack(app, browser, await agreeAt(app.url, await begin(app, browser), login));
}

test('the test of the configuration distinguishes right from wrong', async () => {
  const right = await admin.call('POST /api/admin/oidc-test', {});
  assert.equal(right.body.ok, true, right.text);
  const wrong = await admin.call('POST /api/admin/oidc-test', { oidc: { clientSecret: 'wrong' } });
  assert.deepEqual(
    wrong.body.checks.map((check: { ok: boolean }) => check.ok),
    [true, true, true, false],
  );
});

test('provisions a user, recognizes them, links them, and refuses them without a verified address', async () => {
  const landed = { path: '/c/1', error: null, status: 302 };
  assert.deepEqual(await signInAs('grace'), { ...landed, email: 'grace@corp.example' });
  await admin.call('POST /api/admin/config', { oidc: { autoProvision: false } });
  assert.deepEqual(await signInAs('grace'), { ...landed, email: 'grace@corp.example' });
  const member = await app.signIn({ email: 'linus@corp.example' });
  assert.deepEqual(await signInAs('linus'), { ...landed, email: member.email });
  for (const [login, error] of [
    ['unverified-linus', 'email_not_verified'],
    ['nobody', 'signup_disabled'],
  ] as const) {
    assert.deepEqual(await signInAs(login), { path: '/sign-in', error, email: undefined, status: 302 });
  }
});

test('a user who denies consent at the provider returns with a reason', async () => {
  const browser = openBrowser();
  const address = await agreeAt(app.url, await begin(app, browser), undefined);
  assert.deepEqual(await comeBack(app, browser, address), {
    path: '/sign-in',
    error: 'access_denied',
    email: undefined,
    status: 302,
  });
});
