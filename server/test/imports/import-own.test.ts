import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { limits } from '@homeport/contracts/limits';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { put } from '../artifacts/artifact-makers.ts';
import { skillText } from '../assistants/skill-makers.ts';
import { bring, settled, zipOf } from './import-makers.ts';

/**
 * Assistants, prompts and skills of Homeport's own export: imported as private to their new owner, and removed by an
 * undo.
 */

let app: TestApp;
let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'import-own-'));
  app = await startTestApp({ config: { dataDir: folder } });
});
after(async () => {
  await app.stop();
  await rm(folder, { recursive: true, force: true });
});

const exported = { 'homeport.json': { format: 'homeport-export', version: 1, user: {} } };

async function make(who: SignedIn): Promise<void> {
  const { body: project } = await who.call('POST /api/projects', { name: 'Boats' });
  const shared = { audience: 'project', projectId: project.project.id };
  await who.call('POST /api/prompts', { name: 'brief', title: 'Be brief', text: 'In one sentence: {{input}}' });
  await who.call('POST /api/prompts', { name: 'ours', text: 'Ours', ...shared });
  const { body: server } = await who.call('POST /api/mcp', { name: 'Charts', url: 'https://charts.example.org/mcp' });
  const kept = { icon: '⛵', instructions: 'You sail.', parameters: { temperature: 0.5 }, starters: ['Where to?'] };
  const own = { description: 'Knows boats', tier: 2, mcpServerIds: [server.server.id], workspace: false };
  const { status, text, body } = await who.call('POST /api/assistants', { name: 'Skipper', ...kept, ...own });
  assert.equal(status, 201, text);
  const scope = { assistantId: body.assistant.id };
  await put(who, scope, 'tides/harbors.txt', 'High water at noon.');
  await put(who, scope, 'law.txt', 'Boats have lights.');
  const form = new FormData();
  const skill = await zipOf({ 'tides/SKILL.md': skillText('tides'), 'tides/data/depth.csv': 'a,b' });
  form.set('file', new Blob([new Uint8Array(skill)]), 'tides.zip');
  const response = await who.fetch('/api/skills', { method: 'POST', body: form });
  assert.equal(response.status, 201);
}

async function exportOf(who: SignedIn): Promise<Buffer> {
  return Buffer.from(await (await who.fetch('/api/me/export')).arrayBuffer());
}

async function everythingOf(who: SignedIn) {
  const [prompts, assistants, skills] = await Promise.all(
    ['prompts', 'assistants', 'skills'].map(async (kind) => (await who.call(`GET /api/${kind}`)).body[kind]),
  );
  return {
    prompts: prompts.map(({ name, title, text }: Json) => ({ name, title, text })).sort(byName),
    assistants: assistants
      .map(({ name, description, icon, instructions, parameters, starters, workspace, tier }: Json) => {
        return { name, description, icon, instructions, parameters, starters, workspace, tier };
      })
      .sort(byName),
    skills: skills.map(({ name, description, fingerprint, files }: Json) => ({
      name,
      description,
      fingerprint,
      files,
    })),
  };
}
const byName = (one: Json, other: Json): number => (one.name < other.name ? -1 : 1);

/** Paths and texts of the knowledge files of the only assistant. */
async function knowledgeOf(who: SignedIn): Promise<[string, string][]> {
  const [assistant] = (await who.call('GET /api/assistants')).body.assistants;
  const query = { assistantId: assistant.id };
  const { artifacts } = (await who.call('GET /api/artifacts', undefined, { query })).body;
  return Promise.all(
    artifacts.map(async ({ id, path }: Json) => {
      const file = await who.fetch(`/api/artifacts/download?assistantId=${assistant.id}&id=${id}`);
      return [path, await file.text()];
    }),
  );
}

async function reasonsOf(who: SignedIn, id: string): Promise<Record<string, string>> {
  const { body } = await who.call('GET /api/imports', undefined, { query: { id, limit: '200' } });
  return Object.fromEntries(body.entries.map(({ title, outcome, reason }: Json) => [title, `${outcome}: ${reason}`]));
}

test("another user's import of an export adds everything once, and nothing the second time", async () => {
  const [first, second] = [await app.signIn(), await app.signIn()];
  await make(first);
  const archive = await exportOf(first);
  const { body: tried } = await second.call('GET /api/imports', undefined, {
    query: { id: (await bring(second, archive, '?dryRun=1')).import.id },
  });
  const { assistants, prompts, skills, projects } = tried.import.counts;
  assert.deepEqual({ assistants, prompts, skills, projects }, { assistants: 1, prompts: 2, skills: 1, projects: 1 });
  assert.deepEqual((await everythingOf(second)).prompts, [], 'a trial run changes nothing');

  await second.call('POST /api/imports/start', { id: tried.import.id });
  const { import: done } = await settled(second, tried.import.id);
  assert.equal(done.state, 'done');
  assert.deepEqual(await everythingOf(second), await everythingOf(first));
  assert.deepEqual(await knowledgeOf(second), [
    ['law.txt', 'Boats have lights.'],
    ['tides/harbors.txt', 'High water at noon.'],
  ]);
  const reasons = await reasonsOf(second, done.id);
  assert.match(reasons.ours ?? '', /^new: It was shared with others; here it is yours alone/);
  assert.match(reasons.Skipper ?? '', /^new: You have no MCP server named Charts/);
  const { body: list } = await second.call('GET /api/prompts');
  assert.deepEqual(new Set(list.prompts.map(({ audience }: Json) => audience)), new Set(['me']));

  await bring(second, archive);
  assert.deepEqual(await everythingOf(second), await everythingOf(first), 'a second time');
  await bring(first, archive);
  assert.equal((await everythingOf(first)).assistants.length, 1, 'what is still here is the same');
});

