import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import type { SignedIn } from '../../app.ts';
import { createTestDatabase, type TestDatabase } from '../../database.ts';
import { signRight } from '../../fakes/identity-provider.ts';
import { type OidcWorld, signInBy, startOidcWorld } from './oidc-browser.ts';

/** Habits of identity providers that follow the protocol less than strictly. */

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
  const { idp } = world;
  idp.document = {};
  idp.sign = undefined;
  idp.authentication = 'basic';
  idp.answers.clear();
  await database.database.pool.query(`delete from audit_events where action = 'oidc.refused'`);
  await defaults();
});

const defaults = () =>
  world.configure({
    autoProvision: true,
    linkByEmail: false,
    trustEmail: false,
    tokenAuth: 'auto',
    issuer: world.idp.issuer,
    discoveryUrl: '',
    allowedDomains: [],
    ...world.idp.client,
  });
let people = 0;
const someone = () => {
  people += 1;
  return { sub: `habit-${people}`, email: `habit-${people}@corp.example`, email_verified: true };
};
const signIn = (person: Record<string, unknown>) => {
  world.idp.person = person;
  return signInBy(world);
};
const nameOf = async (email: string) =>
  (await database.database.kysely.selectFrom('users').select('name').where('email', '=', email).executeTakeFirst())
    ?.name;
const runTest = async (oidc: Record<string, unknown> = {}) => {
  const { body } = await admin.call('POST /api/admin/oidc-test', { oidc });
  const checks: { name: string; ok: boolean; message: string }[] = body.checks;
  return checks.map(({ name, ok, message }) => `${ok ? '' : '- '}${name}: ${message}`);
};
const lastRefusal = async () => {
  const { rows } = await database.database.pool.query(
    `select details from audit_events where action = 'oidc.refused' order by at desc, id desc limit 1`,
  );
  return rows[0]?.details;
};

test('counts an address as verified by the text "true", and by no other', async () => {
  const person = someone();
  for (const email_verified of ['false', 'True', 'yes', '1', 1, ' true']) {
    assert.equal((await signIn({ ...person, email_verified })).error, 'email_not_verified', String(email_verified));
  }
  assert.equal((await signIn({ ...person, email_verified: 'true' })).email, person.email);
});

test('asks userinfo for claims that the token lacks, signed or not, and verifies the signature', async () => {
  const { idp } = world;
  idp.document = { userinfo_endpoint: `${idp.issuer}/userinfo` };
  await world.configure({ label: 'Corp' });
  const answer = (body: unknown, type?: string) =>
    idp.answers.set('/userinfo', () => ({ status: 200, body, ...(type === undefined ? {} : { type }) }));

  const [verified, named, signed, foreign, forged] = [someone(), someone(), someone(), someone(), someone()];
  answer({ ...verified, name: 'Uma User' });
  assert.equal((await signIn({ ...verified, email_verified: undefined })).email, verified.email);
  assert.equal(await nameOf(verified.email), 'Uma User');

  answer({ sub: named.sub, given_name: 'Nina', family_name: 'Meyer' });
  assert.equal((await signIn(named)).email, named.email);
  assert.equal(await nameOf(named.email), 'Nina Meyer');

  answer(await idp.signed({ ...signed, name: 'Jay', iss: idp.issuer, aud: idp.client.clientId }), 'application/jwt');
  assert.equal((await signIn({ sub: signed.sub })).email, signed.email);
  const right = await idp.signed({ ...forged, iss: idp.issuer, aud: idp.client.clientId });
  answer(`${right.slice(0, -8)}AAAAAAAA`, 'application/jwt');
  assert.equal((await signIn({ sub: forged.sub })).error, 'email_missing');
  assert.match((await lastRefusal()).reason, /userinfo endpoint could not be read/);

  // A statement about another address, or about another person, says nothing.
  answer({ sub: foreign.sub, email: 'other@corp.example', email_verified: false });
  assert.equal((await signIn({ ...foreign, email_verified: undefined })).error, 'email_not_verified');
  answer({ ...foreign, sub: 'somebody-else' });
  assert.equal((await signIn({ ...foreign, email_verified: undefined })).error, 'email_not_verified');
  // The token's own statement wins.
  answer({ ...foreign, email_verified: true });
  assert.equal((await signIn({ ...foreign, email_verified: false })).error, 'email_not_verified');
  idp.answers.set('/userinfo', () => ({ status: 500, body: {} }));
  assert.equal((await signIn(foreign)).email, foreign.email, 'only the name is missing');
});

