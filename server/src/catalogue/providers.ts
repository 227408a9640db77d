import { randomUUIDv7 } from 'node:crypto';
import type { Provider, providerBody, providerPatchBody } from '@homeport/contracts/catalogue';
import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import type { z } from 'zod';
import type { Clock } from '../clock.ts';
import type { Database, Queryable } from '../db/pool.ts';
import { assertCustomHeaders } from '../egress/headers.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { type CatalogueTransaction, inCatalogue, lockChatsOfModels } from './catalogue-owner.ts';
import { sealApiKey, sealHeaders } from './credentials.ts';
import { settleDefault } from './default-model.ts';
import { type ModelRow, type ProviderRow, providerView } from './views.ts';

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
  return providers.map((provider) => providerView(deps, provider, byProvider.get(provider.id) ?? [], canEdit));
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

/** Adds a provider; it has no models yet. Throws `invalid_request` for bad headers and for one provider too many. */
export async function createProvider(deps: ProviderDeps, owner: string, input: ProviderInput): Promise<Provider> {
  assertCustomHeaders(input.headers ?? {});
  const id = randomUUIDv7();
  const now = new Date(deps.clock.now());
  const row = await inCatalogue(deps, owner, async (transaction) => {
    await assertRoom(transaction, owner);
    return transaction
      .insertInto('providers')
      .values({
        id,
        owner_id: owner,
        name: input.name,
        base_url: input.baseUrl,
        api_key: sealApiKey(deps, id, input.apiKey ?? null),
        headers: sealHeaders(deps, id, input.headers ?? {}),
        enabled: input.enabled ?? true,
        created_at: now,
        updated_at: now,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
  });
  return providerView(deps, row, [], true);
}

/**
 * Changes a provider. An omitted API key or omitted headers keep their envelopes as they are, readable or not. Disabling
 * gives the default away, enabling may bring the first one.
 */
export async function updateProvider(
  deps: ProviderDeps,
  owner: string,
  patch: ProviderPatch,
): Promise<{ provider: Provider; defaultModelId: string | null }> {
  const { id, name, baseUrl, apiKey, headers, enabled } = patch;
  assertCustomHeaders(headers ?? {});
  return inCatalogue(deps, owner, async (transaction) => {
    await getOwnedProvider({ db: { kysely: transaction } }, owner, id);
    const row = await transaction
      .updateTable('providers')
      .set({
        name,
        base_url: baseUrl,
        api_key: apiKey === undefined ? undefined : sealApiKey(deps, id, apiKey),
        headers: headers === undefined ? undefined : sealHeaders(deps, id, headers),
        enabled,
        updated_at: new Date(deps.clock.now()),
      })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow();
    const defaultModelId = await settleDefault(transaction, owner);
    const models = await modelsOf(transaction, id);
    return { provider: providerView(deps, row, models, true), defaultModelId };
  });
}

/** Deletes a provider with its models and promotes another default when needed. Returns the default's id. */
export async function deleteProvider(
  deps: { db: Pick<Database, 'kysely'> },
  owner: string,
  id: string,
): Promise<string | null> {
  return inCatalogue(deps, owner, async (transaction) => {
    await getOwnedProvider({ db: { kysely: transaction } }, owner, id);
    const models = await modelsOf(transaction, id);
    await lockChatsOfModels(
      transaction,
      models.map((model) => model.id),
    );
    await transaction.deleteFrom('providers').where('id', '=', id).execute();
    return settleDefault(transaction, owner);
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
