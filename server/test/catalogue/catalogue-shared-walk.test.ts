import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { SharedWith } from '@homeport/contracts/catalogue/catalogue';
import { insertUser } from '../../src/accounts/users.ts';
import { lowestTierEnabledModel, resolveModel } from '../../src/catalogue/model-choice.ts';
import { assertVisibleModel, deleteModel, updateModel } from '../../src/catalogue/models.ts';
import { deleteProvider, listProviders, listSharedProviders, updateProvider } from '../../src/catalogue/providers.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { type CatalogueTestDeps, catalogueDeps, makeModel, makeProvider } from './catalogue-makers.ts';

/** Random changes of few catalogues, own and shared, against a short model of the default rule. */

let database: TestDatabase;
let deps: CatalogueTestDeps;
before(async () => {
  database = await createTestDatabase();
  deps = catalogueDeps(database.database);
});
after(() => database.drop());

type Person = { id: string; isSharer: boolean };
type Model = { id: string; enabled: boolean; isDefault: boolean };
type Provider = { id: string; owner: Person; enabled: boolean; sharedWith: SharedWith; models: Model[] };

const steps = 220;

test('each user has the default that the rule gives, after any sequence of sharing and unsharing', async () => {
  const seed = Number(process.env.SEED ?? randomInt(2 ** 31));
  let state = seed;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % limit;
  };
  const pick = <T>(items: readonly T[]): T | undefined => items[below(Math.max(items.length, 1))];
  const people: Person[] = [];
  for (const index of [0, 1, 2, 3, 4]) {
    const role = index < 2 ? 'admin' : 'user';
    const user = { name: 'person', email: `p${index}@example.org`, role } as const;
    people.push({ id: (await insertUser(database.database.kysely, user)).id, isSharer: index < 2 });
  }
  let providers: Provider[] = [];

  /** The rule again, computed from the steps. Models are in the order of their creation. */
  const usable = (provider: Provider): Model[] =>
    provider.enabled ? provider.models.filter((one) => one.enabled) : [];
  const age = new Map<string, number>();
  const oldest = (models: Model[]): Model | undefined =>
    models.toSorted((a, b) => (age.get(a.id) ?? 0) - (age.get(b.id) ?? 0))[0];
  const settle = (owner: Person): void => {
    const own = providers.filter((provider) => provider.owner === owner);
    const all = own.flatMap(usable);
    const kept = all.find(({ isDefault }) => isDefault) ?? oldest(all);
    for (const model of own.flatMap(({ models }) => models)) model.isDefault = model === kept;
  };
  const sharedWith = (reader: Person): Provider[] =>
    providers.filter(({ owner, sharedWith: shared }) => {
      const isNamed = typeof shared === 'object' && shared.userIds.includes(reader.id);
      return owner !== reader && owner.isSharer && (shared === 'everyone' || isNamed);
    });
  const defaultOf = (reader: Person): string | null => {
    const own = providers.filter(({ owner }) => owner === reader).flatMap(usable);
    const shared = sharedWith(reader).flatMap(usable);
    const found =
      own.find(({ isDefault }) => isDefault) ?? oldest(shared.filter((one) => one.isDefault)) ?? oldest(shared);
    return found?.id ?? null;
  };

  const act = async (): Promise<void> => {
    const owner = pick(people) ?? assert.fail();
    const provider = pick(providers);
    const model = pick(provider?.models ?? []);
    const roll = below(12);
    if (roll < 2 || provider === undefined) {
      const id = await makeProvider(deps, owner.id);
      providers.push({ id, owner, enabled: true, sharedWith: 'none', models: [] });
    } else if (roll < 5) {
      const id = await makeModel(deps, provider.owner.id, provider.id, { tier: 1 + below(3) });
      age.set(id, age.size);
      provider.models.push({ id, enabled: true, isDefault: false });
    } else if (roll < 8) {
      const named = { userIds: people.filter(() => below(2) === 0).map(({ id }) => id) };
      provider.sharedWith = pick<SharedWith>(['none', 'everyone', named]) ?? 'none';
      await updateProvider(deps, provider.owner.id, { id: provider.id, sharedWith: provider.sharedWith });
    } else if (roll === 8) {
      provider.enabled = !provider.enabled;
      await updateProvider(deps, provider.owner.id, { id: provider.id, enabled: provider.enabled });
    } else if (roll === 9 && model !== undefined) {
      model.enabled = !model.enabled;
      await updateModel(deps, provider.owner.id, { id: model.id, enabled: model.enabled });
    } else if (roll === 10 && model !== undefined && usable(provider).includes(model)) {
      for (const other of providers.filter((one) => one.owner === provider.owner).flatMap(({ models }) => models)) {
        other.isDefault = other === model;
      }
      await updateModel(deps, provider.owner.id, { id: model.id, isDefault: true });
    } else if (below(4) === 0) {
      const role = owner.isSharer ? 'user' : 'admin';
      await database.database.pool.query('update users set role = $1 where id = $2', [role, owner.id]);
      owner.isSharer = !owner.isSharer;
    } else if (model !== undefined && below(2) === 0) {
      provider.models = provider.models.filter((one) => one !== model);
      settle(provider.owner);
      assert.equal(await deleteModel(deps, provider.owner.id, model.id), defaultOf(provider.owner));
    } else if (below(3) === 0) {
      providers = providers.filter((one) => one !== provider);
      settle(provider.owner);
      assert.equal(await deleteProvider(deps, provider.owner.id, provider.id), defaultOf(provider.owner));
    }
    for (const person of people) settle(person);
  };

  const check = async (reader: Person, step: number): Promise<void> => {
    const where = `seed ${seed}, step ${step}`;
    const expected = defaultOf(reader);
    const own = await listProviders(deps, reader.id, true);
    const hasOwn = own.some(({ models }) => models.some(({ isDefault }) => isDefault));
    const shared = await listSharedProviders(deps, reader.id, hasOwn);
    const listed = [...own, ...shared].flatMap(({ models }) => models);
    const defaults = listed.filter(({ isDefault }) => isDefault).map(({ id }) => id);
    assert.deepEqual(defaults, expected === null ? [] : [expected], where);
    const seen = sharedWith(reader).filter(({ enabled }) => enabled);
    assert.deepEqual(shared.map(({ id }) => id).sort(), seen.map(({ id }) => id).sort(), where);
    const resolved = await resolveModel(deps, reader.id, {}).catch(() => null);
    assert.equal(resolved?.model.id ?? null, expected, where);
    assert.equal((await lowestTierEnabledModel(deps, reader.id)) === undefined, expected === null, where);
    const mine = providers.filter(({ owner }) => owner === reader).flatMap(({ models }) => models);
    const visible = new Set([...mine, ...seen.flatMap(usable)].map(({ id }) => id));
    const any = pick(providers.flatMap(({ models }) => models));
    if (any === undefined) return;
    const may = await assertVisibleModel(deps, reader.id, any.id).then(
      () => true,
      () => false,
    );
    assert.equal(may, visible.has(any.id), where);
  };

  for (let step = 0; step < steps; step += 1) {
    await act();
    await check(pick(people) ?? assert.fail(), step);
  }
});
