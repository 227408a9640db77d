import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { secretPlaceholder } from '@homeport/contracts/provision/manifest';
import { openDatabase } from '../../src/db/pool.ts';
import { exportInstallation } from '../../src/provision/export/export-text.ts';
import type { ManifestForm } from '../../src/provision/manifest/manifest-text.ts';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { answer, makeChat, say } from '../conversations/conversation-makers.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../database.ts';
import { model, password, provision, provisionText, sampleManifest } from './provision-makers.ts';

/** An export is a manifest of the installation: applied to an empty one it makes the same, except for secrets. */

let app: TestApp;
let empty: TestApp;
let admin: SignedIn;
let emptyAdmin: SignedIn;
before(async () => {
  [app, empty] = await Promise.all([startTestApp(), startTestApp()]);
  const root = { role: 'admin', email: 'root@example.org', name: 'Root' } as const;
  [admin, emptyAdmin] = await Promise.all([app.signIn(root), empty.signIn(root)]);
  await provision(admin, sampleManifest());
  await furnish();
});
after(() => Promise.all([app.stop(), empty.stop()]));

/** Two of one name, one of them for a second model of the same name; one for everyone; prompts with unusual texts. */
async function furnishAssistants(owner: SignedIn, providers: Json[]): Promise<void> {
  const twins = providers.flatMap(({ models }) => models);
  const whole = {
    name: 'Twin',
    description: 'no: "1e3"',
    icon: '⛵️',
    instructions: '# Ahoy\n\n- {{user_name}}',
    tier: 2,
    modelId: twins.at(-1).id,
    parameters: { stop: ['---'], temperature: 0.5 },
    starters: ['- a', 'null'],
    workspace: false,
    mcpServerIds: [],
  };
  for (const fields of [whole, { name: 'Twin', instructions: 'The second' }]) {
    assert.equal((await owner.call('POST /api/assistants', fields)).status, 201);
  }
  await admin.call('POST /api/assistants', { name: 'For all', audience: 'everyone', instructions: 'Be kind.' });
  await owner.call('POST /api/prompts', { name: 'sum-up', title: 'yes', text: 'Sum up\n\n{{what}}:\t"1e3"\n' });
  await admin.call('POST /api/prompts', { name: 'for-all', text: '- # no', audience: 'everyone' });
}

async function write(from: TestApp, form: ManifestForm = 'yaml', conversations = true) {
  const losses: string[] = [];
  let text = '';
  const take = async (piece: string): Promise<void> => {
    text += piece;
  };
  await exportInstallation(from.service.deps, { form, conversations }, take, (loss) => losses.push(loss));
  return { text, losses };
}

/** A user's records: conversations with tools and reasoning, unusual texts, two providers of one name. */
async function furnish(): Promise<void> {
  const owner = await app.signIn({ name: 'Otto: "no", 1e3', email: 'otto@example.org' });
  for (const baseUrl of ['https://a.example/v1', 'https://b.example/v1']) {
    const { body } = await owner.call('POST /api/providers', {
      name: 'Same',
      kind: baseUrl.includes('//b.') ? 'anthropic' : 'openai',
      baseUrl,
      apiKey: 'sk-of-otto',
      headers: { 'x-key': 'header-secret' },
    });
    for (const displayName of ['First', 'Second']) {
      const twin = { ...model('twin'), displayName, providerId: body.provider.id, tier: 1 };
      assert.equal((await owner.call('POST /api/models', twin)).status, 201);
    }
  }
  const { database } = app.database;
  const chatId = await makeChat(database, owner.id, '- # not: "yaml"');
  const questionId = await say(database, {
    chatId,
    parentId: null,
    text: 'no\n\n  "quoted": \'x\'\t\n---\n...\n\u0085 ends',
  });
  await answer(database, { chatId, parentId: questionId, text: '1e3' });
  const last = await answer(database, { chatId, parentId: questionId, text: 'yes' });
  const tool = {
    type: 'dynamic-tool',
    toolName: 'bash',
    toolCallId: 'c1',
    state: 'output-available',
    input: { command: 'ls', n: 1.5, deep: [null, true] },
    output: 'a\nb\n',
  };
  const parts = [{ type: 'reasoning', text: 'Hm.' }, { type: 'step-start' }, tool, { type: 'text', text: '' }];
  await database.pool.query('update messages set parts = $1 where id = $2', [JSON.stringify(parts), last]);
  await admin.call('POST /api/admin/config', { instructions: 'House rules:\n- {{unknown}} stays' });
  const about = { name: true, language: 'de-AT', timeZone: 'Europe/Vienna' };
  await owner.call('PATCH /api/me/personalization', { instructions: 'Otto: "short", no: 1e3', aboutMe: about });
  const excerpt = { id: chatId, instructions: '# only here', parameters: { stop: ['- '], seed: 3, temperature: 0.5 } };
  assert.equal((await owner.call('PATCH /api/chats', excerpt)).status, 200);
  const { providers } = (await owner.call('GET /api/providers')).body;
  const parameters = { topP: 0.9, reasoningEffort: 'high' };
  const prices = { input: 7_700_000, output: null, cachedInput: 0, cacheWrite: null };
  await owner.call('PATCH /api/models', { id: providers[0].models[0].id, parameters, prices });
  await furnishAssistants(owner, providers);
  await owner.call('POST /api/chats', { temporary: true, instructions: 'not-exported' });
  const offers = [
    { name: 'Notes: "no"', url: 'https://notes.example/mcp', headerNames: ['authorization'], clientId: 'homeport' },
    {
      name: 'Files',
      transport: 'stdio',
      command: 'npx',
      args: ['-y', '# no'],
      envNames: ['API_KEY'],
      description: '- ours',
    },
  ];
  for (const offer of offers) assert.equal((await admin.call('POST /api/admin/mcp/offers', offer)).status, 201);
  const project = (await owner.call('POST /api/projects', { name: 'P' })).body.project.id;
  await owner.call('POST /api/chats', { projectId: project, title: 'In a project' });
}

