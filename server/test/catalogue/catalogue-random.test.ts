import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, before, type TestContext, test } from 'node:test';
import { ApiError } from '@homeport/contracts/errors';
import { installationOwner } from '../../src/catalogue/catalogue-owner.ts';
import { createModel, deleteModel, updateModel } from '../../src/catalogue/models.ts';
import { createProvider, deleteProvider, listProviders, updateProvider } from '../../src/catalogue/providers.ts';
import { replaceTiers } from '../../src/catalogue/tiers.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { type CatalogueTestDeps, catalogueDeps, makeOwner } from './catalogue-makers.ts';

/** Random operations of many concurrent writers on few catalogues, against the default-model rule. */

const workers = 16;
const operationsPerEdition = 2_000;

let database: TestDatabase;
let deps: CatalogueTestDeps;
before(async () => {
  database = await createTestDatabase();
  deps = catalogueDeps(database.database);
  await database.database.pool.query(ruleAtEveryCommit);
});
after(() => database.drop());

// Runs inside the database at the commit of every transaction that touched a catalogue, so no state in between escapes.
const ruleAtEveryCommit = `
  create function assert_default_rule() returns trigger language plpgsql as $$
  declare
    owner text := coalesce(new.owner_id, old.owner_id);
    defaults int; usable int; unusable int;
  begin
    select count(*) filter (where m.is_default), count(*) filter (where m.enabled and p.enabled),
      count(*) filter (where m.is_default and not (m.enabled and p.enabled))
      into defaults, usable, unusable from models m join providers p on p.id = m.provider_id where m.owner_id = owner;
    if defaults <> least(usable, 1) or unusable > 0 then
      raise exception 'default rule broken for %: % defaults, % usable', owner, defaults, usable;
    end if;
    return null;
  end $$;
  create constraint trigger default_rule after insert or update or delete on models
    deferrable initially deferred for each row execute function assert_default_rule();
  create constraint trigger default_rule after insert or update or delete on providers
    deferrable initially deferred for each row execute function assert_default_rule();`;

type Random = { below(limit: number): number; chance(probability: number): boolean; pick<T>(items: readonly T[]): T };

function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    below,
    chance: (probability) => next() < probability,
    pick(items) {
      const item = items[below(items.length)];
      if (item === undefined) throw new Error('Nothing to pick from');
      return item;
    },
  };
}

/** Ids of one catalogue; some of them are already deleted. */
type Known = { providers: string[]; models: string[] };

const refusals = new Set(['not_found', 'invalid_request', 'tier_in_use']);

async function operate(random: Random, owner: string, own: Known, others: Known): Promise<void> {
  const known = random.chance(0.05) ? others : own;
  const provider = () => (known.providers.length === 0 ? 'missing' : random.pick(known.providers));
  const model = () => (known.models.length === 0 ? 'missing' : random.pick(known.models));
  const roll = random.below(100);
  if (roll < 10) {
    const enabled = random.chance(0.8);
    own.providers.push((await createProvider(deps, owner, { name: 'p', baseUrl: 'https://a.example/v1', enabled })).id);
  } else if (roll < 17 || own.providers.length > 20) {
    await forgetting(known.providers, provider(), (id) => deleteProvider(deps, owner, id));
  } else if (roll < 32) {
    await updateProvider(deps, owner, { id: provider(), enabled: random.chance(0.5) });
  } else if (roll < 55) {
    const created = await createModel(deps, owner, {
      providerId: provider(),
      providerModelId: 'm',
      displayName: 'm',
      contextWindow: 9,
      maxOutputTokens: 9,
      tier: 1 + random.below(5),
      enabled: random.chance(0.7),
      isDefault: random.chance(0.3),
    });
    own.models.push(created.id);
  } else if (roll < 67 || own.models.length > 60) {
    await forgetting(known.models, model(), (id) => deleteModel(deps, owner, id));
  } else if (roll < 83) {
    await updateModel(deps, owner, { id: model(), enabled: random.chance(0.5) });
  } else if (roll < 97) {
    await updateModel(deps, owner, { id: model(), isDefault: true });
  } else {
    const values = [1, 2, 3, 4, 5].filter(() => random.chance(0.8));
    await replaceTiers(deps, owner, values.length === 0 ? [tier(1)] : values.map(tier));
  }
}

async function forgetting(list: string[], id: string, remove: (id: string) => Promise<unknown>): Promise<void> {
  await remove(id).finally(() => {
    if (list.includes(id)) list.splice(list.indexOf(id), 1);
  });
}

const tier = (value: number) => ({ value, label: `Tier ${value}` });

async function hammer(t: TestContext, owners: string[]): Promise<void> {
  const seed = randomInt(2 ** 31);
  t.diagnostic(`seed ${seed}`);
  const catalogues = owners.map((owner) => ({ owner, known: { providers: [], models: [] } }));
  const outcomes = new Map<string, number>();
  const work = async (worker: number) => {
    const random = createRandom(seed + worker);
    for (let count = 0; count < operationsPerEdition / workers; count++) {
      const { owner, known } = random.pick(catalogues);
      const outcome = await operate(random, owner, known, random.pick(catalogues).known).then(
        () => 'done',
        (error: unknown) => {
          if (error instanceof ApiError && refusals.has(error.code)) return error.code;
          throw error;
        },
      );
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)));
  t.diagnostic(JSON.stringify(Object.fromEntries(outcomes)));
  assert.ok((outcomes.get('done') ?? 0) > operationsPerEdition / 2);
  for (const owner of owners) {
    const models = (await listProviders(deps, owner, false)).flatMap((provider) =>
      provider.models.map((model) => ({ ...model, isUsable: model.enabled && provider.enabled })),
    );
    const defaults = models.filter((model) => model.isDefault);
    assert.equal(defaults.length, models.some((model) => model.isUsable) ? 1 : 0);
    assert.ok(defaults.every((model) => model.isUsable));
  }
}

test('community: 16 writers on three catalogues keep one default each at every commit', async (t) => {
  await hammer(t, [makeOwner(), makeOwner(), makeOwner()]);
});

test('managed: 16 writers on the one catalogue keep one default at every commit', async (t) => {
  await hammer(t, [installationOwner]);
});
