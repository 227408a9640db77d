import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { limits } from '@homeport/contracts/limits';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { makeModel, makeProvider } from '../catalogue/catalogue-makers.ts';

/** Assistants: fields, versions, and the rights to use and change them (contract.md section 11). */

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

const path = '/api/assistants';
const make = async (who: SignedIn, fields: Json = {}): Promise<Json> => {
  const { status, body } = await who.call(`POST ${path}`, { name: 'Helper', ...fields });
  assert.equal(status, 201, JSON.stringify(body));
  return body.assistant;
};
const get = (who: SignedIn, id: string) => who.call(`GET ${path}`, undefined, { query: { id } });
const change = (who: SignedIn, id: string, fields: Json) => who.call(`PATCH ${path}`, { id, ...fields });
const remove = (who: SignedIn, id: string) => who.call(`DELETE ${path}`, undefined, { query: { id } });
const versions = (who: SignedIn, id: string) => who.call(`GET ${path}/versions`, undefined, { query: { id } });
const list = async (who: SignedIn, query: Record<string, string> = {}): Promise<Json> =>
  (await who.call(`GET ${path}`, undefined, { query })).body;
const ids = async (who: SignedIn, query?: Record<string, string>): Promise<string[]> =>
  (await list(who, query)).assistants.map(({ id }: Json) => id);
const codeOf = ({ status, body }: { status: number; body: Json }) => [status, body.error?.code];

async function makeProject(...members: SignedIn[]): Promise<string> {
  const { body } = await owner.call('POST /api/projects', { name: 'Boats' });
  for (const { email } of members) {
    await owner.call('POST /api/projects/members', { projectId: body.project.id, email, role: 'member' });
  }
  return body.project.id;
}

function catalogue() {
  const { db, secrets, clock } = app.service.deps;
  return { db, secrets, clock };
}

async function modelOf(who: SignedIn, providerModelId: string): Promise<string> {
  const providerId = await makeProvider(catalogue(), who.id);
  return makeModel(catalogue(), who.id, providerId, { providerModelId });
}

async function addOffered(who: SignedIn, offerId: string): Promise<string> {
  return (await who.call('POST /api/mcp', { name: 'Offered', offerId })).body.server.id;
}

async function serverOf(who: SignedIn, url: string): Promise<string> {
  const id = crypto.randomUUID();
  await app.database.database.pool.query(
    `insert into mcp_servers (id, owner_id, name, url, transport) values ($1, $2, 'Files', $3, 'http')`,
    [id, who.id, url],
  );
  return id;
}

test('a new assistant has the given fields, and changes no other record', async () => {
  const bare = await make(owner, { name: '  Plain \n' });
  assert.deepEqual(
    [bare.name, bare.description, bare.icon, bare.instructions, bare.modelId, bare.tier, bare.parameters],
    ['Plain', '', null, null, null, null, {}],
  );
  assert.deepEqual(
    [bare.mcpServerIds, bare.workspace, bare.starters, bare.audience, bare.projectId, bare.ownerId, bare.version],
    [null, true, [], 'me', null, owner.id, 1],
  );
  assert.deepEqual([bare.canEdit, bare.missing], [true, { model: false, mcpServers: 0 }]);
  const fields = {
    name: 'Captain',
    description: 'Knows boats',
    icon: '⛵️',
    instructions: 'Speak like a sailor.',
    modelId: await modelOf(owner, 'sail-1'),
    tier: 2,
    parameters: { temperature: 0.5, reasoningEffort: 'high' },
    mcpServerIds: [await serverOf(owner, 'https://files.example.org/mcp')],
    workspace: false,
    starters: ['Ahoy?', 'Where are we?'],
  };
  const whole = await make(owner, fields);
  for (const [name, value] of Object.entries(fields)) assert.deepEqual(whole[name], value, name);
  assert.deepEqual((await get(owner, whole.id)).body.assistant, whole);
});

