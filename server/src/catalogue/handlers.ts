import type { catalogueEndpoints } from '@homeport/contracts/catalogue';
import type { Deps } from '../deps.ts';
import type { Actor, Handler } from '../http/handler.ts';
import { canEditProviders, catalogueOwner } from './catalogue-owner.ts';
import { createModel, deleteModel as removeModel, updateModel } from './models.ts';
import { testProvider } from './provider-test.ts';
import { createProvider, listProviders, deleteProvider as removeProvider, updateProvider } from './providers.ts';
import { listTiers, replaceTiers } from './tiers.ts';

type CatalogueDeps = Pick<Deps, 'config' | 'db' | 'secrets' | 'egress' | 'clock'>;
type CatalogueHandler<Name extends keyof typeof catalogueEndpoints> = Handler<
  CatalogueDeps,
  (typeof catalogueEndpoints)[Name]
>;

/** Whose catalogue a request is about: every handler here asks this one function. */
function ownerOf(deps: CatalogueDeps, input: { actor: Actor }): string {
  return catalogueOwner(deps.config, input.actor.id);
}

export const getProviders: CatalogueHandler<'getProviders'> = async (deps, input) => {
  const owner = ownerOf(deps, input);
  const canEdit = canEditProviders(deps.config, input.actor);
  const [providers, modelTiers] = await Promise.all([listProviders(deps, owner, canEdit), listTiers(deps, owner)]);
  return { providers, canEdit, modelTiers };
};

export const postProvider: CatalogueHandler<'postProvider'> = async (deps, input) => ({
  provider: await createProvider(deps, ownerOf(deps, input), input.body),
});

export const patchProvider: CatalogueHandler<'patchProvider'> = (deps, input) =>
  updateProvider(deps, ownerOf(deps, input), input.body);

export const deleteProvider: CatalogueHandler<'deleteProvider'> = async (deps, input) => ({
  ok: true,
  defaultModelId: await removeProvider(deps, ownerOf(deps, input), input.query.id),
});

export const postProviderTest: CatalogueHandler<'postProviderTest'> = async (deps, input) => ({
  ok: true,
  models: await testProvider(deps, ownerOf(deps, input), input.body, input.request.signal),
});

export const postModel: CatalogueHandler<'postModel'> = async (deps, input) => ({
  model: await createModel(deps, ownerOf(deps, input), input.body),
});

export const patchModel: CatalogueHandler<'patchModel'> = (deps, input) =>
  updateModel(deps, ownerOf(deps, input), input.body);

export const deleteModel: CatalogueHandler<'deleteModel'> = async (deps, input) => ({
  ok: true,
  defaultModelId: await removeModel(deps, ownerOf(deps, input), input.query.id),
});

export const getModelTiers: CatalogueHandler<'getModelTiers'> = async (deps, input) => ({
  modelTiers: await listTiers(deps, ownerOf(deps, input)),
});

export const putModelTiers: CatalogueHandler<'putModelTiers'> = async (deps, input) => ({
  modelTiers: await replaceTiers(deps, ownerOf(deps, input), input.body.tiers),
});
