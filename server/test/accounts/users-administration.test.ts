import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Json } from '../app.ts';
import { type AccountsApp, type Answer, startAccountsApp, testPassword } from './accounts-app.ts';

/**
 * Accounts as administrators make and change them (control-plane-api.md "PATCH /api/admin/users", contract.md section
 * 3).
 */

const path = '/api/admin/users';
const outcome = ({ status, body }: Answer) => [status, body?.error?.code];
const fieldOf = ({ body }: Answer) => body?.error?.details?.[0]?.path;
let made = 0;
const newEmail = () => {
  made += 1;
  return `made${made}@example.org`;
};

describe('community edition', () => {
  let app: AccountsApp;
  let cookie: string;
  let administrator: Json;
  before(async () => {
    app = await startAccountsApp();
    administrator = await app.addUser({ role: 'admin', name: 'Root' });
    cookie = await app.signIn(administrator.email);
  });
  after(() => app.stop());

  const create = (body: object) => app.request('POST', path, { cookie, body });
  const patch = (body: object) => app.request('PATCH', path, { cookie, body });
  const list = (query = '') => app.request('GET', `${path}${query}`, { cookie });

  async function lastEvent(action: string): Promise<Json> {
    const { body } = await app.request('GET', '/api/admin/audit?limit=500', { cookie });
    return body.events.find((event: Json) => event.action === action);
  }

  test('an account with a password signs in, and its defaults are those of the specification', async () => {
    const email = newEmail();
    const answer = await create({ name: 'Ada', email: email.toUpperCase(), password: 'first horse 11' });
    assert.equal(answer.status, 201);
    const { id, createdAt, ...rest } = answer.body.user;
    assert.deepEqual(rest, {
      name: 'Ada',
      email,
      role: 'user',
      enabled: true,
      mustChangePassword: false,
      hasPassword: true,
      providerSettingsEnabled: true,
      mcpSettingsEnabled: true,
      lastSeenAt: null,
    });
    assert.ok(Date.parse(createdAt) > 0);
    const session = await app.signIn(email, 'first horse 11');
    assert.equal((await app.request('GET', '/api/me', { cookie: session })).body.user.id, id);
    const event = await lastEvent('user.created');
    assert.deepEqual(
      [event.actorId, event.targetType, event.targetId, event.details],
      [administrator.id, 'user', id, { email, role: 'user', withPassword: true }],
    );
  });

  test('an account without a password cannot sign in with any, until it gets one', async () => {
    const email = newEmail();
    const { body } = await create({ name: 'Ada', email });
    assert.equal(body.user.hasPassword, false);
    for (const password of ['', testPassword]) {
      const answer = await app.request('POST', '/api/auth/sign-in/email', { body: { email, password } });
      assert.deepEqual(outcome(answer), [401, 'invalid_credentials']);
    }
    const refused = await patch({ id: body.user.id, mustChangePassword: true });
    assert.deepEqual([refused.status, fieldOf(refused)], [400, 'mustChangePassword']);
    const answer = await patch({ id: body.user.id, password: 'given horse 1', mustChangePassword: true });
    assert.deepEqual([answer.body.user.hasPassword, answer.body.user.mustChangePassword], [true, true]);
    const session = await app.signIn(email, 'given horse 1');
    const chats = await app.request('GET', '/api/chats', { cookie: session });
    assert.deepEqual(outcome(chats), [403, 'password_change_required']);
  });

  test('an address is taken in any case, even for concurrent requests', async () => {
    const email = newEmail();
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => create({ name: 'Ada', email: index % 2 ? email : email.toUpperCase() })),
    );
    const outcomes = answers.map((answer) => outcome(answer).join(' ')).sort();
    assert.deepEqual(outcomes, ['201 ', ...Array(9).fill('409 email_taken')]);
    const { body } = await list(`?q=${email}`);
    assert.equal(body.users.length, 1);
  });

  test('names every field outside its limit', async () => {
    const good = { name: 'Ada', email: newEmail(), password: 'first horse 11' };
    const cases: [string, unknown[]][] = [
      ['name', ['A', ' A ', 'x'.repeat(101), 7, null, undefined]],
      ['email', ['nobody', 'a@b', `${'x'.repeat(250)}@example.org`, undefined, {}]],
      ['password', ['short 1', 'no digit in here', '123456789012345', `${'x'.repeat(128)}1`, 7]],
      ['role', ['root', 'administrator', null]],
      ['mustChangePassword', ['yes', 1]],
      ['providerSettingsEnabled', ['true', 0]],
      ['mcpSettingsEnabled', [null]],
    ];
    for (const [name, values] of cases) {
      for (const value of values) {
        const answer = await create({ ...good, [name]: value });
        assert.deepEqual([...outcome(answer), fieldOf(answer)], [400, 'invalid_request', name], JSON.stringify(value));
      }
    }
    assert.equal((await list(`?q=${good.email}`)).body.users.length, 0);
    const { id } = await app.addUser();
    for (const [name, [value]] of cases.filter(([name]) => name !== 'email')) {
      const answer = await patch({ id, [name]: value });
      assert.deepEqual([...outcome(answer), fieldOf(answer)], [400, 'invalid_request', name], `PATCH ${name}`);
    }
  });

  test('switches one account, and all that are not administrators, without an effect on later accounts', async () => {
    const other = await app.addUser({ role: 'admin' });
    const [one, two] = [await app.addUser(), await app.addUser()];
    const answer = await patch({ id: one.id, providerSettingsEnabled: false });
    assert.deepEqual([answer.body.user.providerSettingsEnabled, answer.body.user.mcpSettingsEnabled], [false, true]);
    const bulk = await patch({ all: true, mcpSettingsEnabled: false, providerSettingsEnabled: false });
    assert.equal(bulk.status, 200);
    const { body } = await list('?limit=500');
    const byId = new Map<string, Json>(body.users.map((user: Json) => [user.id, user]));
    const people = body.users.filter((user: Json) => user.role === 'user');
    assert.equal(bulk.body.updated, people.length);
    assert.ok(people.every((user: Json) => !user.mcpSettingsEnabled && !user.providerSettingsEnabled));
    assert.equal(byId.get(other.id).mcpSettingsEnabled, true);
    const later = await create({ name: 'Later', email: newEmail() });
    assert.equal(later.body.user.mcpSettingsEnabled, true);
    await patch({ all: true, providerSettingsEnabled: true });
    const restored = (await list('?limit=500')).body.users.find((user: Json) => user.id === two.id);
    assert.deepEqual([restored.providerSettingsEnabled, restored.mcpSettingsEnabled], [true, false]);
    assert.deepEqual((await lastEvent('users.updated')).details, {
      providerSettingsEnabled: true,
      updated: people.length + 1,
    });
    assert.equal((await patch({ all: true })).status, 400);
    assert.equal((await patch({ all: false, mcpSettingsEnabled: true })).status, 400);
    await patch({ id: other.id, role: 'user' });
  });

  test('a new password ends the sessions of that user, and invalidates the old one', async () => {
    const user = await app.addUser();
    const session = await app.signIn(user.email);
    assert.equal((await patch({ id: user.id, password: 'another horse 2' })).status, 200);
    assert.deepEqual(outcome(await app.request('GET', '/api/me', { cookie: session })), [401, 'unauthorized']);
    const old = { email: user.email, password: testPassword };
    assert.equal((await app.request('POST', '/api/auth/sign-in/email', { body: old })).status, 401);
    await app.signIn(user.email, 'another horse 2');
    const event = await lastEvent('user.updated');
    assert.deepEqual([event.targetId, event.details], [user.id, { changed: ['password'] }]);
    const own = await app.signIn(administrator.email);
    assert.equal((await patch({ id: administrator.id, password: testPassword })).status, 200);
    assert.equal((await app.request('GET', '/api/me', { cookie })).status, 200);
    assert.equal((await app.request('GET', '/api/me', { cookie: own })).status, 401);
  });

  test('a disabled account answers 403 while it is disabled, and 401 once it is enabled again', async () => {
    const user = await app.addUser();
    const session = await app.signIn(user.email);
    assert.equal((await patch({ id: user.id, enabled: false })).body.user.enabled, false);
    const paths = ['/api/me', '/api/chats', '/api/auth/get-session'];
    for (const place of paths) {
      const answer = await app.request('GET', place, { cookie: session });
      assert.deepEqual(outcome(answer), [403, 'account_disabled'], place);
    }
    const signIn = { email: user.email, password: testPassword };
    const refused = await app.request('POST', '/api/auth/sign-in/email', { body: signIn });
    assert.deepEqual(outcome(refused), [403, 'account_disabled']);
    assert.equal((await patch({ id: user.id, enabled: true })).body.user.enabled, true);
    assert.deepEqual(outcome(await app.request('GET', '/api/me', { cookie: session })), [401, 'unauthorized']);
    await app.signIn(user.email);
  });

  test('of two administrators who demote or disable each other at the same time, one remains', async () => {
    for (let round = 0; round < 10; round += 1) {
      const other = await app.addUser({ role: 'admin' });
      const theirs = await app.signIn(other.email);
      const change = round % 2 === 0 ? { role: 'user' } : { enabled: false };
      const answers = await Promise.all([
        app.request('PATCH', path, { cookie, body: { id: other.id, ...change } }),
        app.request('PATCH', path, { cookie: theirs, body: { id: administrator.id, ...change } }),
        app.request('PATCH', path, { cookie: theirs, body: { id: other.id, role: 'user' } }),
        app.request('PATCH', path, { cookie, body: { id: administrator.id, enabled: false } }),
      ]);
      const { rows } = await app.db.pool.query(`select id from users where role = 'admin' and enabled`);
      assert.equal(rows.length, 1, JSON.stringify(answers.map(outcome)));
      assert.ok(answers.some((answer) => [403, 409].includes(answer.status)));
      await app.db.pool.query(`update users set role = 'user', enabled = true where id = $1`, [other.id]);
      await app.db.pool.query(`update users set role = 'admin', enabled = true where id = $1`, [administrator.id]);
      cookie = await app.signIn(administrator.email);
    }
    for (const change of [{ role: 'user' }, { enabled: false }, { enabled: false, role: 'admin' }]) {
      assert.deepEqual(outcome(await patch({ id: administrator.id, ...change })), [409, 'last_admin']);
    }
    const kept = await patch({ id: administrator.id, enabled: true, role: 'admin', name: 'Still Root' });
    assert.equal(kept.body.user.name, 'Still Root');
  });

  test('lists pages, newest first, and finds by part of name or address, or by id', async () => {
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      ids.unshift((await create({ name: `Zoë ${index}% \\_x`, email: newEmail() })).body.user.id);
    }
    const seen: string[] = [];
    let cursor = '';
    do {
      const query = new URLSearchParams({ q: 'zOË', limit: '2', ...(cursor === '' ? {} : { cursor }) });
      const { body } = await list(`?${query}`);
      seen.push(...body.users.map((user: Json) => user.id));
      cursor = body.nextCursor ?? '';
    } while (cursor !== '');
    assert.deepEqual(seen, ids);
    const found = await list(`?${new URLSearchParams({ q: '3% \\_X' })}`);
    assert.deepEqual(
      found.body.users.map((user: Json) => user.name),
      ['Zoë 3% \\_x'],
    );
    const byId = await list(`?q=${ids[1]}`);
    assert.deepEqual(
      byId.body.users.map((user: Json) => user.id),
      [ids[1]],
    );
    const everybody = await list('?limit=500');
    const { rows } = await app.db.pool.query('select id from users');
    assert.equal(everybody.body.users.length, rows.length);
    assert.equal(everybody.body.nextCursor, null);
    for (const query of ['?limit=0', '?limit=501', '?limit=x', '?cursor=x', `?q=${'x'.repeat(201)}`]) {
      assert.deepEqual(outcome(await list(query)), [400, 'invalid_request'], query);
    }
  });

  test('answers 404 for an unknown id, and never shows passwords', async () => {
    for (const body of [{ id: 'missing', name: 'New Name' }, { id: 'missing', enabled: false }, { id: 'missing' }]) {
      assert.deepEqual(outcome(await patch(body)), [404, 'not_found']);
    }
    const text = JSON.stringify((await list('?limit=500')).body);
    assert.doesNotMatch(text, /[0-9a-f]{32}:|horse/);
  });

  test('the audit log lists everything in pages, newest first', async () => {
    const { rows } = await app.db.pool.query<{ id: string }>('select id from audit_events order by at desc, id desc');
    const seen: string[] = [];
    let cursor = '';
    do {
      const query = new URLSearchParams({ limit: '7', ...(cursor === '' ? {} : { cursor }) });
      const { body } = await app.request('GET', `/api/admin/audit?${query}`, { cookie });
      seen.push(...body.events.map((event: Json) => event.id));
      cursor = body.nextCursor ?? '';
    } while (cursor !== '');
    assert.ok(seen.length > 7);
    assert.deepEqual(
      seen,
      rows.map((row) => row.id),
    );
    const text = await app.db.pool.query('select e::text as row from audit_events e');
    assert.doesNotMatch(JSON.stringify(text.rows), /horse|[0-9a-f]{32}:/);
    const answer = await app.request('GET', '/api/admin/audit?cursor=nonsense', { cookie });
    assert.deepEqual([...outcome(answer), fieldOf(answer)], [400, 'invalid_request', 'cursor']);
  });
});

describe('managed edition', () => {
  let app: AccountsApp;
  let cookie: string;
  before(async () => {
    app = await startAccountsApp({ config: { edition: 'managed' } });
    cookie = await app.signIn((await app.addUser({ role: 'admin' })).email);
  });
  after(() => app.stop());

  test('providerSettingsEnabled is refused everywhere, mcpSettingsEnabled works', async () => {
    const user = await app.addUser();
    const cases: [string, string, object][] = [
      ['POST', path, { name: 'Ada', email: newEmail() }],
      ['PATCH', path, { id: user.id }],
      ['PATCH', path, { all: true }],
      ['POST', '/api/invitations', { email: newEmail() }],
    ];
    for (const [method, place, body] of cases) {
      const refused = await app.request(method, place, { cookie, body: { ...body, providerSettingsEnabled: true } });
      assert.deepEqual([...outcome(refused), fieldOf(refused)], [400, 'invalid_request', 'providerSettingsEnabled']);
      const answer = await app.request(method, place, { cookie, body: { ...body, mcpSettingsEnabled: false } });
      assert.ok(answer.status < 300, `${method} ${place}`);
    }
  });
});
