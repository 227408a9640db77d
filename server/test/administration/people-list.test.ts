import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seededRandom } from '../../../contracts/test/seeded-random.ts';
import { type Answer, type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { addModels } from '../chat/chat-harness.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';

/** The administrators' list of people: search, filters, order, pages, and changes of several accounts. */

let app: TestApp;
let admin: SignedIn;
let provider: FakeProvider;
before(async () => {
  provider = await startFakeProvider();
  app = await startTestApp();
  admin = await app.signIn({ role: 'admin', name: 'Root', email: 'root@example.org' });
});
after(async () => {
  await app.stop();
  await provider.close();
});

const list = async (query: Record<string, string>) => {
  const answer = await admin.call('GET /api/admin/users', undefined, { query });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
};
const names = ({ users }: Json): string[] => users.map(({ name }: Json) => name);
const fieldOf = ({ body }: Answer) => body.error?.details?.[0]?.path;

test('pages through every order without losing or repeating anyone', async () => {
  const random = seededRandom(4303);
  for (let index = 0; index < 23; index += 1) {
    const letter = 'aAbBé'[Math.floor(random() * 5)];
    const person = await app.signIn({ name: `Walker ${letter}`, email: `walker-${index}@example.org` });
    if (random() < 0.4) await app.database.database.pool.query('delete from sessions where user_id = $1', [person.id]);
  }
  for (const sort of ['created', 'name', 'email', 'seen']) {
    for (const order of [undefined, 'asc', 'desc']) {
      const filter = { q: 'walker', sort, ...(order === undefined ? {} : { order }) };
      const whole: Json = await list(filter);
      assert.equal(whole.total, 23);
      const seen: string[] = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const page: Json = await list({ ...filter, limit: '5', ...(cursor === '' ? {} : { cursor }) });
        assert.equal(page.total, 23);
        seen.push(...page.users.map(({ id }: Json) => id));
        cursor = page.nextCursor;
      }
      assert.deepEqual(
        seen,
        whole.users.map(({ id }: Json) => id),
        `${sort} ${order}`,
      );
      assert.equal(new Set(seen).size, 23);
    }
  }
  const byName = names(await list({ q: 'walker', sort: 'name' })).map((name) => name.toLowerCase());
  assert.deepEqual(byName, byName.toSorted(), 'ignores case');
  const bySeen = (await list({ q: 'walker', sort: 'seen', order: 'asc' })).users.map(
    (user: Json) => user.lastSeenAt ?? '',
  );
  assert.deepEqual(bySeen, bySeen.toSorted(), 'those never seen come first');
});

test('filters by role, state and last use, and counts who matches', async () => {
  const away = await app.signIn({ name: 'Filter Away' });
  const gone = await app.signIn({ name: 'Filter Gone' });
  await app.signIn({ name: 'Filter Here' });
  await app.signIn({ name: 'Filter Chief', role: 'admin' });
  const { pool } = app.database.database;
  await pool.query(`update sessions set updated_at = now() - interval '31 days' where user_id = $1`, [away.id]);
  await pool.query('delete from sessions where user_id = $1', [gone.id]);
  await admin.call('PATCH /api/admin/users', { id: gone.id, enabled: false });
  const cases: [Record<string, string>, string[]][] = [
    [{ role: 'admin' }, ['Filter Chief']],
    [{ enabled: '0' }, ['Filter Gone']],
    [{ enabled: '1', role: 'user' }, ['Filter Away', 'Filter Here']],
    [{ seen: 'recently' }, ['Filter Chief', 'Filter Here']],
    [{ seen: 'not-recently' }, ['Filter Away', 'Filter Gone']],
    [{ seen: 'never' }, ['Filter Gone']],
  ];
  for (const [filter, expected] of cases) {
    const found = await list({ q: 'filter', sort: 'name', ...filter });
    assert.deepEqual([names(found), found.total], [expected, expected.length], JSON.stringify(filter));
  }
});

test('finds people without a model of their own or shared with them', async () => {
  const without = async () => names(await list({ q: 'Model', sort: 'name', model: 'none' }));
  const owner = await app.signIn({ name: 'Model Owner' });
  const named = await app.signIn({ name: 'Model Named' });
  await app.signIn({ name: 'Model None' });
  assert.deepEqual(await without(), ['Model Named', 'Model None', 'Model Owner']);
  const [own] = await addModels(owner, provider, ['echo']);
  assert.deepEqual(await without(), ['Model Named', 'Model None']);
  await owner.call('PATCH /api/models', { id: own, enabled: false });
  assert.deepEqual(await without(), ['Model Named', 'Model None', 'Model Owner']);
  await addModels(admin, provider, ['echo']);
  const { body } = await admin.call('GET /api/providers');
  const id = body.providers[0].id;
  await admin.call('PATCH /api/providers', { id, sharedWith: { userIds: [named.id] } });
  assert.deepEqual(await without(), ['Model None', 'Model Owner']);
  await admin.call('PATCH /api/providers', { id, sharedWith: 'everyone' });
  assert.deepEqual(await without(), []);
  await admin.call('PATCH /api/providers', { id, enabled: false });
  assert.deepEqual(await without(), ['Model Named', 'Model None', 'Model Owner']);
});

