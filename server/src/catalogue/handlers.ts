import type { Provider, SharedWith } from '@homeport/contracts/catalogue/catalogue';
import type { catalogueEndpoints } from '@homeport/contracts/catalogue/endpoints';
import { assertUser } from '../accounts/users.ts';
import { type Actor, type Handler, type RequestFacts, sourceOf } from '../http/handler.ts';
import type { Platform } from '../platform.ts';
import { canEditProviders, catalogueOwner } from './catalogue-owner.ts';
import type { ChangedBy } from './changes.ts';
import { createModel, forgetModelLessons, deleteModel as removeModel, updateModel } from './models.ts';
import { findLocalServers } from './probes/find-servers.ts';
import { testProvider } from './probes/provider-test.ts';
import {
  createProvider,
  listProviders,
  listSharedProviders,
  deleteProvider as removeProvider,
  updateProvider,
} from './providers.ts';
import { assertMayShare, sharedTiers, withSharedTiers } from './sharing.ts';
import { listTiers, replaceTiers } from './tiers.ts';

type CatalogueDeps = Pick<Platform, 'config' | 'db' | 'secrets' | 'egress' | 'clock'>;
type Rows = typeof catalogueEndpoints;
/** One handler for both a user's own endpoint and the one that an administrator calls for a user. */
type CatalogueHandler<Own extends keyof Rows, OfUser extends keyof Rows> = Handler<CatalogueDeps, Rows[Own]> &
  Handler<CatalogueDeps, Rows[OfUser]>;

type CatalogueInput = {
  actor: Actor;
  query: { id?: string; userId?: string } | undefined;
  request: RequestFacts;
};

/**
 * Resolves the catalogue of a request. Every handler here calls this function. Only administrators' endpoints have
 * `userId`. Throws `not_found` for an unknown user.
 */
async function scopeOf(deps: CatalogueDeps, input: CatalogueInput): Promise<{ owner: string; by: ChangedBy }> {
  const userId = input.query?.userId;
  if (userId !== undefined) await assertUser(deps, userId);
  const owner = userId ?? catalogueOwner(deps.config, input.actor.id);
  return { owner, by: { ...sourceOf(input), isOwner: owner === input.actor.id } };
}

export const getProviders: CatalogueHandler<'getProviders', 'getUserProviders'> = async (
  deps,
  input: CatalogueInput,
) => {
  const { owner } = await scopeOf(deps, input);
  const canEdit = canEditProviders(deps.config, input.actor);
  const [own, ownTiers] = await Promise.all([listProviders(deps, owner, canEdit), listTiers(deps, owner)]);
  const show = (provider: Provider) => shownTo(deps, input.actor, provider);
  // An administrator who manages another user's catalogue gets the records that this user can change.
  if (input.query?.userId !== undefined) return { providers: own.map(show), canEdit, modelTiers: ownTiers };
  const hasDefault = own.some(({ models }) => models.some(({ isDefault }) => isDefault));
  const [shared, tiers] = await Promise.all([
    listSharedProviders(deps, owner, hasDefault),
    sharedTiers(deps.db.kysely, owner),
  ]);
  const modelTiers = withSharedTiers(ownTiers, tiers);
  return { providers: [...own, ...shared].map(show), canEdit, modelTiers };
};

/** With whom a provider is shared is for administrators to know. */
function shownTo(deps: CatalogueDeps, actor: Actor, { sharedWith, ...provider }: Provider): Provider {
  const isShown = actor.role === 'admin' && deps.config.edition === 'community' && sharedWith !== undefined;
  return isShown ? { ...provider, sharedWith } : provider;
}

/** Resolves the provider and its owner for changes to sharing. */
async function scopeOfProvider(
  deps: CatalogueDeps,
  input: CatalogueInput & { body: { sharedWith?: SharedWith } },
): Promise<{ owner: string; by: ChangedBy }> {
  const scope = await scopeOf(deps, input);
  await assertMayShare(deps, input.actor, scope.owner, input.body.sharedWith);
  return scope;
}

export const postProvider: CatalogueHandler<'postProvider', 'postUserProvider'> = async (deps, input) => {
  const { owner, by } = await scopeOfProvider(deps, input);
  return { provider: shownTo(deps, input.actor, await createProvider(deps, owner, input.body, by)) };
};

export const patchProvider: CatalogueHandler<'patchProvider', 'patchUserProvider'> = async (deps, input) => {
  const { owner, by } = await scopeOfProvider(deps, input);
  const { provider, defaultModelId } = await updateProvider(deps, owner, input.body, by);
  return { provider: shownTo(deps, input.actor, provider), defaultModelId };
};

export const deleteProvider: CatalogueHandler<'deleteProvider', 'deleteUserProvider'> = async (deps, input) => {
  const { owner, by } = await scopeOf(deps, input);
  return { ok: true, defaultModelId: await removeProvider(deps, owner, input.query.id, by) };
};

export const postProviderTest: CatalogueHandler<'postProviderTest', 'postUserProviderTest'> = async (deps, input) => {
  const { owner } = await scopeOf(deps, input);
  return { ok: true, models: await testProvider(deps, owner, input.body, input.request.signal) };
};

export const postFindProviders: Handler<CatalogueDeps, Rows['postFindProviders']> = (deps, { actor, request }) =>
  findLocalServers(deps, actor.id, request.signal);

export const postModel: CatalogueHandler<'postModel', 'postUserModel'> = async (deps, input) => {
  const { owner, by } = await scopeOf(deps, input);
  return { model: await createModel(deps, owner, input.body, by) };
};

export const patchModel: CatalogueHandler<'patchModel', 'patchUserModel'> = async (deps, input) => {
  const { owner, by } = await scopeOf(deps, input);
  return updateModel(deps, owner, input.body, by);
};

export const deleteModel: CatalogueHandler<'deleteModel', 'deleteUserModel'> = async (deps, input) => {
  const { owner, by } = await scopeOf(deps, input);
  return { ok: true, defaultModelId: await removeModel(deps, owner, input.query.id, by) };
};

export const deleteModelLessons: Handler<CatalogueDeps, Rows['deleteModelLessons']> = async (deps, input) => {
  const { owner } = await scopeOf(deps, input);
  return { model: await forgetModelLessons(deps, owner, input.query) };
};

export const getModelTiers: CatalogueHandler<'getModelTiers', 'getUserModelTiers'> = async (deps, input) => {
  const { owner } = await scopeOf(deps, input);
  return { modelTiers: await listTiers(deps, owner) };
};

export const putModelTiers: CatalogueHandler<'putModelTiers', 'putUserModelTiers'> = async (deps, input) => {
  const { owner, by } = await scopeOf(deps, input);
  return { modelTiers: await replaceTiers(deps, owner, input.body.tiers, by) };
};
