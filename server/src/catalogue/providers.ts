import { randomUUIDv7 } from 'node:crypto';
import type { Provider, providerBody, providerPatchBody } from '@homeport/contracts/catalogue/catalogue';
import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import { sql } from 'kysely';
import type { z } from 'zod';
import { changedFields } from '../audit/audit.ts';
import type { Database, Queryable } from '../db/pool.ts';
import { assertCustomHeaders } from '../egress/headers.ts';
import type { Clock } from '../platform/clock.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { type CatalogueTransaction, inCatalogue, lockChatsOfModels } from './catalogue-owner.ts';
import { type ChangedBy, recordChange } from './changes.ts';
import { bindCredentials, sealApiKey, sealHeaders } from './credentials.ts';
import { settledDefault } from './default-model.ts';
import { withLessons } from './lessons.ts';
import {
  isShared,
  readSharing,
  sharedColumn,
  sharedDefaultId,
  sharedTiers,
  sharedWithReader,
  storeShares,
} from './sharing.ts';
import { withStandIns } from './stand-ins.ts';
import { type ModelRow, type ProviderRow, providerView, sharedProviderView } from './views.ts';

export type ProviderDeps = { db: Pick<Database, 'kysely'>; secrets: KeyRing; clock: Clock };
type ProviderInput = z.output<typeof providerBody>;
type ProviderPatch = z.output<typeof providerPatchBody>;

/** The owner's providers with their models, both oldest first. Unreadable credentials show as `credentialsError`. */
export async function listProviders(
  deps: Pick<ProviderDeps, 'db' | 'secrets'>,
  owner: string,
  canEdit: boolean,
): Promise<Provider[]> {
  const { kysely } = deps.db;
  const [providers, models] = await Promise.all([
    kysely.selectFrom('providers').selectAll().where('owner_id', '=', owner).orderBy('seq').execute(),
    kysely.selectFrom('models').selectAll().where('owner_id', '=', owner).orderBy('seq').execute(),
  ]);
  const byProvider = Map.groupBy(models, (model) => model.provider_id);
  const sharing = await readSharing(kysely, providers);
  const views = providers.map((provider) => {
    const sharedWith = sharing.get(provider.id) ?? 'none';
    return providerView(deps, provider, byProvider.get(provider.id) ?? [], { canEdit, sharedWith });
  });
  return fillModels(kysely, views);
}

/**
 * Lists the providers that others share with this person: enabled providers with their enabled models, oldest first.
 * One of these models is the default when they have none of their own.
 */
export async function listSharedProviders(
  deps: { db: Pick<Database, 'kysely'> },
  reader: string,
  hasOwnDefault: boolean,
): Promise<Provider[]> {
  const { kysely } = deps.db;
  const ids = sharedWithReader(reader);
  const [providers, models, tiers, defaultId] = await Promise.all([
    kysely.selectFrom('providers').selectAll().where(sql<boolean>`id in (${ids})`).orderBy('seq').execute(),
    kysely
      .selectFrom('models')
      .selectAll()
      .where('enabled', '=', true)
      .where(sql<boolean>`provider_id in (${ids})`)
      .orderBy('seq')
      .execute(),
    sharedTiers(kysely, reader),
    hasOwnDefault ? null : sharedDefaultId(kysely, reader),
  ]);
  const sharing = await readSharing(kysely, providers);
  const byProvider = Map.groupBy(models, (model) => model.provider_id);
  const views = providers.map((row) =>
    sharedProviderView(row, byProvider.get(row.id) ?? [], {
      sharedWith: sharing.get(row.id) ?? 'none',
      modelTiers: tiers.get(row.owner_id) ?? [],
      defaultId,
    }),
  );
  return withListedStandIns(await fillModels(kysely, views));
}

/** Without the ids of models that their reader doesn't see. */
function withListedStandIns(providers: readonly Provider[]): Provider[] {
  const listed = new Set(providers.flatMap(({ models }) => models.map(({ id }) => id)));
  return providers.map((provider) => ({
    ...provider,
    models: provider.models.map((model) => ({ ...model, standIns: model.standIns.filter((id) => listed.has(id)) })),
  }));
}

async function fillModels(db: Queryable, providers: readonly Provider[]): Promise<Provider[]> {
  const views = providers.flatMap((provider) => provider.models);
  const models = await withStandIns(db, await withLessons(db, views));
  const byProvider = Map.groupBy(models, ({ providerId }) => providerId);
  return providers.map((provider) => ({ ...provider, models: byProvider.get(provider.id) ?? [] }));
}

/** Throws the same `not_found` for a missing and a foreign provider. */
export async function getOwnedProvider(
  deps: { db: { kysely: Queryable } },
  owner: string,
  id: string,
): Promise<ProviderRow> {
  const row = await deps.db.kysely
    .selectFrom('providers')
    .selectAll()
    .where('id', '=', id)
    .where('owner_id', '=', owner)
    .executeTakeFirst();
  if (row === undefined) throw new ApiError('not_found', 'Provider not found');
  return row;
}

/**
 * Adds a provider, without models yet. Throws `invalid_request` for bad headers and if there are too many providers.
 */
