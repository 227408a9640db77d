import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import type { Config } from '../../src/config/config.ts';
import { createTestDatabase } from '../database.ts';
import { type AccountsApp, startAccountsApp, testPassword } from './accounts-app.ts';

const path = '/api/setup';
const claim = 'claim-0123456789';
const ada = { name: 'Ada Lovelace', email: 'Ada@Example.org', password: testPassword };

async function withApp(config: Partial<Config>, work: (app: AccountsApp) => Promise<void>): Promise<void> {
  const app = await startAccountsApp({ config });
  await work(app).finally(app.stop);
}

const administrators = async (app: AccountsApp) =>
  app.db.kysely.selectFrom('users').selectAll().where('role', '=', 'admin').execute();

test('creates the first administrator once and signs them in', () =>
  withApp({}, async (app) => {
    assert.deepEqual((await app.request('GET', path)).body, { required: true, claimRequired: false });
    const answer = await app.request('POST', path, { body: ada });
    assert.equal(answer.status, 201);
    const { id, ...user } = answer.body.user;
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    assert.deepEqual(user, {
      name: 'Ada Lovelace',
      email: 'ada@example.org',
      role: 'admin',
      enabled: true,
      mustChangePassword: false,
      providerSettingsEnabled: true,
      mcpSettingsEnabled: true,
    });
    assert.match(
      answer.cookies.join('\n'),
      /^homeport\.session_token=[^;]+; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    const me = await app.request('GET', '/api/me', { cookie: answer.session });
    assert.deepEqual(me.body, { user: answer.body.user });
    const session = await app.request('GET', '/api/auth/get-session', { cookie: answer.session });
    assert.equal(session.body.user.email, 'ada@example.org');
    assert.deepEqual((await app.request('GET', path)).body, { required: false, claimRequired: false });
    const again = await app.request('POST', path, { body: { ...ada, email: 'eve@example.org' } });
    assert.deepEqual([again.status, again.body.error.code], [409, 'setup_closed']);
    await app.signIn('ADA@example.org');
  }));

test('only one of a hundred concurrent setups wins, in ten fresh databases', async () => {
  for (let round = 0; round < 10; round += 1) {
    await withApp({}, async (app) => {
      const tries = Array.from({ length: 100 }, (_, index) =>
        app.request('POST', path, { body: { ...ada, email: `ada${index}@example.org` } }),
      );
      const answers = await Promise.all(tries);
      const codes = answers.map(({ status, body }) => (status === 201 ? 'created' : body.error.code));
      assert.equal(codes.filter((code) => code === 'created').length, 1);
      assert.equal(codes.filter((code) => code === 'setup_closed').length, 99);
      assert.equal((await administrators(app)).length, 1);
    });
  }
});

test('two replicas on one database create one administrator', async () => {
  const database = await createTestDatabase();
  const apps = await Promise.all([startAccountsApp({ database }), startAccountsApp({ database })]);
  const holder = await database.database.openClient();
  try {
    // The row is held until both have looked, hashed and wait for it.
    await holder.query('begin');
    await holder.query('select 1 from installation for update');
    const tries = apps.map((app, index) =>
      app.request('POST', path, { body: { ...ada, email: `ada${index}@example.org` } }),
    );
    const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await until('both wait', async () => ((await database.database.pool.query(waiting)).rowCount ?? 0) >= 2);
    await holder.query('commit');
    const statuses = (await Promise.all(tries)).map(({ status }) => status).sort();
    assert.deepEqual(statuses, [201, 409]);
  } finally {
    await holder.end();
    for (const app of apps) await app.stop();
    await database.drop();
  }
});

test('asks for the claim token when one is configured', () =>
  withApp({ setupClaimToken: claim }, async (app) => {
    assert.deepEqual((await app.request('GET', path)).body, { required: true, claimRequired: true });
    const refused: { claimToken?: string; header?: string }[] = [
      {},
      { claimToken: '' },
      { header: '' },
      { claimToken: 'wrong' },
      { header: 'wrong' },
      { claimToken: claim.slice(0, -1) },
      { claimToken: `${claim}x` },
      { claimToken: claim, header: 'wrong' },
      { claimToken: 'wrong', header: claim },
      { claimToken: '', header: claim },
    ];
    for (const { claimToken, header } of refused) {
      const headers = header === undefined ? undefined : { 'x-setup-claim-token': header };
      const answer = await app.request('POST', path, { body: { ...ada, claimToken }, headers });
      assert.deepEqual(
        [answer.status, answer.body.error.code],
        [403, 'setup_claim_mismatch'],
        `${claimToken} ${header}`,
      );
    }
    for (const claimToken of [null, [], {}, 0, true, [claim]]) {
      const answer = await app.request('POST', path, { body: { ...ada, claimToken } });
      assert.deepEqual(
        [answer.status, answer.body.error.details[0].path],
        [400, 'claimToken'],
        JSON.stringify(claimToken),
      );
    }
    assert.deepEqual(await administrators(app), []);
    const answer = await app.request('POST', path, { body: ada, headers: { 'x-setup-claim-token': claim } });
    assert.equal(answer.status, 201);
    const late = await app.request('POST', path, { body: ada });
    assert.equal(late.body.error.code, 'setup_closed');
  }));

test('accepts the claim token in the body, or in both places', async () => {
  for (const headers of [undefined, { 'x-setup-claim-token': claim }]) {
    await withApp({ setupClaimToken: claim }, async (app) => {
      assert.equal((await app.request('POST', path, { body: { ...ada, claimToken: claim }, headers })).status, 201);
    });
  }
});

test('setup stays closed when all users are deleted, and is not open where users exist', () =>
  withApp({}, async (app) => {
    await app.addUser();
    assert.equal((await app.request('GET', path)).body.required, false);
    assert.equal((await app.request('POST', path, { body: ada })).body.error.code, 'setup_closed');
    await app.db.kysely.deleteFrom('users').execute();
    assert.equal((await app.request('POST', path, { body: ada })).status, 201);
    await app.db.kysely.deleteFrom('users').execute();
    assert.equal((await app.request('GET', path)).body.required, false);
    assert.equal((await app.request('POST', path, { body: ada })).body.error.code, 'setup_closed');
  }));

test('creates nothing from an invalid setup body', () =>
  withApp({}, async (app) => {
    const bad: [string, object][] = [
      ['name', { ...ada, name: ' A ' }],
      ['name', { ...ada, name: 'A'.repeat(101) }],
      ['email', { ...ada, email: 'ada' }],
      ['password', { ...ada, password: 'short 1' }],
      ['password', { ...ada, password: 'without any digit' }],
      ['password', { ...ada, password: '123456789012' }],
      ['password', { ...ada, password: `a1${'x'.repeat(127)}` }],
    ];
    for (const [field, body] of bad) {
      const answer = await app.request('POST', path, { body });
      assert.deepEqual([answer.status, answer.body.error.details[0].path], [400, field]);
    }
    assert.deepEqual(await administrators(app), []);
  }));