test('makes a name of its parts, and of a user name that is no address', async () => {
  for (const [claims, expected] of [
    [{ given_name: 'Gina', family_name: 'Ferri', preferred_username: 'u0815' }, 'Gina Ferri'],
    [{ given_name: 'Gina' }, 'Gina'],
    [{ name: '  ', given_name: 'P', family_name: 'U', preferred_username: 'pu@corp.example' }, 'P U'],
    [{ preferred_username: 'u0815' }, 'u0815'],
    [{ preferred_username: 'pu@corp.example' }, undefined],
  ] as const) {
    const person = someone();
    await signIn({ ...person, ...claims });
    assert.equal(await nameOf(person.email), expected ?? person.sub);
  }
});

test('reads lists of addresses, and prefers the one in an allowed domain', async () => {
  const [first, second, third] = [someone(), someone(), someone()];
  assert.equal((await signIn({ ...first, email: [first.email, 'x@private.example'] })).email, first.email);
  assert.equal((await signIn({ ...second, email: undefined, emails: [second.email] })).email, second.email);
  await world.configure({ allowedDomains: ['corp.example'] });
  assert.equal((await signIn({ ...third, email: ['x@private.example', third.email] })).email, third.email);
});

test('brings internationalized addresses into one form, for accounts of administrators too', async () => {
  await world.configure({ linkByEmail: true, allowedDomains: ['exämple.de'] });
  const made = await admin.call('POST /api/admin/users', { name: 'Jürgen', email: 'Jürgen@Exämple.de' });
  assert.equal(made.body.user.email, 'jürgen@xn--exmple-cua.de');
  for (const email of ['jürgen@exämple.de', 'JÜRGEN@XN--EXMPLE-CUA.DE', 'ju\u0308rgen@exa\u0308mple.de']) {
    assert.equal((await signIn({ ...someone(), email })).email, made.body.user.email);
  }
});

test('trusts addresses that the provider does not call verified only when an administrator says so', async () => {
  const person = someone();
  const { email_verified: _, ...unverified } = person;
  assert.equal((await signIn(unverified)).error, 'email_not_verified');
  await world.configure({ trustEmail: true });
  assert.equal((await signIn(unverified)).email, person.email);
});

test('admits an invited address without creating accounts for others', async () => {
  await world.configure({ autoProvision: false });
  const person = { ...someone(), name: 'Ina' };
  assert.equal((await signIn(person)).error, 'signup_disabled');
  const invite = { email: person.email, role: 'admin', mcpSettingsEnabled: false };
  const { body } = await admin.call('POST /api/invitations', invite);
  assert.equal((await signIn({ ...person, email_verified: false })).error, 'email_not_verified');
  assert.equal((await signIn(person)).email, person.email);
  const user = await database.database.kysely
    .selectFrom('users')
    .selectAll()
    .where('email', '=', person.email)
    .executeTakeFirst();
  assert.deepEqual([user?.name, user?.role, user?.mcp_settings_enabled], ['Ina', 'admin', false]);
  const again = await world.app.anonymous.call('PUT /api/invitations', {
    token: body.token,
    name: 'Xenia',
    password: 'correct horse 12',
  });
  assert.equal(again.status, 409, 'an invitation is used once');

  const late = someone();
  const other = await admin.call('POST /api/invitations', { email: late.email });
  await admin.call(`DELETE /api/invitations?id=${other.body.invitation.id}`);
  assert.equal((await signIn(late)).error, 'signup_disabled', 'revoked');
});

