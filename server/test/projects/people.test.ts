import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setUserEnabled } from '../../src/accounts/users.ts';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';

/** People whom an account can find to add them to a project or to share with them. */

let app: TestApp;
let admin: SignedIn;
let caller: SignedIn;
let colleague: SignedIn;
let stranger: SignedIn;
before(async () => {
  app = await startTestApp();
  admin = await app.signIn({ role: 'admin', name: 'Ada Boss' });
  caller = await app.signIn({ name: 'Max' });
  colleague = await app.signIn({ name: 'Carla Colleague' });
  stranger = await app.signIn({ name: 'Stella Stranger' });
  const { body } = await caller.call('POST /api/projects', { name: 'Boats' });
  const member = { projectId: body.project.id, email: colleague.email, role: 'member' };
  assert.equal((await caller.call('POST /api/projects/members', member)).status, 201);
});
after(() => app.stop());

async function find(who: SignedIn, q?: string): Promise<string[]> {
  const answer = await who.call('GET /api/people', undefined, { query: q === undefined ? {} : { q } });
  assert.equal(answer.status, 200, answer.text);
  return answer.body.people.map(({ name }: Json) => name);
}

test('finds members of own projects by a part of the name or address, and no others', async () => {
  assert.deepEqual(await find(caller), ['Carla Colleague']);
  assert.deepEqual(await find(caller, 'colleague'), ['Carla Colleague']);
  assert.deepEqual(await find(colleague, caller.email.slice(0, 8)), ['Max']);
  assert.deepEqual(await find(caller, 'stella'), []);
  assert.deepEqual(await find(caller, stranger.email.slice(0, -1)), []);
  assert.deepEqual(await find(stranger), []);
});

test('finds anyone by the complete address, and never the caller', async () => {
  assert.deepEqual(await find(caller, ` ${stranger.email.toUpperCase()} `), ['Stella Stranger']);
  assert.deepEqual(await find(caller, caller.email), []);
});

test('tells whether the caller finds everyone', async () => {
  const of = async (who: SignedIn) => (await who.call('GET /api/people')).body.everyone;
  assert.deepEqual([await of(admin), await of(caller)], [true, false]);
});

test('administrators find everyone, and so does everyone where they allow it', async () => {
  assert.deepEqual(await find(admin), ['Carla Colleague', 'Max', 'Stella Stranger']);
  const { body } = await admin.call('POST /api/admin/config', { peopleSearch: 'everyone' });
  assert.equal(body.peopleSearch, 'everyone');
  assert.deepEqual(await find(caller, 'st'), ['Stella Stranger']);
  assert.deepEqual(await find(caller), ['Ada Boss', 'Carla Colleague', 'Stella Stranger']);
  await admin.call('POST /api/admin/config', { peopleSearch: 'projects' });
  assert.deepEqual(await find(caller, 'stella'), []);
});

test('a disabled account is not found', async () => {
  const gone = await app.signIn({ name: 'Gone' });
  await setUserEnabled({ db: app.database.database }, gone.id, false);
  assert.deepEqual(await find(admin, 'gone'), []);
  assert.deepEqual(await find(caller, gone.email), []);
});

test('lists at most 20 people, by name', async () => {
  await app.database.database.pool.query(
    `insert into users (id, name, email, role)
     select 'many-' || n, 'Nina ' || lpad(n::text, 3, '0'), 'nina' || n || '@example.org', 'user'
     from generate_series(1, 30) n`,
  );
  const names = await find(admin, 'nina');
  assert.equal(names.length, 20);
  assert.equal(names[0], 'Nina 001');
  assert.deepEqual(names, names.toSorted());
});

test('text of a pattern has no meaning in a search', async () => {
  for (const q of ['%', '_', '\\', "'", '.*']) assert.deepEqual(await find(admin, q), [], q);
});
