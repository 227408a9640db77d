import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { limits } from '@homeport/contracts/limits';
import { exportInstallation } from '../../src/provision/export/export-text.ts';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { addModels } from '../chat/chat-harness.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';
import { provision } from './provision-makers.ts';

/** Assistants and saved prompts in manifests and exports (docs/manifest.md). */

let app: TestApp;
let provider: FakeProvider;
let admin: SignedIn;
let ada: SignedIn;
before(async () => {
  provider = await startFakeProvider();
  app = await startTestApp();
  admin = await app.signIn({ role: 'admin', email: 'root@example.org' });
  ada = await app.signIn({ email: 'ada@example.org' });
  await addModels(ada, provider, ['echo']);
});
after(async () => {
  await app.stop();
  await provider.close();
});

const ownerEmail = 'ada@example.org';
const apply = async (lists: Json): Promise<Json> => {
  const { status, body, text } = await provision(admin, { version: 1, ...lists });
  assert.equal(status, 200, text);
  return body;
};
const assistants = async (who: SignedIn): Promise<Json[]> => (await who.call('GET /api/assistants')).body.assistants;
const prompts = async (who: SignedIn): Promise<Json[]> => (await who.call('GET /api/prompts')).body.prompts;
const versionsOf = async (id: string): Promise<Json[]> =>
  (await ada.call('GET /api/assistants/versions', undefined, { query: { id } })).body.versions;

async function exported(): Promise<{ manifest: Json; losses: string[] }> {
  const losses: string[] = [];
  let text = '';
  const take = async (piece: string): Promise<void> => {
    text += piece;
  };
  await exportInstallation(app.service.deps, { form: 'json', conversations: false }, take, (loss) => losses.push(loss));
  return { manifest: JSON.parse(text), losses };
}

test('a manifest makes assistants and prompts, and applying it again makes a version only for a difference', async () => {
  const entry = {
    ownerEmail,
    name: 'Captain',
    instructions: 'Ahoy.',
    workspace: false,
    mcpServers: 'none',
    model: { provider: 'Fake', providerModelId: 'echo' },
  };
  const lists = { assistants: [entry], prompts: [{ ownerEmail, name: 'sum-up', text: 'Sum up {{what}}' }] };
  const first = await apply(lists);
  const one = { created: 1, updated: 0, unchanged: 0 };
  assert.deepEqual([first.applied.assistants, first.applied.prompts, first.warnings], [one, one, []]);
  const [made] = await assistants(ada);
  assert.deepEqual(
    [made.instructions, made.mcpServerIds, made.workspace, made.missing.model],
    ['Ahoy.', [], false, false],
  );
  assert.ok(made.modelId !== null);
  assert.deepEqual([(await prompts(ada))[0].title, (await assistants(admin)).length], ['sum-up', 0]);

  const second = await apply(lists);
  assert.deepEqual([second.applied.assistants, second.changes], [{ created: 0, updated: 0, unchanged: 1 }, []]);
  const changed = await apply({
    assistants: [{ ...entry, instructions: 'Secret words.', audience: 'everyone' }],
    prompts: [{ ownerEmail, name: 'sum-up', text: 'Secret text' }],
  });
  assert.deepEqual(
    changed.changes.map(({ path, summary }: Json) => [path, summary]),
    [
      ['prompts.0', 'prompt "sum-up" of ada@example.org: text'],
      ['assistants.0', 'assistant "Captain" of ada@example.org: instructions, audience'],
    ],
  );
  assert.deepEqual(
    (await assistants(admin)).map(({ id, version, audience }) => [id, version, audience]),
    [[made.id, 2, 'everyone']],
  );
  const { rows } = await app.database.database.pool.query<{ author_id: string }>(
    'select author_id from assistant_versions where assistant_id = $1 order by version',
    [made.id],
  );
  assert.deepEqual(rows, [{ author_id: admin.id }, { author_id: admin.id }]);
  await apply({ assistants: [{ ownerEmail, name: 'Captain', audience: 'me' }] });
});