const secrets: [RegExp, string][] = [
  [/(password: ).*/g, `$1${password}`],
  [/(apiKey: ).*/g, '$1sk-filled-in'],
  [/(clientSecret: ).*/g, '$1oidc-filled-in'],
  [/(x-(?:team|key): ).*/g, '$1blue'],
];

test('exporting, applying to an empty installation and exporting again returns the same text', async () => {
  const { text, losses } = await write(app);
  assert.doesNotMatch(text, /secret-1|sk-|blue|header-secret|battery|not-exported/);
  const settings = ['House rules', 'Otto: "short"', 'Europe/Vienna', '# only here', 'reasoningEffort', '7700000'];
  for (const excerpt of [...settings, 'Be kind.', 'sum-up', 'notes.example']) {
    assert.ok(text.includes(excerpt) || text.includes(excerpt.replaceAll('"', '\\"')), excerpt);
  }
  assert.deepEqual(losses, [
    '1 conversations have other branches: only the one that is shown was exported',
    '1 conversations are in projects, which a manifest cannot describe',
  ]);
  const filled = secrets.reduce((filling, [pattern, value]) => filling.replace(pattern, value), text);
  assert.ok(!filled.includes(secretPlaceholder));
  const applied = await provisionText(emptyAdmin, filled, 'application/yaml');
  assert.equal(applied.status, 200, JSON.stringify(applied.body));
  assert.deepEqual(applied.body.warnings, []);
  const again = await write(empty);
  assert.equal(again.text, text);
  assert.deepEqual(again.losses, []);
});

test('the JSON export has the same content, and applying it to its source changes nothing', async () => {
  const { text } = await write(app, 'json');
  const given: Json = JSON.parse(text);
  assert.deepEqual([given.version, given.users.length, given.conversations.length], [1, 4, 3]);
  const otto = given.users.find((user: Json) => user.email === 'otto@example.org');
  // Providers of one name and models of one id are distinguished by their order.
  const named = (provider: Json) => [
    provider.kind,
    provider.baseUrl,
    ...provider.models.map((twin: Json) => twin.displayName),
  ];
  assert.deepEqual(otto.providers.map(named), [
    ['openai', 'https://a.example/v1', 'First', 'Second'],
    ['anthropic', 'https://b.example/v1', 'First', 'Second'],
  ]);
  const answer = await provisionText(admin, JSON.stringify(given), 'application/json');
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  assert.deepEqual([answer.body.changes, answer.body.warnings], [[], []]);
  const { providers, models } = answer.body.applied;
  assert.deepEqual([providers.created, providers.updated, models.created, models.updated], [0, 0, 0, 0]);
  otto.providers[1].models[1].displayName = 'Second of the second';
  const changed = await provisionText(admin, JSON.stringify(given), 'application/json');
  assert.equal(changed.body.changes.length, 1);
  assert.match(changed.body.changes[0].path, /providers\.1\.models\.1$/);
});

