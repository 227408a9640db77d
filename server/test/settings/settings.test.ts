import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { defaultBranding } from '@homeport/contracts/default-branding';
import { createKeyRing } from '../../src/secrets/key-ring.ts';
import { defaultInstructions } from '../../src/settings/default-instructions.ts';
import { openClientSecret } from '../../src/settings/oidc.ts';
import { readSettings, resealSettings } from '../../src/settings/settings.ts';
import { type SignedIn, startTestApp, type TestApp, testConfig } from '../app.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';

let database: TestDatabase;
let app: TestApp;
let replica: TestApp;
let admin: SignedIn;
before(async () => {
  database = await createTestDatabase();
  app = await startTestApp({ database });
  replica = await startTestApp({ database });
  admin = await app.signIn({ role: 'admin' });
});
after(async () => {
  await app.stop();
  await replica.stop();
  await database.drop();
});

const route = 'POST /api/admin/config';
const pixel = `data:image/png;base64,${Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]).toString('base64')}`;
const fieldsOf = (answer: { body: { error: { details: { path: string }[] } } }) =>
  answer.body.error.details.map((detail) => detail.path);

test('a fresh installation has defaults, and no single sign-on', async () => {
  const { body } = await admin.call('GET /api/admin/config');
  assert.deepEqual(body, {
    instructions: null,
    defaultInstructions,
    turnBudget: { steps: 200, minutes: 120, tokens: null },
    tokens: 'everyone',
    tokenMaxDays: null,
    sharing: 'inside',
    peopleSearch: 'projects',
    branding: defaultBranding,
    oidc: {
      enabled: false,
      providerKey: 'sso',
      label: 'SSO',
      issuer: '',
      discoveryUrl: '',
      clientId: '',
      scopes: 'openid profile email',
      autoProvision: false,
      linkByEmail: false,
      allowedDomains: [],
      trustEmail: false,
      prompt: 'none',
      endSession: false,
      syncProfile: false,
      tokenAuth: 'auto',
      hasClientSecret: false,
    },
  });
  const shown = await app.anonymous.call('GET /api/public-config');
  assert.equal(shown.body.sso, null);
  assert.equal(shown.headers.get('cache-control'), 'no-store');
});

test('changes given members and keeps omitted ones, on every replica immediately', async () => {
  const first = await admin.call(route, { branding: { productName: 'Acme Chat', logoDataUrl: pixel } });
  assert.deepEqual(first.body.branding, { ...defaultBranding, productName: 'Acme Chat', logoDataUrl: pixel });
  const second = await admin.call(route, { branding: { primaryColor: '#AA0000' } });
  const branding = { ...defaultBranding, productName: 'Acme Chat', logoDataUrl: pixel, primaryColor: '#AA0000' };
  assert.deepEqual(second.body.branding, branding);
  assert.deepEqual((await replica.anonymous.call('GET /api/public-config')).body.branding, branding);

  const oidc = { issuer: 'https://id.example.org', clientId: 'chat', clientSecret: 's3cret', enabled: true };
  const allowedDomains = ['Example.org', 'example.org', 'acme.test'];
  const set = await admin.call(route, { oidc: { ...oidc, label: 'Acme', providerKey: 'acme', allowedDomains } });
  assert.equal(set.body.oidc.hasClientSecret, true);
  assert.deepEqual(set.body.oidc.allowedDomains, ['example.org', 'acme.test']);
  assert.doesNotMatch(set.text, /s3cret/);
  assert.deepEqual((await replica.anonymous.call('GET /api/public-config')).body.sso, {
    providerKey: 'acme',
    label: 'Acme',
  });
  assert.equal((await admin.call(route, { oidc: { clientId: 'other' } })).body.oidc.hasClientSecret, true);
  assert.deepEqual((await admin.call(route, {})).body.branding, branding);
  const cleared = await admin.call(route, { oidc: { clientSecret: null, enabled: false } });
  assert.deepEqual([cleared.body.oidc.hasClientSecret, cleared.body.oidc.clientId], [false, 'other']);
  assert.equal((await replica.anonymous.call('GET /api/public-config')).body.sso, null);
  assert.equal((await admin.call(route, { branding: { logoDataUrl: null } })).body.branding.logoDataUrl, null);
});