test('an imported skill is untrusted until its owner reviews it, and servers are matched by name', async () => {
  const [first, second] = [await app.signIn(), await app.signIn()];
  await make(first);
  const { body: server } = await second.call('POST /api/mcp', { name: 'Charts', url: 'https://other.example.org/mcp' });
  await bring(second, await exportOf(first));
  const [skill] = (await second.call('GET /api/skills')).body.skills;
  assert.equal(skill.trust, 'new');
  const [assistant] = (await second.call('GET /api/assistants')).body.assistants;
  assert.deepEqual(assistant.mcpServerIds, [server.server.id]);
});

test('undoing an import removes its records, except those changed here', async () => {
  const [first, second] = [await app.signIn(), await app.signIn()];
  await make(first);
  const { import: made } = await bring(second, await exportOf(first));
  const { prompts } = (await second.call('GET /api/prompts')).body;
  const { id } = prompts.find(({ name }: Json) => name === 'brief');
  assert.equal((await second.call('PATCH /api/prompts', { id, text: 'Mine now' })).status, 200);
  const undone = await second.call('DELETE /api/imports', undefined, { query: { id: made.id } });
  assert.equal(undone.status, 200);
  const { import: after } = await settled(second, made.id);
  assert.equal(after.state, 'undone');
  assert.match(
    JSON.stringify(after.problems),
    /changed here or deleted before: 1 of the assistants, prompts and skills/,
  );
  const left = await everythingOf(second);
  assert.deepEqual(left, {
    prompts: [{ name: 'brief', title: 'Be brief', text: 'Mine now' }],
    assistants: [],
    skills: [],
  });
});

test('skips damaged, taken and excess entries only, with the reason', async () => {
  const who = await app.signIn();
  await who.call('POST /api/prompts', { name: 'mine', text: 'Mine' });
  const prompts = [
    { name: 'mine', title: 'Other', text: 'Not mine' },
    { name: 'Bad Name', title: 'x', text: 'x' },
    { name: 'nul', title: 'nul', text: 'a\u0000b' },
    { name: 'good', title: 'Good', text: 'Good' },
    'none',
    { name: 'huge', title: 'Huge', text: 'x'.repeat(300_000) },
    { name: 'many', title: 'Many', text: 'x', starters: Array(100_000).fill(1) },
  ];
  const assistants = [
    { id: 'one', name: 'One', icon: 'data:image/png;base64,AAAA' },
    { id: 'two', name: 'Two', description: '', icon: null, instructions: null, parameters: {}, starters: [] },
    { id: 'far', name: 'Far', description: '', icon: null, instructions: null, parameters: {}, starters: [] },
  ].map((one, place) => ({ ...one, workspace: true, providerModelId: null, tier: place === 2 ? 99 : null }));
  const archive = await zipOf({
    ...exported,
    'prompts.json': { prompts },
    'assistants.json': { assistants },
    'skills/me/good/SKILL.md': skillText('good-skill'),
    'skills/me/upwards/SKILL.md': skillText('upwards'),
    'skills/me/upwards/a:b': 'x',
    'skills/me/headless/README.md': 'no skill',
    ...Object.fromEntries(Array.from({ length: 3_000 }, (_, n) => [`skills/me/many-files/${n}`, ''])),
    'skills/me/large/SKILL.md': skillText('large'),
    'skills/me/large/data': Buffer.alloc(limits.skillBytes),
  });
  const { import: done } = await bring(who, archive);
  assert.equal(done.state, 'done', JSON.stringify(done.problems));
  const reasons = await reasonsOf(who, done.id);
  assert.equal(Object.keys(reasons).length, 15, JSON.stringify(reasons));
  assert.equal(reasons.Other, 'same: null');
  assert.match(reasons.x ?? '', /^left_out: its content is damaged/);
  assert.match(reasons.nul ?? '', /^left_out: /);
  assert.match(reasons.Huge ?? '', /^left_out: its content is damaged/);
  assert.match(reasons.Many ?? '', /^left_out: its content is damaged/);
  assert.match(reasons['many-files'] ?? '', /^left_out: .*200 files/);
  assert.match(reasons.One ?? '', /^left_out: its content is damaged/);
  assert.match(reasons.Far ?? '', /^new: .*Its tier does not exist here/);
  assert.match(reasons.upwards ?? '', /^left_out: .*file name cannot be used/i);
  assert.match(reasons.headless ?? '', /^left_out: There is no SKILL.md/);
  assert.match(reasons.large ?? '', /^left_out: .*4 MiB/);
  const { prompts: kept, assistants: made, skills } = await everythingOf(who);
  assert.deepEqual(
    kept.map(({ name, text }: Json) => [name, text]),
    [
      ['good', 'Good'],
      ['mine', 'Mine'],
    ],
  );
  assert.deepEqual(
    made.map(({ name }: Json) => name),
    ['Far', 'Two'],
  );
  assert.deepEqual(
    skills.map(({ name }: Json) => name),
    ['good-skill'],
  );
});

test('accepts an export without any conversation', async () => {
  const who = await app.signIn();
  assert.equal((await bring(who, await zipOf(exported))).import.state, 'done');
});
