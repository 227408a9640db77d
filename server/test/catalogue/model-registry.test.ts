import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';

/** Facts about a model that a user adds, with their sources, and the registry that an administrator uploads. */

let app: TestApp;
let user: SignedIn;
let admin: SignedIn;
before(async () => {
  app = await startTestApp();
  [user, admin] = await Promise.all([app.signIn(), app.signIn({ role: 'admin' })]);
});
after(() => app.stop());

const sizes = { contextWindow: 1000, maxOutputTokens: 100, tier: 1 };
async function addProvider(baseUrl: string): Promise<string> {
  return (await user.call('POST /api/providers', { name: 'P', baseUrl })).body.provider.id;
}
async function addModel(providerId: string, providerModelId: string, extra: object = {}): Promise<Json> {
  const body = { providerId, providerModelId, displayName: providerModelId, ...sizes, ...extra };
  const added = await user.call('POST /api/models', body);
  assert.equal(added.status, 201, added.text);
  return added.body.model;
}

test("takes abilities and prices from the registry unless the server or the user sets them, and keeps the user's own", async () => {
  const providerId = await addProvider('https://api.openai.com/v1');
  const known = await addModel(providerId, 'gpt-5-nano');
  assert.deepEqual(known.abilities.reasoning, ['minimal', 'low', 'medium', 'high']);
  assert.equal(known.abilities.temperature, false);
  assert.equal(known.prices.input, 50_000);
  assert.deepEqual(known.sources, {
    displayName: 'person',
    contextWindow: 'person',
    maxOutputTokens: 'person',
    abilities: 'registry',
    prices: 'registry',
  });
  const own = { images: false, documents: false, tools: false, temperature: true, reasoning: false };
  const changed = await user.call('PATCH /api/models', { id: known.id, abilities: own, prices: null });
  assert.deepEqual(changed.body.model.abilities, own);
  assert.equal(changed.body.model.prices, null);
  const other = await user.call('PATCH /api/models', { id: known.id, providerModelId: 'gpt-4o' });
  assert.deepEqual(other.body.model.abilities, own, 'a person’s own stays with another id');
  const unknown = await addModel(providerId, 'nobody-knows', { sources: { contextWindow: 'provider' } });
  assert.deepEqual([unknown.prices, unknown.sources.contextWindow], [null, 'provider']);
  assert.equal(unknown.abilities.tools, true);
});

test("shows the registry's facts for a model stored by an earlier release", async () => {
  const providerId = await addProvider('https://api.anthropic.com');
  const { id } = await addModel(providerId, 'claude-sonnet-4-5');
  await app.database.database.pool.query(
    `update models set abilities = null, prices = null, sources = '{}' where id = $1`,
    [id],
  );
  const { providers } = (await user.call('GET /api/providers')).body;
  const model = providers.flatMap((provider: Json) => provider.models).find((each: Json) => each.id === id);
  assert.deepEqual([model.abilities.images, model.sources.abilities], [true, 'registry']);
});

test('an administrator uploads a newer registry, and returns to the built-in one', async () => {
  const shipped = (await admin.call('GET /api/admin/model-registry')).body;
  assert.ok(shipped.models > 900);
  assert.equal(shipped.uploadedAt, null);
  const entry = {
    name: 'Brand new',
    context: 5_000_000,
    output: 1_000,
    reasoning: false,
    tools: false,
    cost: { input: 2 },
  };
  const registry = { source: 'a test of today', providers: { openai: { models: { 'brand-new': entry } } } };
  const uploaded = await admin.call('PUT /api/admin/model-registry', registry);
  assert.equal(uploaded.status, 200, uploaded.text);
  assert.deepEqual([uploaded.body.source, uploaded.body.models], ['a test of today', 1]);
  const providerId = await addProvider('https://api.openai.com/v1');
  const made = await addModel(providerId, 'brand-new');
  assert.deepEqual([made.abilities.tools, made.prices.input], [false, 2_000_000]);
  for (const wrong of [{}, [], { source: 'x', providers: { p: { models: { m: { name: 1 } } } } }]) {
    const refused = await admin.call('PUT /api/admin/model-registry', wrong);
    assert.equal(refused.body.error.code, 'invalid_request');
  }
  assert.equal((await user.call('PUT /api/admin/model-registry', registry)).status, 403);
  assert.deepEqual((await admin.call('DELETE /api/admin/model-registry')).body, shipped);
});

test('answers concurrent uploads, removals and reads of registries, and the last one counts', async () => {
  const registry = (source: string) => ({ source, providers: {} });
  for (let round = 0; round < 5; round += 1) {
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) => [
        admin.call('PUT /api/admin/model-registry', registry(`at once ${index}`)),
        admin.call('GET /api/admin/model-registry'),
        ...(index % 3 === 0 ? [admin.call('DELETE /api/admin/model-registry')] : []),
      ]).flat(),
    );
    for (const { status, text } of answers) assert.equal(status, 200, text);
  }
  const last = await admin.call('PUT /api/admin/model-registry', registry('the last'));
  assert.equal(last.body.source, 'the last');
  assert.equal((await admin.call('GET /api/admin/model-registry')).body.source, 'the last');
  assert.equal((await admin.call('DELETE /api/admin/model-registry')).body.uploadedAt, null);
});

test('rejects invalid facts with the name of the field', async () => {
  const providerId = await addProvider('https://odd.example/v1');
  const body = { providerId, providerModelId: 'm', displayName: 'M', ...sizes };
  const cases: [object, string][] = [
    [{ prices: { input: -1, output: 0, cachedInput: 0, cacheWrite: 0 } }, 'prices.input'],
    [{ sources: { contextWindow: 'guess' } }, 'sources.contextWindow'],
    [{ abilities: { images: true } }, 'abilities.documents'],
  ];
  for (const [facts, path] of cases) {
    const refused = await user.call('POST /api/models', { ...body, ...facts });
    assert.equal(refused.body.error.details[0].path, path);
  }
});
