import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { limits } from '@homeport/contracts/limits';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';

/** Saved prompts and their users (contract.md section 11). */

let app: TestApp;
let owner: SignedIn;
let member: SignedIn;
let admin: SignedIn;
before(async () => {
  app = await startTestApp();
  [owner, member, admin] = await Promise.all([app.signIn(), app.signIn(), app.signIn({ role: 'admin' })]);
});
after(() => app.stop());

const make = async (who: SignedIn, fields: Json): Promise<Json> => {
  const { status, body } = await who.call('POST /api/prompts', { text: 'Say {{what}}', ...fields });
  assert.equal(status, 201, JSON.stringify(body));
  return body.prompt;
};
const change = (who: SignedIn, id: string, fields: Json) => who.call('PATCH /api/prompts', { id, ...fields });
const remove = (who: SignedIn, id: string) => who.call('DELETE /api/prompts', undefined, { query: { id } });
const use = (who: SignedIn, id: string) => who.call('POST /api/prompts/used', { id });
const list = async (who: SignedIn, query: Record<string, string> = {}): Promise<Json> =>
  (await who.call('GET /api/prompts', undefined, { query })).body;
const names = async (who: SignedIn, query?: Record<string, string>): Promise<string[]> =>
  (await list(who, query)).prompts.map(({ name }: Json) => name);
const codeOf = ({ status, body }: { status: number; body: Json }) => [status, body.error?.code];

test('saves, changes and deletes a prompt, and uses its name as the title by default', async () => {
  const who = await app.signIn();
  const made = await make(who, { name: 'translate' });
  assert.deepEqual(
    [made.title, made.text, made.audience, made.projectId, made.ownerId, made.canEdit, made.lastUsedAt],
    ['translate', 'Say {{what}}', 'me', null, who.id, true, null],
  );
  const changed = await change(who, made.id, { name: 'translate-it', title: 'Translate', text: 'Other' });
  assert.deepEqual(
    [changed.body.prompt.name, changed.body.prompt.title, changed.body.prompt.text],
    ['translate-it', 'Translate', 'Other'],
  );
  assert.deepEqual((await remove(who, made.id)).body, { ok: true });
  assert.deepEqual(await names(who), []);
});

test("a prompt's name is unique per creator, regardless of its audience", async () => {
  const who = await app.signIn();
  await make(who, { name: 'twice' });
  const other = await make(who, { name: 'other' });
  const taken = await who.call('POST /api/prompts', { name: 'twice', text: 'x' });
  assert.deepEqual([...codeOf(taken), taken.body.error.details[0].path], [409, 'id_taken', 'name']);
  assert.deepEqual(codeOf(await change(who, other.id, { name: 'twice' })), [409, 'id_taken']);
  assert.equal((await change(who, other.id, { name: 'other' })).status, 200);
  await make(owner, { name: 'twice' });
  const all = await Promise.all(
    Array.from({ length: 4 }, () => who.call('POST /api/prompts', { name: 'race', text: 'x' })),
  );
  assert.deepEqual(all.map(({ status }) => status).sort(), [201, 409, 409, 409]);
});

test("lists prompts by the reader's own last use", async () => {
  const who = await app.signIn();
  const made: Json[] = [];
  for (const name of ['one', 'two', 'three']) made.push(await make(who, { name }));
  assert.deepEqual(await names(who), ['three', 'two', 'one']);
  await use(who, made[0].id);
  await use(who, made[1].id);
  assert.deepEqual(await names(who), ['two', 'one', 'three']);
  await use(who, made[0].id);
  assert.deepEqual(await names(who, { limit: '2' }), ['one', 'two']);
  const { nextCursor } = await list(who, { limit: '2' });
  const rest = await list(who, { limit: '2', cursor: nextCursor });
  assert.deepEqual([rest.prompts.map(({ name }: Json) => name), rest.nextCursor], [['three'], null]);
  assert.ok(Date.parse((await list(who)).prompts[0].lastUsedAt) > 0);
  assert.deepEqual(await names(who, { q: 'WO' }), ['two']);
});

test('only its owner sees a personal prompt, members see a project’s, and administrators edit everyone’s', async () => {
  const { body } = await owner.call('POST /api/projects', { name: 'Boats' });
  const projectId = body.project.id;
  await owner.call('POST /api/projects/members', { projectId, email: member.email, role: 'member' });
  const personal = await make(owner, { name: 'personal' });
  const project = await make(owner, { name: 'of-project', audience: 'project', projectId });
  const everyone = await make(admin, { name: 'of-all', audience: 'everyone' });

  for (const answer of [
    await change(admin, personal.id, { title: 'x' }),
    await remove(member, personal.id),
    await use(member, personal.id),
    await change(admin, project.id, { title: 'x' }),
  ]) {
    assert.deepEqual(codeOf(answer), [404, 'not_found']);
  }
  assert.deepEqual((await names(member)).sort(), ['of-all', 'of-project']);
  assert.deepEqual(await names(admin), ['of-all']);
  for (const { id } of [project, everyone]) {
    assert.equal((await use(member, id)).status, 200);
    assert.deepEqual(codeOf(await change(member, id, { title: 'x' })), [403, 'forbidden']);
  }
  assert.equal((await list(owner)).prompts.find(({ id }: Json) => id === project.id).lastUsedAt, null);
  assert.deepEqual(codeOf(await change(owner, personal.id, { audience: 'everyone' })), [403, 'forbidden']);

  await owner.call('DELETE /api/projects/members', undefined, { query: { projectId, userId: member.id } });
  assert.deepEqual(await names(member), ['of-all']);
  assert.deepEqual(codeOf(await use(member, project.id)), [404, 'not_found']);
  const { rows } = await app.database.database.pool.query<{ action: string; target_id: string }>(
    `select action, target_id from audit_events where action like 'prompt.%'`,
  );
  assert.deepEqual(
    rows.map(({ action, target_id }) => `${action} ${target_id}`).sort(),
    [`prompt.created ${project.id}`, `prompt.created ${everyone.id}`].sort(),
  );
});

test('rejects invalid names, long texts and too many prompts with their path', async () => {
  const who = await app.signIn();
  const faults: [Json, string][] = [
    [{ name: 'Upper' }, 'name'],
    [{ name: '' }, 'name'],
    [{ name: 'a b' }, 'name'],
    [{ name: 'x'.repeat(65) }, 'name'],
    [{ name: 'x', text: '' }, 'text'],
    [{ name: 'x', text: 'x'.repeat(16_001) }, 'text'],
    [{ name: 'x', title: 'x'.repeat(101) }, 'title'],
    [{ name: 'x', audience: 'project' }, 'projectId'],
  ];
  for (const [fields, place] of faults) {
    const refused = await who.call('POST /api/prompts', { text: 'Text', ...fields });
    assert.deepEqual([...codeOf(refused), refused.body.error.details[0].path], [400, 'invalid_request', place]);
  }
  await app.database.database.pool.query(
    `insert into prompts (id, owner_id, audience, name, title, text)
     select gen_random_uuid()::text, $1, 'me', 'p' || n, 'Full', 'x' from generate_series(1, $2) n`,
    [who.id, limits.promptsPerOwner],
  );
  const refused = await who.call('POST /api/prompts', { name: 'more', text: 'x' });
  assert.deepEqual([...codeOf(refused), refused.body.error.details[0].path], [400, 'invalid_request', 'name']);
});
