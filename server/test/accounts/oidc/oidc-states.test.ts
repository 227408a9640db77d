import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../database.ts';
import { signRight } from '../../fakes/identity-provider.ts';
import { begin, comeBack, type OidcWorld, openBrowser, signInBy, startOidcWorld } from './oidc-browser.ts';

/** The records of a single sign-on, and the absence of those of a manipulated one. */

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
  idp.sign = undefined;
  idp.forgetful = false;
});

const count = async (table: 'sessions' | 'audit_events' | 'verifications' | 'users', where = 'true') =>
  (await database.database.pool.query(`select count(*)::int as count from ${table} where ${where}`)).rows[0].count;

test('twenty concurrent uses of one answer of the provider open one session', async () => {
  const { app, idp } = world;
  idp.forgetful = true;
  await signInBy(world);
  const browser = openBrowser();
  const address = idp.agree(await begin(app, browser));
  const before = await count('sessions');
  const copies = Array.from({ length: 20 }, () => ({ cookies: new Map(browser.cookies) }));
  const landings = await Promise.all(copies.map((copy) => comeBack(app, copy, address)));
  assert.equal(landings.filter(({ error }) => error === null).length, 1);
  assert.equal(landings.filter(({ error }) => error === 'state_mismatch').length, 19);
  assert.equal((await count('sessions')) - before, 1);
});

test('refuses a numeric subject and a token from the future', async () => {
  const seconds = Math.floor(Date.now() / 1000);
  for (const [change, error] of [
    [{ sub: 7 }, 'invalid_token'],
    [{ iat: seconds + 600, exp: seconds + 900 }, 'clocks_differ'],
    [{ iat: String(seconds) }, 'invalid_token'],
  ] as const) {
    world.idp.sign = ({ claims, ...facts }) => signRight({ ...facts, claims: Object.assign({ ...claims }, change) });
    assert.equal((await signInBy(world)).error, error, JSON.stringify(change));
  }
});

test('refuses a return address that resolves to another host', async () => {
  const { app } = world;
  for (const address of [
    '/..//evil.example',
    '/.//evil.example',
    '/a/..//evil.example/x',
    `${app.url}//evil.example`,
  ]) {
    for (const name of ['callbackURL', 'errorCallbackURL']) {
      const answer = await app.anonymous.call('POST /api/auth/sign-in/social', { provider: 'corp', [name]: address });
      assert.deepEqual([answer.status, answer.body.error?.details?.[0]?.path], [400, name], `${name} ${address}`);
    }
  }
  const browser = openBrowser();
  const back = world.idp.agree(await begin(app, browser, { callbackURL: '/a/../c/2?x=%2F..%2F' }));
  assert.equal((await comeBack(app, browser, back)).path, '/c/2');
});

test('checks a stored return address again', async () => {
  const { app } = world;
  const browser = openBrowser();
  const back = world.idp.agree(await begin(app, browser, { callbackURL: '/c/7' }));
  await database.database.pool.query(`update verifications set value = replace(value, '/c/7', '/..//evil.example')`);
  const landing = await comeBack(app, browser, back);
  assert.deepEqual([landing.path, landing.email], ['/', 'ada@corp.example']);
});

test('an identity stored by an earlier version signs in to its account', async () => {
  const user = await world.app.signIn({ email: 'grace@corp.example' });
  await database.database.pool.query(
    `insert into credentials (id, user_id, account_id, provider_id) values ('old-identity', $1, $2, 'oidc')`,
    [user.id, `${world.idp.issuer}#grace`],
  );
  world.idp.person = { sub: 'grace' };
  assert.equal((await signInBy(world)).email, 'grace@corp.example');
});

test('creates the account, its identity, its session and their audit events together or not at all', async () => {
  const { pool } = database.database;
  world.idp.person = { sub: 'kay', email: 'kay@corp.example', email_verified: true };
  await pool.query(`create function refuse_sign_in() returns trigger language plpgsql as
    $$ begin if new.action = 'session.signed_in' then raise exception 'no room'; end if; return new; end $$`);
  await pool.query(
    'create trigger refuse before insert on audit_events for each row execute function refuse_sign_in()',
  );
  try {
    const browser = openBrowser();
    const back = new URL(world.idp.agree(await begin(world.app, browser)));
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(world.app.url + back.pathname + back.search, {
      headers: { cookie },
      redirect: 'manual',
    });
    assert.equal(answer.status, 500);
    assert.equal(await count('users', `email = 'kay@corp.example'`), 0);
    assert.equal(
      await count(
        'audit_events',
        `action = 'oidc.provisioned' and details = '{}' and actor_id not in
      (select id from users)`,
      ),
      0,
    );
  } finally {
    await pool.query('drop trigger refuse on audit_events');
  }
  assert.equal((await signInBy(world)).email, 'kay@corp.example');
});
