import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';

/** Projects, their members and their states (control-plane-api.md "States and transitions", contract.md section 5). */

let app: TestApp;
let owner: SignedIn;
let member: SignedIn;
let stranger: SignedIn;
let admin: SignedIn;
before(async () => {
  app = await startTestApp();
  [owner, member, stranger] = await Promise.all([
    app.signIn({ name: 'Olga' }),
    app.signIn({ name: 'Max' }),
    app.signIn(),
  ]);
  admin = await app.signIn({ role: 'admin' });
});
after(() => app.stop());

async function makeProject(name = 'Boats'): Promise<string> {
  const { body } = await owner.call('POST /api/projects', { name });
  await owner.call('POST /api/projects/members', { projectId: body.project.id, email: member.email, role: 'member' });
  return body.project.id;
}
const list = async (who: SignedIn, query: Record<string, string> = {}): Promise<Json[]> =>
  (await who.call('GET /api/projects', undefined, { query })).body.projects;
const find = async (who: SignedIn, id: string, query: Record<string, string> = {}): Promise<Json> =>
  (await list(who, query)).find((project) => project.id === id);
const leave = (who: SignedIn, projectId: string, userId: string) =>
  who.call('DELETE /api/projects/members', undefined, { query: { projectId, userId } });

test('the creator owns a project, and members see it with their role and all its members', async () => {
  const made = await owner.call('POST /api/projects', { name: '  Boats  ' });
  assert.deepEqual([made.status, made.body.project.name, made.body.project.role], [201, 'Boats', 'owner']);
  const { id } = made.body.project;
  assert.equal(await find(member, id), undefined);
  const added = await owner.call('POST /api/projects/members', {
    projectId: id,
    email: member.email.toUpperCase(),
    role: 'member',
  });
  assert.equal(added.status, 201);
  const seen = await find(member, id);
  assert.equal(seen.role, 'member');
  assert.deepEqual(
    seen.members.map(({ userId, name, email, role }: Json) => [userId, name, email, role]),
    [
      [owner.id, 'Olga', owner.email, 'owner'],
      [member.id, 'Max', member.email, 'member'],
    ],
  );
  assert.equal(await find(stranger, id), undefined);
});

test('owners and administrators rename and archive a project, a member is refused, and others get 404', async () => {
  const id = await makeProject();
  const rename = (who: SignedIn, name: string) => who.call('PATCH /api/projects', { id, name });
  assert.deepEqual([(await rename(owner, 'One')).status, (await rename(admin, 'Two')).body.project.name], [200, 'Two']);
  const refused = await rename(member, 'Three');
  assert.deepEqual([refused.status, refused.body.error.code], [403, 'forbidden']);
  assert.equal((await rename(stranger, 'Four')).status, 404);
  assert.equal((await find(owner, id)).name, 'Two');
  for (const name of ['', '   ', 'x'.repeat(101)]) assert.equal((await rename(owner, name)).status, 400);
});

test('lists an archived project separately until it is restored, for every member', async () => {
  const id = await makeProject();
  await owner.call('PATCH /api/projects', { id, archived: true });
  for (const who of [owner, member]) {
    assert.equal(await find(who, id), undefined);
    assert.equal((await find(who, id, { archived: '1' })).archived, true);
  }
  assert.equal((await admin.call('PATCH /api/projects', { id, archived: false })).body.project.archived, false);
  assert.ok(await find(member, id));
});

test('only administrators can list all projects', async () => {
  const id = await makeProject('Seen by administrators');
  assert.equal(await find(admin, id), undefined);
  assert.equal((await find(admin, id, { all: '1' })).role, null);
  const refused = await owner.call('GET /api/projects', undefined, { query: { all: '1' } });
  assert.deepEqual([refused.status, refused.body.error.code], [403, 'forbidden']);
  const names: string[] = [];
  let cursor: string | undefined;
  do {
    const query = { all: '1', limit: '2', ...(cursor === undefined ? {} : { cursor }) };
    const { body } = await admin.call('GET /api/projects', undefined, { query });
    names.push(...body.projects.map((project: Json) => project.id));
    cursor = body.nextCursor ?? undefined;
  } while (cursor !== undefined);
  assert.equal(new Set(names).size, names.length);
  assert.deepEqual(
    names,
    (await list(admin, { all: '1', limit: '500' })).map((project) => project.id),
  );
});

test('only owners add members, change their role and remove them, and an unknown address is 404', async () => {
  const id = await makeProject();
  const put = (who: SignedIn, email: string, role: string) =>
    who.call('POST /api/projects/members', { projectId: id, email, role });
  assert.equal((await put(owner, 'nobody@example.org', 'member')).status, 404);
  assert.equal((await put(member, stranger.email, 'member')).body.error.code, 'forbidden');
  assert.equal((await put(stranger, stranger.email, 'owner')).status, 404);
  assert.equal((await put(admin, admin.email, 'owner')).status, 404);
  assert.equal((await put(owner, member.email, 'owner')).status, 200);
  assert.equal((await find(member, id)).role, 'owner');
  assert.equal((await leave(member, id, owner.id)).status, 200);
  assert.equal(await find(owner, id), undefined);
  assert.equal((await leave(member, id, stranger.id)).status, 404);
});

test('a project keeps at least one owner, even when two leave at the same time', async () => {
  const id = await makeProject();
  const last = await leave(owner, id, owner.id);
  assert.deepEqual([last.status, last.body.error.details[0].path], [400, 'userId']);
  const demoted = await owner.call('POST /api/projects/members', { projectId: id, email: owner.email, role: 'member' });
  assert.deepEqual([demoted.status, demoted.body.error.details[0].path], [400, 'role']);
  await owner.call('POST /api/projects/members', { projectId: id, email: member.email, role: 'owner' });
  const both = await Promise.all([leave(owner, id, owner.id), leave(member, id, member.id)]);
  assert.deepEqual(both.map((answer) => answer.status).sort(), [200, 400]);
});

test('a member cannot remove others, but can leave, and their conversations leave with them', async () => {
  const id = await makeProject();
  assert.equal((await leave(member, id, owner.id)).status, 403);
  const chat = (await member.call('POST /api/chats', { projectId: id, title: 'Mine' })).body.chat;
  assert.equal(chat.projectId, id);
  assert.equal((await leave(member, id, member.id)).status, 200);
  assert.equal((await member.call('GET /api/chats', undefined, { query: { id: chat.id } })).body.chat.projectId, null);
});

test('conversations in a project stay private to their owner', async () => {
  const id = await makeProject();
  const { chat } = (await member.call('POST /api/chats', { projectId: id })).body;
  assert.equal((await owner.call('GET /api/chats', undefined, { query: { id: chat.id } })).status, 404);
  const ownersList = (await owner.call('GET /api/chats', undefined, { query: { projectId: id } })).body.chats;
  assert.deepEqual(ownersList, []);
  const membersList = (await member.call('GET /api/chats', undefined, { query: { projectId: id } })).body.chats;
  assert.deepEqual(
    membersList.map((one: Json) => one.id),
    [chat.id],
  );
});

test('records projects and members in the audit log', async () => {
  const id = await makeProject('Told of');
  await owner.call('PATCH /api/projects', { id, archived: true });
  await leave(owner, id, member.id);
  const { events } = (await admin.call('GET /api/admin/audit', undefined, { query: { limit: '50' } })).body;
  const actions = events.filter((event: Json) => event.targetId === id).map((event: Json) => event.action);
  assert.deepEqual(actions, ['project.member_removed', 'project.updated', 'project.member_added', 'project.created']);
});