test("the export names records that a manifest can't express, and applying it keeps them", async () => {
  const { body } = await ada.call('POST /api/projects', { name: 'Boats' });
  const sharing = { audience: 'project', projectId: body.project.id };
  const server = await ada.call('POST /api/mcp', { name: 'Files', url: provider.url });
  const fields = { name: 'Shared', mcpServerIds: [server.body.server.id], ...sharing };
  const { id } = (await ada.call('POST /api/assistants', fields)).body.assistant;
  await ada.call('POST /api/prompts', { name: 'shared', text: 'x', ...sharing });
  const before = [await assistants(ada), await prompts(ada)];
  const { manifest, losses } = await exported();
  assert.deepEqual(losses, [
    '1 assistants are shared with projects, which a manifest cannot describe',
    '1 assistants name MCP servers, which a manifest cannot describe',
    '1 prompts are shared with projects, which a manifest cannot describe',
  ]);
  const { assistants: listed, prompts: saved } = manifest;
  assert.deepEqual((await apply({ assistants: listed, prompts: saved })).changes, []);
  assert.deepEqual([await assistants(ada), await prompts(ada)], before);
  assert.equal((await versionsOf(id)).length, 1);
});

test('warns about a model that its owner does not have, and readers with one use theirs', async () => {
  const report = await apply({
    assistants: [
      {
        ownerEmail: 'root@example.org',
        name: 'For Ada',
        audience: 'everyone',
        model: { provider: 'None', providerModelId: 'echo' },
      },
    ],
  });
  assert.deepEqual(report.warnings, [
    'assistants.0.model: Its owner has no such model; readers who have one will use theirs',
  ]);
  const named = async (who: SignedIn) => (await assistants(who)).find(({ name }) => name === 'For Ada');
  assert.deepEqual([(await named(admin))?.missing.model, (await named(ada))?.missing.model], [true, false]);
});

test('rejects an invalid manifest with the failing path and applies nothing', async () => {
  const icon = `data:image/png;base64,${Buffer.from('no picture').toString('base64')}`;
  const entry = { ownerEmail, name: 'Wrong' };
  const prompt = { ownerEmail, name: 'wrong', text: 'x' };
  const faults: [Json, string[]][] = [
    [
      {
        assistants: [
          { ...entry, audience: 'project' },
          { ...entry, mcpServerIds: [] },
          { ...entry, model: { providerModelId: 'x', id: 'y' } },
        ],
        prompts: [{ ...prompt, name: 'A' }],
      },
      ['assistants.0.audience', 'assistants.1.mcpServerIds', 'assistants.2.model.id', 'prompts.0.name'],
    ],
    [{ assistants: [entry], prompts: [prompt, prompt] }, ['prompts.1.name']],
    [
      { assistants: [entry, { ...entry, ownerEmail: 'nobody@example.org' }], prompts: [prompt] },
      ['assistants.1.ownerEmail'],
    ],
    [{ assistants: [{ ...entry, icon }], prompts: [prompt] }, ['assistants.0.icon']],
    [{ assistants: [entry], prompts: [{ ...prompt, ownerEmail: 'nobody@example.org' }] }, ['prompts.0.ownerEmail']],
  ];
  for (const [lists, paths] of faults) {
    const { status, body } = await provision(admin, { version: 1, ...lists });
    assert.equal(status, 400);
    assert.deepEqual(
      body.error.details.map(({ path }: Json) => path),
      paths,
    );
  }
  const tooMany = { assistants: Array(limits.assistantsPerOwner + 1).fill(entry) };
  const refused = await provision(admin, { version: 1, ...tooMany });
  assert.deepEqual([refused.status, refused.body.error.details[0].path], [400, 'assistants.0']);
  const names = [...(await assistants(ada)), ...(await prompts(ada))].map(({ name }) => name);
  assert.deepEqual(
    names.filter((name) => /^wrong$/i.test(name)),
    [],
  );
});
