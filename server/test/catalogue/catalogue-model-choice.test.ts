import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { resolveCredentials } from '../../src/catalogue/credentials.ts';
import { lowestTierEnabledModel, resolveModel } from '../../src/catalogue/model-choice.ts';
import { assertVisibleModel, updateModel } from '../../src/catalogue/models.ts';
import { updateProvider } from '../../src/catalogue/providers.ts';
import { replaceTiers } from '../../src/catalogue/tiers.ts';
import { inTransaction } from '../../src/db/pool.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { type CatalogueTestDeps, catalogueDeps, makeModel, makeOwner, makeProvider } from './catalogue-makers.ts';

let database: TestDatabase;
let deps: CatalogueTestDeps;
before(async () => {
  database = await createTestDatabase();
  deps = catalogueDeps(database.database);
});
after(() => database.drop());

async function catalogue() {
  const owner = makeOwner();
  const provider = await makeProvider(deps, owner, { apiKey: 'sk-1', headers: { 'x-a': 'b' } });
  const first = await makeModel(deps, owner, provider, { providerModelId: 'first', tier: 3 });
  const second = await makeModel(deps, owner, provider, { providerModelId: 'second', tier: 3 });
  return { owner, provider, first, second };
}

test('resolves the given model, else the default, with everything that a call needs', async () => {
  const { owner, provider, first, second } = await catalogue();
  const byDefault = await resolveModel(deps, owner, {});
  assert.deepEqual(byDefault.model, {
    id: first,
    providerModelId: 'first',
    displayName: 'Model',
    contextWindow: 8000,
    maxOutputTokens: 1000,
    parameters: {},
    prices: null,
    pricesEstimated: false,
    lessons: [],
    abilities: {},
    hasStandIns: false,
  });
  assert.deepEqual([byDefault.provider.id, byDefault.provider.base_url], [provider, 'https://api.example.org/v1']);
  assert.deepEqual(resolveCredentials(deps, byDefault.provider), { apiKey: 'sk-1', headers: { 'x-a': 'b' } });
  assert.equal((await resolveModel(deps, owner, { modelId: second })).model.id, second);
  assert.equal((await resolveModel(deps, owner, { modelId: null })).model.id, first);
});

test('treats a foreign model as missing', async () => {
  const { first } = await catalogue();
  const owner = makeOwner();
  const [foreign, missing] = await Promise.allSettled([
    resolveModel(deps, owner, { modelId: first }),
    resolveModel(deps, owner, { modelId: makeOwner() }),
  ]);
  assert.ok(foreign.status === 'rejected' && missing.status === 'rejected');
  assert.equal(foreign.reason.code, 'not_found');
  assert.deepEqual({ ...foreign.reason }, { ...missing.reason });
  assert.equal(foreign.reason.message, missing.reason.message);
  await assert.rejects(assertVisibleModel(deps, owner, first), { code: 'not_found' });
});

test('refuses a disabled model, a disabled provider and an empty catalogue with advice', async () => {
  const { owner, provider, first } = await catalogue();
  await updateModel(deps, owner, { id: first, enabled: false });
  await assert.rejects(resolveModel(deps, owner, { modelId: first }), {
    code: 'model_unavailable',
    message: /enable it/,
  });
  await updateProvider(deps, owner, { id: provider, enabled: false });
  await assert.rejects(resolveModel(deps, owner, {}), {
    code: 'model_unavailable',
    message: /Add a provider and a model/,
  });
  await assert.rejects(resolveModel(deps, makeOwner(), {}), { code: 'model_unavailable' });
});

test('small tasks use the lowest tier in display order, then the oldest model', async () => {
  const { owner, provider, first } = await catalogue();
  const lowest = async () => (await lowestTierEnabledModel(deps, owner))?.model.id;
  assert.equal(await lowest(), first);
  const low = await makeModel(deps, owner, provider, { tier: 1 });
  await makeModel(deps, owner, provider, { tier: 1 });
  assert.equal(await lowest(), low);
  const tiers = [3, 1].map((value) => ({ value, label: `Tier ${value}` }));
  await replaceTiers(deps, owner, tiers);
  assert.equal(await lowest(), first);
  await updateProvider(deps, owner, { id: provider, enabled: false });
  assert.equal(await lowest(), undefined);
});

test('an asserted model stays until the end of the transaction', async () => {
  const { owner, first } = await catalogue();
  await inTransaction(database.database, async (transaction) => {
    await assertVisibleModel({ db: { kysely: transaction } }, owner, first);
    const asIfToDelete = 'select 1 from models where id = $1 for update nowait';
    await assert.rejects(database.database.pool.query(asIfToDelete, [first]), { code: '55P03' });
  });
});