test('refuses unknown orders and filters, and cursors of another list', async () => {
  const { nextCursor } = await list({ limit: '1', sort: 'name' });
  const bad: Record<string, string>[] = [
    { sort: 'password' },
    { order: 'up' },
    { seen: 'yesterday' },
    { role: 'root' },
    { model: 'some' },
    { cursor: nextCursor, sort: 'seen' },
    { cursor: 'bm9uc2Vuc2U' },
    { cursor: Buffer.from('["created","1; drop","x"]').toString('base64url') },
    { cursor: Buffer.from('["created","9999999999999999999999","x"]').toString('base64url') },
    { cursor: Buffer.from(JSON.stringify(['name', 'a\u0000', 'x'])).toString('base64url'), sort: 'name' },
    { cursor: Buffer.from('["name","\\ud800","x"]').toString('base64url'), sort: 'name' },
  ];
  for (const query of bad) {
    const answer = await admin.call('GET /api/admin/users', undefined, { query });
    assert.deepEqual([answer.status, answer.body.error?.code], [400, 'invalid_request'], JSON.stringify(query));
  }
});

test('changes several accounts at once, each with an event', async () => {
  const people = await Promise.all([1, 2, 3].map((index) => app.signIn({ name: `Several ${index}` })));
  const ids = people.map(({ id }) => id);
  const patch = (body: object) => admin.call('PATCH /api/admin/users', body);
  const off = await patch({ ids: [...ids, ids[0]], enabled: false, mcpSettingsEnabled: false });
  assert.deepEqual([off.status, off.body], [200, { ok: true, updated: 3 }]);
  for (const person of people) assert.equal((await person.call('GET /api/me')).body.error.code, 'account_disabled');
  const { users } = await list({ q: 'several' });
  for (const user of users) assert.deepEqual([user.enabled, user.mcpSettingsEnabled], [false, false]);
  const { events } = (await admin.call('GET /api/admin/audit')).body;
  const targets = events.slice(0, 3).map(({ action, targetId }: Json) => `${action} ${targetId}`);
  assert.deepEqual(targets.toSorted(), ids.map((id) => `user.updated ${id}`).toSorted());
  assert.equal((await patch({ ids, enabled: true })).body.updated, 3);
  assert.deepEqual((await list({ q: 'several', enabled: '1' })).total, 3);
});

test('changes none of several accounts if one is missing, is the own one, or the list is not allowed', async () => {
  const person = await app.signIn({ name: 'Spared' });
  const patch = (body: object) => admin.call('PATCH /api/admin/users', body);
  const missing = await patch({ ids: [person.id, '01234567-89ab-7def-8123-456789abcdef'], enabled: false });
  assert.deepEqual([missing.status, missing.body.error.code], [404, 'not_found']);
  const own = await patch({ ids: [person.id, admin.id], enabled: false });
  assert.deepEqual([own.status, fieldOf(own)], [400, 'ids']);
  const many = Array.from({ length: 101 }, (_, index) => `id-${index}`);
  for (const body of [{ ids: [], enabled: false }, { ids: many, enabled: false }, { ids: [person.id] }]) {
    assert.equal((await patch(body)).status, 400);
  }
  assert.equal((await person.call('PATCH /api/admin/users', { ids: [person.id], enabled: true })).status, 403);
  assert.equal((await person.call('GET /api/me')).status, 200);
});

test('lists the invitations that wait, found by part of name or address', async () => {
  const invite = async (email: string, name?: string) =>
    (await admin.call('POST /api/invitations', { email, ...(name === undefined ? {} : { name }) })).body.invitation.id;
  await invite('waiting@example.org', 'Wanda 100%');
  const revoked = await invite('revoked@example.org');
  await admin.call(`DELETE /api/invitations?id=${revoked}`);
  const find = async (query: Record<string, string>) =>
    (await admin.call('GET /api/invitations', undefined, { query })).body.invitations.map(({ email }: Json) => email);
  assert.deepEqual(await find({ state: 'open' }), ['waiting@example.org']);
  assert.deepEqual(await find({ q: 'example' }), ['revoked@example.org', 'waiting@example.org']);
  assert.deepEqual(await find({ q: '100%', state: 'open' }), ['waiting@example.org']);
  assert.deepEqual(await find({ q: '1_0' }), []);
});