test('an export reads each conversation a fixed number of times, however many there are', async () => {
  const crowded = await createTestDatabase();
  try {
    // 200,000 take under a minute: EXPORT_CONVERSATIONS.
    const count = Number(process.env.EXPORT_CONVERSATIONS ?? 5_000);
    const { pool } = crowded.database;
    await pool.query(`insert into users (id, name, email, role) values ('u', 'U', 'u@example.org', 'user')`);
    for (let made = 0; made < count; made += 5_000) {
      await pool.query(
        `insert into chats (id, owner_id, title, created_at, updated_at)
          select 'c' || n, 'u', 'Title', now() - n * interval '1 second', now() from generate_series($1::int, $2) n`,
        [made + 1, Math.min(count, made + 5_000)],
      );
    }
    await pool.query('analyze');
    const readBefore = await rowsRead(crowded, 0);
    const own = openDatabase({ connection: crowded.url, max: 1, log: silentLog });
    let pieces = 0;
    const take = async (): Promise<void> => {
      pieces += 1;
    };
    const deps = { ...app.service.deps, db: own };
    await exportInstallation(deps, { form: 'json', conversations: true }, take, () => assert.fail());
    await own.close();
    assert.ok(pieces > count);
    const read = (await rowsRead(crowded, readBefore + count)) - readBefore;
    assert.ok(read <= 4 * count, `${read} rows of ${count} conversations were read`);
  } finally {
    await crowded.drop();
  }
});

/**
 * Rows of the table chats that statements have read, once there are as many as expected: the counts are updated when a
 * connection ends.
 */
async function rowsRead({ database }: TestDatabase, expected: number): Promise<number> {
  const deadline = AbortSignal.timeout(300_000);
  for (;;) {
    const { rows } = await database.pool.query<{ read: number }>(
      `select seq_tup_read + coalesce(idx_tup_fetch, 0) as read from pg_stat_user_tables where relname = 'chats'`,
    );
    const read = rows[0]?.read ?? 0;
    if (read >= expected) return read;
    deadline.throwIfAborted();
  }
}

test('a manifest contains neither deleted accounts nor the data kept from them', async () => {
  const owner = await app.signIn({ email: 'left@example.org', role: 'admin' });
  const chatId = await makeChat(app.database.database, owner.id, 'Left behind');
  await say(app.database.database, { chatId, parentId: null, text: 'Left behind' });
  await owner.call('POST /api/assistants', { name: 'Left behind' });
  await owner.call('POST /api/prompts', { name: 'left-behind', text: 'Left behind' });
  await owner.call('POST /api/providers', { name: 'Left behind', baseUrl: 'https://left.example/v1' });
  const named = { name: 'Named', baseUrl: 'https://named.example/v1', sharedWith: { userIds: [owner.id] } };
  const { body: shared } = await admin.call('POST /api/providers', named);
  const before = await write(app);
  assert.match(before.text, /left@example.org/);
  const gone = await admin.call('DELETE /api/admin/users', undefined, { query: { id: owner.id, data: 'keep' } });
  assert.equal(gone.status, 200, gone.text);
  const { text, losses } = await write(app);
  assert.doesNotMatch(text, /left@example|left-behind|Left behind|deleted-|left\.example/);
  assert.ok(losses.includes('1 conversations belong to deleted accounts and were left out'), losses.join());
  assert.equal(losses.length, before.losses.length + 1);
  await admin.call('DELETE /api/providers', undefined, { query: { id: shared.provider.id } });
});

test('exports without conversations on request', async () => {
  const { text } = await write(app, 'json', false);
  assert.equal(JSON.parse(text).conversations, undefined);
});

test('the managed edition’s catalogue is at the root', async () => {
  const managed = await startTestApp({ config: { edition: 'managed' } });
  try {
    const root = await managed.signIn({ role: 'admin' });
    const providers = [{ name: 'Shared', baseUrl: 'https://a.example/v1', models: [model('m', { isDefault: true })] }];
    await provision(root, { version: 1, providers });
    const { text } = await write(managed, 'json');
    const given: Json = JSON.parse(text);
    assert.deepEqual(given.providers, [
      { ...providers[0], kind: 'openai', enabled: true, models: [{ ...model('m'), enabled: true, isDefault: true }] },
    ]);
    assert.equal(given.users[0].providerSettingsEnabled, undefined);
    assert.deepEqual((await provision(root, given)).body.changes, []);
  } finally {
    await managed.stop();
  }
});