test('every change makes a version, an equal one none, and restoring makes a new version', async () => {
  const { id } = await make(owner, { instructions: 'One', parameters: { temperature: 1, topP: 0.5 } });
  const second = await change(owner, id, { instructions: 'Two', icon: '🦊' });
  assert.deepEqual([second.body.assistant.version, second.body.assistant.icon], [2, '🦊']);
  const same = await change(owner, id, { instructions: 'Two', parameters: { topP: 0.5, temperature: 1 } });
  assert.equal(same.body.assistant.version, 2);
  const restored = await change(owner, id, { restoreVersion: 1 });
  assert.deepEqual(
    [restored.body.assistant.version, restored.body.assistant.instructions, restored.body.assistant.icon],
    [3, 'One', null],
  );
  const { body } = await versions(owner, id);
  assert.deepEqual(
    body.versions.map((version: Json) => [version.version, version.instructions, version.authorId, version.authorName]),
    [
      [3, 'One', owner.id, 'Olga'],
      [2, 'Two', owner.id, 'Olga'],
      [1, 'One', owner.id, 'Olga'],
    ],
  );
  assert.deepEqual(codeOf(await change(owner, id, { restoreVersion: 4 })), [404, 'not_found']);
  assert.deepEqual(codeOf(await change(owner, id, { restoreVersion: 1, name: 'Other' })), [400, 'invalid_request']);
});

test('keeps all concurrent changes, each as a version', async () => {
  const { id } = await make(owner);
  const changes = [{ name: 'New' }, { instructions: 'Words' }, { workspace: false }, { description: 'Told' }];
  const answers = await Promise.all(changes.map((fields) => change(owner, id, fields)));
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200, 200],
  );
  const { assistant } = (await get(owner, id)).body;
  assert.deepEqual(
    [assistant.version, assistant.name, assistant.instructions, assistant.workspace, assistant.description],
    [5, 'New', 'Words', false, 'Told'],
  );
  assert.equal((await change(owner, id, { instructions: '' })).body.assistant.instructions, null);
});

test('deletes the oldest version above the limit', async () => {
  const { id } = await make(owner);
  const { pool } = app.database.database;
  await pool.query('update assistants set version = $2 where id = $1', [id, limits.versionsKept]);
  await pool.query('update assistant_versions set version = $2 where assistant_id = $1', [id, limits.versionsKept]);
  await pool.query(
    `insert into assistant_versions (assistant_id, version, audience, name, description, parameters, workspace, starters)
     select $1, n, 'me', 'Old', '', '{}', true, '[]' from generate_series(1, $2::int - 1) n`,
    [id, limits.versionsKept],
  );
  await change(owner, id, { name: 'Newer' });
  const kept = (await versions(owner, id)).body.versions.map(({ version }: Json) => version);
  assert.deepEqual([kept.length, kept[0], kept.at(-1)], [limits.versionsKept, limits.versionsKept + 1, 2]);
});

test('only its owner sees a personal assistant, not even administrators', async () => {
  const { id } = await make(owner, { instructions: 'Secret' });
  for (const who of [stranger, admin]) {
    const answers = [
      await get(who, id),
      await change(who, id, { name: 'Mine' }),
      await remove(who, id),
      await versions(who, id),
      await who.call('POST /api/assistants', { name: 'x', audience: 'project', projectId: await makeProject() }),
    ];
    for (const answer of answers) assert.deepEqual(codeOf(answer), [404, 'not_found']);
    assert.equal((await ids(who)).includes(id), false);
  }
});

test('members use an assistant shared with their project, owners edit it, others are refused, and former members find nothing', async () => {
  const projectId = await makeProject(member);
  const { id } = await make(member, { audience: 'project', projectId });
  const seen = (await get(owner, id)).body.assistant;
  assert.deepEqual([seen.canEdit, seen.ownerName, seen.projectId], [true, 'Max', projectId]);
  assert.equal((await change(owner, id, { name: 'By the owner' })).body.assistant.version, 2);
  const mine = await make(owner, { audience: 'project', projectId });
  assert.equal((await get(member, mine.id)).body.assistant.canEdit, false);
  assert.deepEqual(codeOf(await change(member, mine.id, { name: 'x' })), [403, 'forbidden']);
  assert.deepEqual(codeOf(await remove(member, mine.id)), [403, 'forbidden']);
  assert.deepEqual(codeOf(await versions(member, mine.id)), [403, 'forbidden']);
  for (const who of [stranger, admin]) assert.deepEqual(codeOf(await get(who, id)), [404, 'not_found']);

  await owner.call('DELETE /api/projects/members', undefined, { query: { projectId, userId: member.id } });
  for (const answer of [await get(member, id), await change(member, id, { name: 'x' }), await versions(member, id)]) {
    assert.deepEqual(codeOf(answer), [404, 'not_found']);
  }
  assert.deepEqual(
    (await ids(member)).filter((one) => one === id || one === mine.id),
    [],
  );
  // It still belongs to the project, as files do.
  assert.equal((await get(owner, id)).body.assistant.canEdit, true);
});

