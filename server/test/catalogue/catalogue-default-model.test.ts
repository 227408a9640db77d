import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import { deleteModel, updateModel } from '../../src/catalogue/models.ts';
import { deleteProvider, listProviders, updateProvider } from '../../src/catalogue/providers.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import {
  type CatalogueTestDeps,
  catalogueDeps,
  makeModel,
  makeOwner,
  makeProvider,
  storedDefault,
} from './catalogue-makers.ts';

let database: TestDatabase;
let deps: CatalogueTestDeps;
before(async () => {
  database = await createTestDatabase();
  deps = catalogueDeps(database.database);
});
after(() => database.drop());

const isDefault = (owner: string, expected: string | null) =>
  storedDefault(database.database, owner).then((found) => assert.equal(found, expected));
const invalid = (path: string) => (error: unknown) => {
  assert.ok(error instanceof ApiError);
  assert.equal(error.code, 'invalid_request');
  assert.ok(Array.isArray(error.details) && error.details[0].path === path, JSON.stringify(error.details));
  return true;
};

async function twoProviders() {
  const owner = makeOwner();
  const [p1, p2] = [await makeProvider(deps, owner), await makeProvider(deps, owner)];
  const a = await makeModel(deps, owner, p1);
  const b = await makeModel(deps, owner, p2);
  const c = await makeModel(deps, owner, p1);
  return { owner, p1, p2, a, b, c };
}

test('the first enabled model becomes the default, a disabled one does not', async () => {
  const owner = makeOwner();
  const provider = await makeProvider(deps, owner);
  await makeModel(deps, owner, provider, { enabled: false });
  await isDefault(owner, null);
  const first = await makeModel(deps, owner, provider, { isDefault: false });
  await isDefault(owner, first);
  await makeModel(deps, owner, provider);
  await isDefault(owner, first);
});

test('a new model can be made the default', async () => {
  const { owner, p2 } = await twoProviders();
  const asking = await makeModel(deps, owner, p2, { isDefault: true });
  await isDefault(owner, asking);
  await assert.rejects(makeModel(deps, owner, p2, { isDefault: true, enabled: false }), invalid('isDefault'));
  await isDefault(owner, asking);
});

test('making another model the default replaces the previous one', async () => {
  const { owner, a, b } = await twoProviders();
  await isDefault(owner, a);
  const answer = await updateModel(deps, owner, { id: b, isDefault: true });
  assert.equal(answer.model.isDefault, true);
  assert.equal(answer.defaultModelId, b);
  await isDefault(owner, b);
});

test('deleting or disabling the default promotes the oldest remaining model', async () => {
  const { owner, a, b, c } = await twoProviders();
  await updateModel(deps, owner, { id: c, isDefault: true });
  assert.equal(await deleteModel(deps, owner, c), a);
  const answer = await updateModel(deps, owner, { id: a, enabled: false });
  assert.deepEqual([answer.model.enabled, answer.model.isDefault, answer.defaultModelId], [false, false, b]);
  assert.equal(await deleteModel(deps, owner, b), null);
  await isDefault(owner, null);
  assert.equal((await updateModel(deps, owner, { id: a, enabled: true })).defaultModelId, a);
});

test('deleting or disabling the provider of the default promotes from another provider', async () => {
  const { owner, p1, p2, a, b } = await twoProviders();
  const disabled = await updateProvider(deps, owner, { id: p1, enabled: false });
  assert.equal(disabled.defaultModelId, b);
  assert.deepEqual(
    disabled.provider.models.map((model) => [model.enabled, model.isDefault]),
    [
      [true, false],
      [true, false],
    ],
  );
  assert.equal((await updateProvider(deps, owner, { id: p1, enabled: true })).defaultModelId, b);
  assert.equal(await deleteProvider(deps, owner, p2), a);
  assert.equal(await deleteProvider(deps, owner, p1), null);
});

test('enabling a provider sets the first default', async () => {
  const owner = makeOwner();
  const provider = await makeProvider(deps, owner, { enabled: false });
  const model = await makeModel(deps, owner, provider);
  await isDefault(owner, null);
  assert.equal((await updateProvider(deps, owner, { id: provider, enabled: true })).defaultModelId, model);
  await isDefault(owner, model);
});

test('a model that is disabled, or whose provider is, cannot be made the default', async () => {
  const { owner, p2, a, b, c } = await twoProviders();
  await updateModel(deps, owner, { id: c, enabled: false });
  await assert.rejects(updateModel(deps, owner, { id: c, isDefault: true }), invalid('isDefault'));
  await assert.rejects(updateModel(deps, owner, { id: a, isDefault: true, enabled: false }), invalid('isDefault'));
  await updateProvider(deps, owner, { id: p2, enabled: false });
  await assert.rejects(updateModel(deps, owner, { id: b, isDefault: true }), invalid('isDefault'));
  await isDefault(owner, a);
  assert.equal((await updateModel(deps, owner, { id: c, enabled: true, isDefault: true })).defaultModelId, c);
});

test('limits are checked against the merged record', async () => {
  const { owner, a } = await twoProviders();
  await assert.rejects(updateModel(deps, owner, { id: a, maxOutputTokens: 8001 }), invalid('maxOutputTokens'));
  await assert.rejects(updateModel(deps, owner, { id: a, contextWindow: 999 }), invalid('contextWindow'));
  const { model } = await updateModel(deps, owner, { id: a, contextWindow: 500, maxOutputTokens: 500 });
  assert.deepEqual([model.contextWindow, model.maxOutputTokens, model.displayName], [500, 500, 'Model']);
});

test("an owner cannot change another owner's records", async () => {
  const mine = makeOwner();
  const { owner, p1, a } = await twoProviders();
  const notFound = { code: 'not_found' };
  await assert.rejects(updateProvider(deps, mine, { id: p1, name: 'Mine' }), notFound);
  await assert.rejects(deleteProvider(deps, mine, p1), notFound);
  await assert.rejects(makeModel(deps, mine, p1), notFound);
  await assert.rejects(updateModel(deps, mine, { id: a, isDefault: true }), notFound);
  await assert.rejects(deleteModel(deps, mine, a), notFound);
  await isDefault(owner, a);
  assert.deepEqual(await listProviders(deps, mine, true), []);
});

test('limits the number of providers and models, even under parallel creation', async () => {
  const owner = makeOwner();
  for (let made = 0; made < limits.providersPerOwner - 5; made += 1) await makeProvider(deps, owner);
  const answers = await Promise.allSettled(Array.from({ length: 10 }, () => makeProvider(deps, owner)));
  assert.equal(answers.filter((answer) => answer.status === 'rejected').length, 5);
  const [provider] = await listProviders(deps, owner, false);
  assert.ok(provider);
  await makeModel(deps, owner, provider.id);
  await database.database.pool.query(
    `insert into models (id, owner_id, provider_id, provider_model_id, display_name, context_window, max_output_tokens, tier)
     select gen_random_uuid(), owner_id, provider_id, 'm', 'm', 10, 10, tier from models, generate_series(2, $1)
     where owner_id = $2`,
    [limits.modelsPerProvider, owner],
  );
  await assert.rejects(makeModel(deps, owner, provider.id), invalid('providerId'));
});
