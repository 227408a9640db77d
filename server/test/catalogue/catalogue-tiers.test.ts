import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { defaultTiers } from '@homeport/contracts/catalogue/default-tiers';
import { ApiError } from '@homeport/contracts/errors';
import { createModel, deleteModel, updateModel } from '../../src/catalogue/models.ts';
import { listTiers, replaceTiers } from '../../src/catalogue/tiers.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import {
  type CatalogueTestDeps,
  catalogueDeps,
  makeModel,
  makeOwner,
  makeProvider,
  modelInput,
} from './catalogue-makers.ts';

let database: TestDatabase;
let deps: CatalogueTestDeps;
before(async () => {
  database = await createTestDatabase();
  deps = catalogueDeps(database.database);
});
after(() => database.drop());

const [low, medium, high, maximum] = [
  { value: 1, label: 'Low' },
  { value: 2, label: 'Medium' },
  { value: 3, label: 'High' },
  { value: 4, label: 'Maximum' },
] as const;

test('a new catalogue starts with four tiers', async () => {
  assert.deepEqual(await listTiers(deps, makeOwner()), [low, medium, high, maximum]);
  assert.deepEqual(defaultTiers, [low, medium, high, maximum]);
});

test('replacing tiers renames, reorders, adds and removes, and other owners keep theirs', async () => {
  const [owner, other] = [makeOwner(), makeOwner()];
  const tiers = [{ value: 9, label: 'Huge' }, { value: 3, label: 'Low' }, low];
  await replaceTiers(deps, other, [low]);
  assert.deepEqual(await replaceTiers(deps, owner, tiers), tiers);
  assert.deepEqual(await listTiers(deps, owner), tiers);
  assert.deepEqual(await listTiers(deps, other), [low]);
});

test('a tier that models use, disabled ones included, cannot be removed', async () => {
  const owner = makeOwner();
  const provider = await makeProvider(deps, owner);
  const model = await makeModel(deps, owner, provider, { tier: 3, enabled: false });
  await makeModel(deps, owner, provider, { tier: 2 });
  await assert.rejects(replaceTiers(deps, owner, [low]), { code: 'tier_in_use', details: { tiers: [2, 3] } });
  assert.deepEqual(await listTiers(deps, owner), [low, medium, high, maximum]);
  await updateModel(deps, owner, { id: model, tier: 1 });
  const renamed = { value: 2, label: 'Middle' };
  assert.deepEqual(await replaceTiers(deps, owner, [renamed, low]), [renamed, low]);
});

test('a model must name a configured tier', async () => {
  const owner = makeOwner();
  const provider = await makeProvider(deps, owner);
  const unknown = (error: unknown) => {
    assert.ok(error instanceof ApiError && Array.isArray(error.details));
    assert.deepEqual([error.code, error.details[0].path], ['invalid_request', 'tier']);
    return true;
  };
  await assert.rejects(makeModel(deps, owner, provider, { tier: 5 }), unknown);
  await replaceTiers(deps, owner, [medium]);
  await assert.rejects(makeModel(deps, owner, provider, { tier: 1 }), unknown);
  const model = await makeModel(deps, owner, provider);
  await assert.rejects(updateModel(deps, owner, { id: model, tier: 1 }), unknown);
});

test('either removes a tier or uses it when both happen at the same time, never both', async () => {
  const owner = makeOwner();
  const provider = await makeProvider(deps, owner);
  const outcomes = { kept: 0, removed: 0 };
  for (let round = 0; round < 300; round++) {
    await replaceTiers(deps, owner, [low, maximum]);
    const creation = () => createModel(deps, owner, { ...modelInput(provider), tier: 4 });
    const removal = () => replaceTiers(deps, owner, [low]);
    const [created, removed] =
      round % 2 === 0
        ? await Promise.allSettled([creation(), removal()])
        : (await Promise.allSettled([removal(), creation()])).reverse();
    const tiers = await listTiers(deps, owner);
    if (created?.status === 'fulfilled') {
      assert.equal(removed?.status === 'rejected' && removed.reason.code, 'tier_in_use');
      assert.deepEqual(tiers, [low, maximum]);
      const { rows } = await database.database.pool.query('select id from models where owner_id = $1', [owner]);
      for (const { id } of rows) await deleteModel(deps, owner, id);
      outcomes.kept++;
    } else {
      assert.equal(created?.status === 'rejected' && created.reason.code, 'invalid_request');
      assert.equal(removed?.status, 'fulfilled');
      assert.deepEqual(tiers, [low]);
      outcomes.removed++;
    }
  }
  assert.ok(outcomes.kept > 0 && outcomes.removed > 0, JSON.stringify(outcomes));
});