test('only administrators share with everyone; everyone uses such an assistant, and any administrator edits it', async () => {
  assert.deepEqual(codeOf(await owner.call(`POST ${path}`, { name: 'x', audience: 'everyone' })), [403, 'forbidden']);
  const mine = await make(owner);
  assert.deepEqual(codeOf(await change(owner, mine.id, { audience: 'everyone' })), [403, 'forbidden']);
  const { id } = await make(admin, { name: 'For all', audience: 'everyone' });
  const seen = (await get(stranger, id)).body.assistant;
  assert.deepEqual([seen.canEdit, seen.audience], [false, 'everyone']);
  assert.deepEqual(codeOf(await change(stranger, id, { name: 'x' })), [403, 'forbidden']);
  const other = await app.signIn({ role: 'admin' });
  assert.equal((await change(other, id, { name: 'By another' })).body.assistant.version, 2);
  // Otherwise they would take it away from its creator.
  assert.deepEqual(codeOf(await change(other, id, { audience: 'me' })), [403, 'forbidden']);
  assert.deepEqual((await remove(other, id)).body, { ok: true });
  assert.deepEqual(codeOf(await get(admin, id)), [404, 'not_found']);
});

test('the history that others see contains no private versions', async () => {
  const { id } = await make(admin, { instructions: 'My secret' });
  await change(admin, id, { instructions: 'Public' });
  await change(admin, id, { audience: 'everyone' });
  const other = await app.signIn({ role: 'admin' });
  const seen = (await versions(other, id)).body.versions;
  assert.deepEqual(
    seen.map(({ version, instructions }: Json) => [version, instructions]),
    [[3, 'Public']],
  );
  assert.deepEqual(codeOf(await change(other, id, { restoreVersion: 1 })), [404, 'not_found']);
  assert.equal((await versions(admin, id)).body.versions.length, 3);
});

test('shows a reader only their own models and servers, and the number of those they lack', async () => {
  const projectId = await makeProject(member);
  const modelId = await modelOf(owner, 'shared-name');
  const { body: made } = await admin.call('POST /api/admin/mcp/offers', {
    name: 'Shared',
    url: 'https://both.example.org/mcp',
  });
  const offerId: string = made.offer.id;
  const secret = 'https://private.example.org/mcp?key=hush';
  const mcpServerIds = [await addOffered(owner, offerId), await serverOf(owner, secret)];
  const { id } = await make(owner, { audience: 'project', projectId, modelId, mcpServerIds });
  const before = await get(member, id);
  assert.deepEqual(
    [before.body.assistant.modelId, before.body.assistant.mcpServerIds, before.body.assistant.missing],
    [null, [], { model: true, mcpServers: 2 }],
  );
  for (const hidden of [modelId, ...mcpServerIds, 'hush', 'shared-name'])
    assert.equal(before.text.includes(hidden), false);

  const own = await modelOf(member, 'shared-name');
  const guessed = await serverOf(member, secret);
  const guess = await get(member, id);
  assert.deepEqual([guess.body.assistant.mcpServerIds, guess.body.assistant.missing.mcpServers], [[], 2]);
  assert.equal(guess.text.includes(guessed), false, 'a guessed address is not confirmed');
  const ownServer = await addOffered(member, offerId);
  const now = (await get(member, id)).body.assistant;
  assert.deepEqual([now.modelId, now.mcpServerIds, now.missing], [own, [ownServer], { model: false, mcpServers: 1 }]);
  await member.call('PATCH /api/models', { id: own, enabled: false });
  assert.equal((await get(member, id)).body.assistant.missing.model, true);
});