test('rejects fields outside their limits by name', async () => {
  const wrong: [string, object][] = [
    ['branding.productName', { branding: { productName: '' } }],
    ['branding.productName', { branding: { productName: '   ' } }],
    ['branding.productName', { branding: { productName: 'x'.repeat(61) } }],
    ['branding.tagline', { branding: { tagline: 'x'.repeat(141) } }],
    ['branding.logoDataUrl', { branding: { logoDataUrl: 'https://example.org/logo.png' } }],
    ['branding.logoDataUrl', { branding: { logoDataUrl: 'data:image/gif;base64,R0lGODlh' } }],
    ['branding.logoDataUrl', { branding: { logoDataUrl: `data:image/png;base64,${btoa('<script>')}` } }],
    ['branding.faviconDataUrl', { branding: { faviconDataUrl: `${pixel}${'A'.repeat(600_000)}` } }],
    ['branding.primaryColor', { branding: { primaryColor: '#fff' } }],
    ['branding.primaryForegroundColor', { branding: { primaryForegroundColor: 'red' } }],
    ['oidc.providerKey', { oidc: { providerKey: 'a' } }],
    ['oidc.providerKey', { oidc: { providerKey: '-ab' } }],
    ['oidc.providerKey', { oidc: { providerKey: 'Ab' } }],
    ['oidc.providerKey', { oidc: { providerKey: 'a'.repeat(40) } }],
    ['oidc.issuer', { oidc: { issuer: 'javascript:alert(1)' } }],
    ['oidc.issuer', { oidc: { issuer: 'https://user:word@id.example.org' } }],
    ['oidc.issuer', { oidc: { issuer: 'https://id.example.org/?a=b' } }],
    ['oidc.discoveryUrl', { oidc: { discoveryUrl: 'id.example.org' } }],
    ['oidc.discoveryUrl', { oidc: { discoveryUrl: 'https://id.example.org/#x' } }],
    ['oidc.scopes', { oidc: { scopes: 'openid "mail"' } }],
    ['oidc.scopes', { oidc: { scopes: 'profile email' } }],
    ['oidc.scopes', { oidc: { scopes: 'OpenID openid-email email' } }],
    [
      'oidc.allowedDomains',
      { oidc: { allowedDomains: Array.from({ length: 51 }, (_, index) => `d${index}.example`) } },
    ],
    ['oidc.allowedDomains.1', { oidc: { allowedDomains: ['a.example', '*.example.org'] } }],
    ['oidc.allowedDomains.0', { oidc: { allowedDomains: ['@example.org'] } }],
    ['oidc.enabled', { oidc: { enabled: 'yes' } }],
    ['oidc.autoProvision', { oidc: { autoProvision: null } }],
    ['branding', { branding: [] }],
  ];
  const before = (await admin.call('GET /api/admin/config')).text;
  for (const [path, body] of wrong) {
    const answer = await admin.call(route, body);
    assert.deepEqual([answer.status, answer.body.error.code], [400, 'invalid_request'], path);
    assert.deepEqual(fieldsOf(answer), [path]);
  }
  assert.equal((await admin.call('GET /api/admin/config')).text, before);
  const at = { productName: 'x'.repeat(60), tagline: 'y'.repeat(140), primaryForegroundColor: '#0aF9c3' };
  const domains = Array.from({ length: 50 }, (_, index) => `d${index}.example`);
  const fits = await admin.call(route, {
    branding: at,
    oidc: { providerKey: 'a'.repeat(39), allowedDomains: domains },
  });
  assert.equal(fits.status, 200);
});