test('lets a person claim the account that an administrator made for their address, if linking is on', async () => {
  await world.configure({ autoProvision: false, linkByEmail: false });
  const person = someone();
  await admin.call('POST /api/admin/users', { name: 'Made', email: person.email });
  assert.equal((await signIn(person)).error, 'account_not_linked');
  await world.configure({ autoProvision: false, linkByEmail: true });
  assert.equal((await signIn({ ...person, email_verified: undefined })).error, 'email_not_verified');
  assert.equal((await signIn(person)).email, person.email);
});

test('reads a discovery address in place of the issuer', async () => {
  const { issuer } = world.idp;
  world.idp.document = { issuer: `${issuer}/` };
  const person = someone();
  world.idp.sign = (facts) => signRight({ ...facts, claims: { ...facts.claims, iss: `${issuer}/` } });
  await world.configure({ issuer: `${issuer}/.well-known/openid-configuration` });
  assert.match((await runTest()).join('\n'), /^issuer: The issuer is [^\n]*\/\.$/m);
  assert.equal((await signIn(person)).email, person.email);
});

test('checks the issuer of a tenant against its own token', async () => {
  const { idp } = world;
  const template = `${idp.issuer}/{tenantid}/v2.0`;
  const tenant = '11111111-2222-3333-4444-555555555555';
  idp.document = { issuer: template };
  idp.answers.set('/common/v2.0/.well-known/openid-configuration', () => ({ status: 200, body: idp.discovery() }));
  const token = (claims: Record<string, unknown>) => {
    idp.sign = (facts) => signRight({ ...facts, claims: { ...facts.claims, ...claims } });
  };
  const own = `${idp.issuer}/${tenant}/v2.0`;
  for (const oidc of [
    { issuer: `${idp.issuer}/common/v2.0` },
    { issuer: template },
    { issuer: template, discoveryUrl: `${idp.issuer}/common/v2.0/.well-known/openid-configuration` },
    { issuer: '', discoveryUrl: `${idp.issuer}/common/v2.0/.well-known/openid-configuration` },
  ]) {
    await world.configure({ discoveryUrl: '', ...oidc, ...idp.client });
    assert.ok((await runTest()).every((line) => !line.startsWith('-')));
    const person = someone();
    token({ iss: own, tid: tenant });
    assert.equal((await signIn(person)).email, person.email, JSON.stringify(oidc));
    for (const claims of [
      { iss: own, tid: '99999999-2222-3333-4444-555555555555' },
      { iss: `${idp.issuer}/${tenant}/v1.0`, tid: tenant },
      { iss: `https://evil.example/${tenant}/v2.0`, tid: tenant },
      { iss: `${idp.issuer}/${tenant}/x/v2.0`, tid: `${tenant}/x` },
      { iss: template, tid: '{tenantid}' },
    ]) {
      token(claims);
      assert.equal((await signIn(someone())).error, 'invalid_token', JSON.stringify(claims));
    }
    // The same subject of another tenant is another person.
    token({ iss: `${idp.issuer}/other-tenant/v2.0` });
    assert.equal((await signIn({ ...someone(), sub: person.sub })).email, `habit-${people}@corp.example`);
  }
  assert.match((await runTest({ trustEmail: true })).join('\n'), /^- issuer: People of every tenant/m);
  const pinned = { issuer: own, discoveryUrl: `${idp.issuer}/common/v2.0/.well-known/openid-configuration` };
  await world.configure({ ...pinned, ...idp.client });
  token({ iss: own, tid: tenant });
  assert.equal((await signIn(someone())).error, null);
  token({ iss: `${idp.issuer}/other-tenant/v2.0`, tid: 'other-tenant' });
  assert.equal((await signIn(someone())).error, 'invalid_token');
});

