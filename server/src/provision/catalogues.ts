import { ApiError } from '@homeport/contracts/errors';
import type { CatalogueTransaction } from '../catalogue/catalogue-owner.ts';
import { holdDefaults, releaseDefaults, settleDefaults } from '../catalogue/default-model.ts';
import { insertModels, readModels, updateModels } from '../catalogue/models.ts';
import { insertProviders, readProviders, updateProviders } from '../catalogue/provider-records.ts';
import { readSharing } from '../catalogue/sharing.ts';
import { readNamedStandIns, storeStandIns } from '../catalogue/stand-ins.ts';
import { readTiers, removeOtherTiers, storeTiersOf } from '../catalogue/tiers.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { type CataloguePlan, type OwnedEntry, planCatalogue, type StoredCatalogue } from './catalogue-plan.ts';
import { readPeople } from './provider-sharing.ts';
import type { Report } from './report.ts';

type Deps = { secrets: KeyRing };
/**
 * Upserts catalogues: providers by name within their owner, models by providerModelId within their provider. No other
 * transaction writes catalogues meanwhile. Throws `invalid_request` and `tier_in_use`, with paths.
 */
export async function applyCatalogues(
  deps: Deps,
  transaction: CatalogueTransaction,
  entries: readonly OwnedEntry[],
  report: Report,
): Promise<void> {
  const owners = entries.map((entry) => entry.owner);
  const people = await readPeople(
    transaction,
    entries.flatMap(({ providers }) => providers ?? []),
  );
  const stored = await readCatalogues(transaction, owners, people);
  const plans = entries.map((entry) => planCatalogue(deps, entry, stored(entry.owner), report));
  await storeTiersOf(
    transaction,
    plans.map(({ owner, tiers }) => ({ owner, tiers: tiers ?? [] })),
  );
  await releaseDefaults(
    transaction,
    plans.filter((plan) => plan.releases).map((plan) => plan.owner),
  );
  await insertProviders(
    transaction,
    plans.flatMap((plan) => plan.newProviders),
  );
  await updateProviders(
    transaction,
    plans.flatMap((plan) => plan.changedProviders),
  );
  await insertModels(
    transaction,
    plans.flatMap((plan) => plan.newModels),
  );
  await updateModels(
    transaction,
    plans.flatMap((plan) => plan.changedModels),
  );
  for (const { owner, standIns } of plans) {
    for (const { modelId, ids } of standIns) await storeStandIns(transaction, owner, modelId, ids);
  }
  await holdDefaults(
    transaction,
    plans.flatMap((plan) => plan.newDefault ?? []),
  );
  await settleDefaults(transaction, owners);
  for (const plan of plans) await removeTiers(transaction, plan);
}

/** After the models, since these may leave a removed tier in the same manifest. */
async function removeTiers(transaction: CatalogueTransaction, plan: CataloguePlan): Promise<void> {
  if (plan.keptTiers === undefined) return;
  try {
    await removeOtherTiers(transaction, plan.owner, plan.keptTiers);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'tier_in_use') throw error;
    const path = `${plan.path}modelTiers`;
    const details = { ...(typeof error.details === 'object' ? error.details : {}), path };
    throw new ApiError('tier_in_use', `${path}: ${error.message}`, { details });
  }
}

async function readCatalogues(
  transaction: CatalogueTransaction,
  owners: readonly string[],
  people: ReadonlyMap<string, string>,
): Promise<(owner: string) => StoredCatalogue> {
  const tiers = await readTiers(transaction, owners);
  const rows = await readProviders(transaction, owners);
  const sharing = await readSharing(transaction, rows);
  const standIns = await readNamedStandIns(transaction, owners);
  const providers = Map.groupBy(rows, (row) => row.owner_id);
  const models = Map.groupBy(await readModels(transaction, owners), (row) => row.owner_id);
  return (owner) => ({
    tiers: tiers.get(owner),
    providers: providers.get(owner) ?? [],
    models: models.get(owner) ?? [],
    standIns,
    sharing,
    people,
  });
}
