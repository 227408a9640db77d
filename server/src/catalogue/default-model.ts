import { ApiError } from '@homeport/contracts/errors';
import { sql } from 'kysely';
import type { CatalogueTransaction } from './catalogue-owner.ts';
import { sharedDefaultId } from './sharing.ts';

/**
 * The default-model rule (control-plane-api.md "States and transitions"): an owner has exactly one default model if an
 * enabled model of an enabled provider exists, otherwise none. Only these functions write `models.is_default`.
 */

/**
 * Restores the rule after any change: keeps the current default if it is still usable, otherwise promotes the oldest
 * usable model. Returns the default's id.
 */
export async function settleDefault(transaction: CatalogueTransaction, owner: string): Promise<string | null> {
  const best = await usableModels(transaction, owner)
    .select(['models.id', 'models.is_default'])
    .orderBy('models.is_default', 'desc')
    .orderBy('models.seq')
    .limit(1)
    .executeTakeFirst();
  if (best?.is_default === true) return best.id;
  await releaseDefault(transaction, owner);
  if (best === undefined) return null;
  await holdDefault(transaction, owner, best.id);
  return best.id;
}

/** Restores the rule and returns the owner's default model: without a model of their own, one shared with them. */
export async function settledDefault(transaction: CatalogueTransaction, owner: string): Promise<string | null> {
  return (await settleDefault(transaction, owner)) ?? (await sharedDefaultId(transaction, owner));
}

/** Makes a model the default, releasing the previous one first. Throws `invalid_request` if it is not usable. */
export async function makeDefault(transaction: CatalogueTransaction, owner: string, modelId: string): Promise<void> {
  const usable = await usableModels(transaction, owner)
    .select('models.id')
    .where('models.id', '=', modelId)
    .executeTakeFirst();
  if (usable === undefined) {
    const message = 'Only an enabled model of an enabled provider can be the default';
    throw new ApiError('invalid_request', message, { details: [{ path: 'isDefault', message }] });
  }
  await releaseDefault(transaction, owner);
  await holdDefault(transaction, owner, modelId);
}

/** Releases the current default; must be followed by `settleDefault`. */
export async function releaseDefault(transaction: CatalogueTransaction, owner: string): Promise<void> {
  await transaction
    .updateTable('models')
    .set({ is_default: false })
    .where('owner_id', '=', owner)
    .where('is_default', '=', true)
    .execute();
}

async function holdDefault(transaction: CatalogueTransaction, owner: string, modelId: string): Promise<void> {
  await transaction
    .updateTable('models')
    .set({ is_default: true })
    .where('owner_id', '=', owner)
    .where('id', '=', modelId)
    .execute();
}

function usableModels(transaction: CatalogueTransaction, owner: string) {
  return transaction
    .selectFrom('models')
    .innerJoin('providers', 'providers.id', 'models.provider_id')
    .where('models.owner_id', '=', owner)
    .where('models.enabled', '=', true)
    .where('providers.enabled', '=', true);
}

/** `releaseDefault` for several owners. */
export async function releaseDefaults(transaction: CatalogueTransaction, owners: readonly string[]): Promise<void> {
  if (owners.length === 0) return;
  await transaction
    .updateTable('models')
    .set({ is_default: false })
    .where('owner_id', 'in', owners)
    .where('is_default', '=', true)
    .execute();
}

/** Makes these models the defaults of their owners, who have none at the moment. */
export async function holdDefaults(transaction: CatalogueTransaction, modelIds: readonly string[]): Promise<void> {
  if (modelIds.length === 0) return;
  await transaction.updateTable('models').set({ is_default: true }).where('id', 'in', modelIds).execute();
}

/** `settleDefault` for several owners, in three statements however many there are. */
export async function settleDefaults(transaction: CatalogueTransaction, owners: readonly string[]): Promise<void> {
  if (owners.length === 0) return;
  const { rows } = await sql<{ owner_id: string; id: string; is_default: boolean }>`
    select distinct on (m.owner_id) m.owner_id, m.id, m.is_default
    from models m join providers p on p.id = m.provider_id
    where m.owner_id = any(${owners}) and m.enabled and p.enabled
    order by m.owner_id, m.is_default desc, m.seq`.execute(transaction);
  const settled = new Set(rows.filter((row) => row.is_default).map((row) => row.owner_id));
  await releaseDefaults(
    transaction,
    owners.filter((owner) => !settled.has(owner)),
  );
  await holdDefaults(
    transaction,
    rows.filter((row) => !row.is_default).map((row) => row.id),
  );
}