test("rejects other users' models, tiers, servers and projects, and texts that are too long, with their path", async () => {
  const foreignModel = await modelOf(stranger, 'theirs');
  const foreignServer = await serverOf(stranger, 'https://theirs.example.org');
  const { body } = await stranger.call('POST /api/projects', { name: 'Theirs' });
  for (const fields of [
    { modelId: foreignModel },
    { modelId: 'nothing' },
    { mcpServerIds: [foreignServer] },
    { audience: 'project', projectId: body.project.id },
  ]) {
    assert.deepEqual(codeOf(await owner.call(`POST ${path}`, { name: 'x', ...fields })), [404, 'not_found']);
  }
  const icon = `data:image/png;base64,${Buffer.from('no picture').toString('base64')}`;
  const faults: [Json, string][] = [
    [{ name: '' }, 'name'],
    [{ name: 'x'.repeat(101) }, 'name'],
    [{ description: 'x'.repeat(501) }, 'description'],
    [{ instructions: 'x'.repeat(16_001) }, 'instructions'],
    [{ icon: 'ab' }, 'icon'],
    [{ icon: '🦊🦊' }, 'icon'],
    [{ icon }, 'icon'],
    [{ icon: 'data:image/svg+xml;base64,PHN2Zy8+' }, 'icon'],
    [{ icon: `data:image/png;base64,${'A'.repeat(limits.assistantIconMax)}` }, 'icon'],
    [{ tier: 99 }, 'tier'],
    [{ starters: Array(7).fill('x') }, 'starters'],
    [{ starters: ['x'.repeat(501)] }, 'starters.0'],
    [{ parameters: { temperature: 3 } }, 'parameters.temperature'],
    [{ audience: 'project' }, 'projectId'],
    [{ projectId: body.project.id }, 'projectId'],
  ];
  for (const [fields, place] of faults) {
    const refused = await owner.call(`POST ${path}`, { name: 'x', ...fields });
    assert.deepEqual(codeOf(refused), [400, 'invalid_request'], place);
    assert.equal(refused.body.error.details[0].path, place);
  }
  const pixel =
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  for (const good of ['👩🏽‍🚀', '🇨🇭', '❤', '3️⃣', pixel]) assert.equal((await make(owner, { icon: good })).icon, good);
});

test('allows 200 assistants per user and 1,000 for everyone', async () => {
  const who = await app.signIn({ role: 'admin' });
  const fill = (count: number, audience: string) =>
    app.database.database.pool.query(
      `with made as (insert into assistants (id, owner_id, audience, version)
         select gen_random_uuid()::text, $1, $2, 1 from generate_series(1, $3) returning id)
       insert into assistant_versions (assistant_id, version, audience, name, description, parameters, workspace, starters)
       select id, 1, $2, 'Full', '', '{}', true, '[]' from made`,
      [who.id, audience, count],
    );
  await fill(limits.assistantsPerOwner - 1, 'me');
  const { id } = await make(who);
  assert.deepEqual(codeOf(await who.call(`POST ${path}`, { name: 'x' })), [400, 'invalid_request']);
  const { rowCount } = await app.database.database.pool.query(`select from assistants where audience = 'everyone'`);
  await fill(limits.sharedWithEveryoneMax - (rowCount ?? 0), 'everyone');
  assert.deepEqual(codeOf(await who.call(`POST ${path}`, { name: 'x', audience: 'everyone' })), [
    400,
    'invalid_request',
  ]);
  assert.deepEqual(codeOf(await change(who, id, { audience: 'everyone' })), [400, 'invalid_request']);
  await app.database.database.pool.query(`delete from assistants where owner_id = $1`, [who.id]);
});

test('lists assistants in pages, last changed first, and searches names and descriptions', async () => {
  const who = await app.signIn();
  const made: string[] = [];
  for (const name of ['Alpha', 'Beta', 'Gamma'])
    made.push((await make(who, { name, description: `${name} things` })).id);
  await change(who, made[0] ?? '', { name: 'Alpha again' });
  const own = (page: Json) => page.assistants.map(({ name }: Json) => name);
  const first = await list(who, { limit: '2', q: 'THINGS' });
  assert.deepEqual(own(first), ['Alpha again', 'Gamma']);
  const rest = await list(who, { limit: '2', q: 'things', cursor: first.nextCursor });
  assert.deepEqual([own(rest), rest.nextCursor], [['Beta'], null]);
  assert.deepEqual(own(await list(who, { q: 'gamma' })), ['Gamma']);
  assert.deepEqual(own(await list(who, { q: '%' })), []);
});

test('audits changes of shared assistants without their text, and nothing of personal ones', async () => {
  const projectId = await makeProject(member);
  const { id } = await make(owner, { name: 'Private one', instructions: 'Words of mine' });
  await change(owner, id, { instructions: 'Other words of mine' });
  await change(owner, id, { audience: 'project', projectId });
  await change(owner, id, { instructions: 'Shared words of mine', modelId: null });
  await remove(owner, id);
  const { rows } = await app.database.database.pool.query<{ action: string; details: Json }>(
    'select action, details from audit_events where target_id = $1 order by id',
    [id],
  );
  assert.deepEqual(
    rows.map(({ action, details }) => [action, details.changed ?? null, details.audience]),
    [
      ['assistant.updated', ['audience'], 'project'],
      ['assistant.updated', ['instructions'], 'project'],
      ['assistant.deleted', null, 'project'],
    ],
  );
  assert.doesNotMatch(JSON.stringify(rows), /words of mine/i);
});