export async function createProvider(
  deps: ProviderDeps,
  owner: string,
  input: ProviderInput,
  by?: ChangedBy,
): Promise<Provider> {
  assertCustomHeaders(input.headers ?? {});
  const id = randomUUIDv7();
  const now = new Date(deps.clock.now());
  const place = { id, owner_id: owner, base_url: input.baseUrl };
  const { sharedWith = 'none' } = input;
  const row = await inCatalogue(deps, owner, async (transaction) => {
    await assertRoom(transaction, owner);
    await recordChange(transaction, owner, by, 'provider.created', {
      id,
      name: input.name,
      baseUrl: input.baseUrl,
      isShared: sharedWith !== 'none',
    });
    const stored = await transaction
      .insertInto('providers')
      .values({
        id,
        owner_id: owner,
        name: input.name,
        kind: input.kind ?? 'openai',
        base_url: input.baseUrl,
        api_key: sealApiKey(deps, place, input.apiKey ?? null),
        headers: sealHeaders(deps, place, input.headers ?? {}),
        enabled: input.enabled ?? true,
        first_byte_seconds: input.firstByteSeconds ?? null,
        shared_with: sharedColumn(sharedWith),
        region: input.region ?? null,
        only_regions: JSON.stringify(input.onlyRegions ?? []),
        created_at: now,
        updated_at: now,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    await storeShares(transaction, [{ id, sharedWith }]);
    return stored;
  });
  return providerView(deps, row, [], { canEdit: true, sharedWith });
}

/**
 * Changes a provider. An omitted API key or omitted headers stay unchanged, readable or not, and bound to their origin;
 * given ones are for the new address. Disabling it releases the default, enabling it may create the first one.
 */
export async function updateProvider(
  deps: ProviderDeps,
  owner: string,
  patch: ProviderPatch,
  by?: ChangedBy,
): Promise<{ provider: Provider; defaultModelId: string | null }> {
  const { id, name, kind, baseUrl, apiKey, headers, enabled, firstByteSeconds, sharedWith, region, onlyRegions } =
    patch;
  assertCustomHeaders(headers ?? {});
  return inCatalogue(deps, owner, async (transaction) => {
    await transaction.selectFrom('providers').select('id').where('id', '=', id).forUpdate().execute();
    const present = await getOwnedProvider({ db: { kysely: transaction } }, owner, id);
    const place = { ...present, base_url: baseUrl ?? present.base_url };
    const before = place.base_url === present.base_url ? present : bindCredentials(deps, present);
    const row = await transaction
      .updateTable('providers')
      .set({
        name,
        kind,
        base_url: baseUrl,
        api_key: apiKey === undefined ? before.api_key : sealApiKey(deps, place, apiKey),
        headers: headers === undefined ? before.headers : sealHeaders(deps, place, headers),
        enabled,
        first_byte_seconds: firstByteSeconds,
        shared_with: sharedWith === undefined ? undefined : sharedColumn(sharedWith),
        region,
        only_regions: onlyRegions === undefined ? undefined : JSON.stringify(onlyRegions),
        updated_at: new Date(deps.clock.now()),
      })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow();
    if (sharedWith !== undefined) await storeShares(transaction, [{ id, sharedWith }]);
    const newAddress = row.base_url === present.base_url ? undefined : row.base_url;
    await recordChange(transaction, owner, by, 'provider.updated', {
      id,
      name: row.name,
      baseUrl: newAddress,
      changed: changedFields({
        name,
        kind,
        baseUrl: newAddress,
        apiKey,
        headers,
        enabled,
        firstByteSeconds,
        sharedWith,
        region,
        onlyRegions,
      }),
      isShared: isShared(present) || isShared(row),
    });
    const defaultModelId = await settledDefault(transaction, owner);
    const models = await modelsOf(transaction, id);
    const sharing = await readSharing(transaction, [row]);
    const shown = { canEdit: true, sharedWith: sharing.get(id) ?? 'none' };
    const [provider = providerView(deps, row, models, shown)] = await fillModels(transaction, [
      providerView(deps, row, models, shown),
    ]);
    return { provider, defaultModelId };
  });
}

/** Deletes a provider with its models and promotes another default if necessary. Returns the default's id. */
export async function deleteProvider(
  deps: { db: Pick<Database, 'kysely'> },
  owner: string,
  id: string,
  by?: ChangedBy,
): Promise<string | null> {
  return inCatalogue(deps, owner, async (transaction) => {
    const provider = await getOwnedProvider({ db: { kysely: transaction } }, owner, id);
    const { name } = provider;
    await recordChange(transaction, owner, by, 'provider.deleted', { id, name, isShared: isShared(provider) });
    const models = await modelsOf(transaction, id);
    await lockChatsOfModels(
      transaction,
      models.map((model) => model.id),
    );
    await transaction.deleteFrom('providers').where('id', '=', id).execute();
    return settledDefault(transaction, owner);
  });
}

function modelsOf(transaction: CatalogueTransaction, providerId: string): Promise<ModelRow[]> {
  return transaction.selectFrom('models').selectAll().where('provider_id', '=', providerId).orderBy('seq').execute();
}

async function assertRoom(transaction: CatalogueTransaction, owner: string): Promise<void> {
  const { count } = await transaction
    .selectFrom('providers')
    .select((row) => row.fn.countAll<number>().as('count'))
    .where('owner_id', '=', owner)
    .executeTakeFirstOrThrow();
  if (count < limits.providersPerOwner) return;
  const message = `At most ${limits.providersPerOwner} providers`;
  throw new ApiError('invalid_request', message, { details: [{ path: 'name', message }] });
}

/** Deletes a deleted account's providers with their models, and its tiers. */
export async function deleteCatalogueOf(trx: Queryable, userId: string): Promise<void> {
  await trx.deleteFrom('providers').where('owner_id', '=', userId).execute();
  await trx.deleteFrom('models').where('owner_id', '=', userId).execute();
  await trx.deleteFrom('model_tiers').where('owner_id', '=', userId).execute();
}