test('refuses to enable sign-in without its required settings', async () => {
  await admin.call(route, { oidc: { enabled: false, issuer: '', discoveryUrl: '', clientId: '' } });
  const answer = await admin.call(route, { oidc: { enabled: true } });
  assert.deepEqual([answer.status, fieldsOf(answer)], [400, ['oidc.issuer', 'oidc.clientId']]);
  const discoveryUrl = 'https://id.example.org/.well-known/openid-configuration';
  assert.equal((await admin.call(route, { oidc: { enabled: true, discoveryUrl, clientId: 'chat' } })).status, 200);
  assert.equal((await admin.call(route, { oidc: { clientId: '' } })).status, 400);
  await admin.call(route, { oidc: { enabled: false } });
});

test('keeps both of two concurrent changes', async () => {
  const changes = Array.from({ length: 10 }, (_, index) =>
    admin.call(route, index % 2 === 0 ? { branding: { tagline: `t${index}` } } : { oidc: { label: `l${index}` } }),
  );
  const answers = await Promise.all(changes);
  assert.deepEqual([...new Set(answers.map((answer) => answer.status))], [200]);
  const { body } = await admin.call('GET /api/admin/config');
  assert.match(body.branding.tagline, /^t[02468]$/);
  assert.match(body.oidc.label, /^l[13579]$/);
});

test('audits the names of changed members and never a secret, and no event without a change', async () => {
  const events = () =>
    database.database.kysely
      .selectFrom('audit_events')
      .select(['actor_id', 'details'])
      .where('action', '=', 'settings.updated')
      .orderBy('at', 'desc')
      .orderBy('id', 'desc')
      .execute();
  const patch = { branding: { tagline: 'Known' }, oidc: { clientSecret: 'canary-secret', label: 'Known' } };
  await admin.call(route, patch);
  const known = await events();
  assert.equal(known[0]?.actor_id, admin.id);
  assert.deepEqual(known[0]?.details, { changed: ['branding.tagline', 'oidc.label', 'oidc.clientSecret'] });
  await admin.call(route, patch);
  assert.deepEqual(await events(), known);
  assert.doesNotMatch(JSON.stringify(known), /canary-secret/);
});

test('seals the secret in its place, rotates it, and reports a lost key without breaking the page', async () => {
  const { kysely } = database.database;
  await admin.call(route, { oidc: { clientSecret: 'one secret' } });
  const { oidc } = await readSettings(kysely);
  assert.match(oidc.clientSecret ?? '', /^v2\./);
  const current = 'a new encryption key of more than 32 bytes';
  const db = { kysely };
  const secrets = createKeyRing({ current, previous: [testConfig.encryptionKey] });
  const states = [await resealSettings({ db, secrets }), await resealSettings({ db, secrets })];
  assert.deepEqual(states, ['resealed', 'current']);
  const rotated = await readSettings(kysely);
  const alone = { secrets: createKeyRing({ current, previous: [] }) };
  assert.equal(openClientSecret(alone, rotated.oidc), 'one secret');
  assert.equal(
    await resealSettings({ db, secrets: createKeyRing({ current: 'x'.repeat(40), previous: [] }) }),
    'unreadable',
  );

  const answer = await admin.call('GET /api/admin/config');
  assert.equal(answer.status, 200);
  assert.equal(answer.body.oidc.credentialsError, 'credentials_unreadable');
  assert.equal(answer.body.oidc.hasClientSecret, true);
  const entered = await admin.call(route, { oidc: { clientSecret: 'another' } });
  assert.equal(entered.body.oidc.credentialsError, undefined);
  await admin.call(route, { oidc: { clientSecret: null } });
  assert.equal(await resealSettings({ db, secrets }), 'absent');
});

test('only administrators change settings', async () => {
  const user = await app.signIn();
  assert.equal((await user.call('GET /api/admin/config')).status, 403);
  assert.equal((await user.call(route, { branding: {} })).status, 403);
  assert.equal((await app.anonymous.call('GET /api/admin/config')).status, 401);
});