test('tolerates clocks two minutes apart, and names them beyond that', async () => {
  const at = (skew: number) => {
    const now = Math.floor(Date.now() / 1000) + skew;
    world.idp.sign = (facts) => signRight({ ...facts, claims: { ...facts.claims, iat: now, nbf: now, exp: now + 60 } });
  };
  for (const skew of [-170, -110, 45, 90, 115]) {
    at(skew);
    assert.equal((await signIn(someone())).error, null, String(skew));
  }
  for (const skew of [130, 3600, -190]) {
    at(skew);
    assert.equal((await signIn(someone())).error, 'clocks_differ', String(skew));
    assert.match((await lastRefusal()).reason, /clocks/);
  }
  world.idp.headers = { date: new Date(Date.now() - 300_000).toUTCString() };
  assert.match((await runTest())[0] ?? '', /^- discovery: The clocks .* differ by (299|30\d) seconds/);
  world.idp.headers = {};
});

test('sends the client secret in the way that the provider takes for this client', async () => {
  const { idp } = world;
  idp.document = { token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'] };
  for (const refusal of ['invalid_client', 'unauthorized_client', 'invalid_request']) {
    idp.authentication = 'post';
    idp.refusal = refusal;
    assert.match((await runTest()).at(-1) ?? '', /^client: The provider accepts .* sent by POST\.$/);
    assert.equal((await signIn(someone())).error, null);
    idp.authentication = 'basic';
    assert.equal((await signIn(someone())).error, null, 'changed at the provider');
  }
  idp.authentication = 'post';
  assert.match(
    (await runTest({ tokenAuth: 'basic' })).at(-1) ?? '',
    /^- client: .* by POST \(post\): change tokenAuth/,
  );
  await world.configure({ tokenAuth: 'basic' });
  assert.equal((await signIn(someone())).error, 'provider_error');
  await world.configure({ tokenAuth: 'post' });
  assert.equal((await signIn(someone())).error, null);
  idp.document = { token_endpoint_auth_methods_supported: ['private_key_jwt'] };
  assert.match((await runTest())[2] ?? '', /^- endpoints: The provider takes no client secret .* private_key_jwt/);
});

test('names encrypted ID tokens, and signatures that only share the secret', async () => {
  world.idp.sign = async () => 'eyJhbGciOiJSU0EtT0FFUCIsImVuYyI6IkEyNTZHQ00ifQ.aaaa.bbbb.cccc.dddd';
  assert.equal((await signIn(someone())).error, 'token_encrypted');
  assert.match((await lastRefusal()).reason, /encrypts its ID tokens/);
  world.idp.document = {
    id_token_encryption_alg_values_supported: ['RSA-OAEP'],
    claims_supported: ['sub', 'email', 'name'],
  };
  assert.match((await runTest())[2] ?? '', /^endpoints: .*email_verified.*trustEmail.*encrypt ID tokens/);
  world.idp.document = { id_token_signing_alg_values_supported: ['HS256'] };
  assert.match((await runTest())[2] ?? '', /^- endpoints: ID tokens are signed only with HS256/);
});

test("keeps the provider's explanation in the audit log, as one bounded line, and only a few of them", async () => {
  const explanation = `AADSTS50105: The signed in user\n'x' is not assigned\u202e\u0007 ${'long '.repeat(200)}`;
  world.idp.answers.set('/token', () => ({
    status: 400,
    body: { error: 'invalid_grant', error_description: 'AADSTS70008' },
  }));
  assert.equal((await signIn(someone())).error, 'invalid_token');
  assert.deepEqual(await lastRefusal(), {
    refusal: 'invalid_token',
    error: 'invalid_grant',
    description: 'AADSTS70008',
  });
  world.idp.answers.clear();
  world.idp.refuses = { error: 'access_denied', error_description: explanation };
  assert.equal((await signIn(someone())).error, 'access_denied');
  const { description, error } = await lastRefusal();
  assert.equal(error, 'access_denied');
  assert.match(description, /^AADSTS50105: The signed in user 'x' is not assigned {2}long/);
  assert.ok(description.length <= 200);
  for (let times = 0; times < 25; times += 1) await signIn(someone());
  const { rows } = await database.database.pool.query(
    `select count(*)::int as count from audit_events where action = 'oidc.refused'`,
  );
  assert.equal(rows[0].count, 20);
  world.idp.refuses = undefined;
});
