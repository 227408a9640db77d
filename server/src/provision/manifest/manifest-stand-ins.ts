import type { ManifestStandIn } from '@homeport/contracts/provision/manifest';
import type { CataloguePlan, StoredCatalogue } from '../catalogue-plan.ts';
import { manifestError } from './manifest.ts';

/** Stand-ins of a model by the names of a manifest. */
export type GivenStandIns = { modelId: string; path: string; names: readonly ManifestStandIn[] };

/**
 * Finds the named models in the catalogue as it will be: stored before, or new with the manifest. Throws
 * `invalid_request` with the path.
 */
export function resolveStandIns(
  plan: Pick<CataloguePlan, 'newProviders' | 'newModels'>,
  stored: Pick<StoredCatalogue, 'providers' | 'models'>,
  { modelId, path, names }: GivenStandIns,
): { modelId: string; ids: string[] } {
  const providers = [...stored.providers, ...plan.newProviders];
  const models = [
    ...stored.models.map((row) => ({ id: row.id, providerId: row.provider_id, name: row.provider_model_id })),
    ...plan.newModels.map(({ id, providerId, providerModelId }) => ({ id, providerId, name: providerModelId })),
  ];
  const ids = names.map(({ provider, providerModelId }, at) => {
    const named = new Set(providers.filter(({ name }) => name === provider).map(({ id }) => id));
    const found = models.find(({ providerId, name }) => named.has(providerId) && name === providerModelId);
    if (found === undefined) throw manifestError([{ path: `${path}.${at}`, message: 'No such model of this owner' }]);
    return found.id;
  });
  if (ids.includes(modelId)) throw manifestError([{ path, message: 'A model cannot be its own stand-in' }]);
  if (new Set(ids).size < ids.length) throw manifestError([{ path, message: 'Each model once' }]);
  return { modelId, ids };
}
