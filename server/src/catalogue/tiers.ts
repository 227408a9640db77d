import type { ModelTier } from '@homeport/contracts/catalogue/catalogue';
import { defaultTiers } from '@homeport/contracts/catalogue/default-tiers';
import { ApiError } from '@homeport/contracts/errors';
import { sql } from 'kysely';
import type { Database, Queryable } from '../db/pool.ts';
import { type CatalogueTransaction, inCatalogue } from './catalogue-owner.ts';
import { type ChangedBy, recordChange } from './changes.ts';

type TierDeps = { db: Pick<Database, 'kysely'> };

/**
 * The tiers of a catalogue in display order; those of a new one are stored only when something first refers to them.
 */
export async function listTiers(deps: TierDeps, owner: string): Promise<ModelTier[]> {
  const stored = await storedTiers(deps.db.kysely, owner);
  return stored.length > 0 ? stored : defaultTiers.map((tier) => ({ ...tier }));
}

/**
 * Replaces all definitions; their order becomes the display order. Throws `tier_in_use` with `details.tiers`, the
 * values.
 */
export function replaceTiers(
  deps: TierDeps,
  owner: string,
  tiers: readonly ModelTier[],
  by?: ChangedBy,
): Promise<ModelTier[]> {
  return inCatalogue(deps, owner, async (transaction) => {
    const values = tiers.map((tier) => tier.value);
    await removeOtherTiers(transaction, owner, values);
    await storeTiersOf(transaction, [{ owner, tiers }]);
    const changed = tiers.map((tier) => `${tier.value} ${tier.label}`);
    await recordChange(transaction, owner, by, 'model_tiers.replaced', { changed });
    return storedTiers(transaction, owner);
  });
}

/**
 * Throws `invalid_request` for a tier that this catalogue does not define; otherwise models may refer to it afterwards.
 */
export async function assertTier(transaction: CatalogueTransaction, owner: string, value: number): Promise<void> {
  let tiers = await storedTiers(transaction, owner);
  if (tiers.length === 0) {
    await storeTiersOf(transaction, [{ owner, tiers: defaultTiers }]);
    tiers = [...defaultTiers];
  }
  if (tiers.some((tier) => tier.value === value)) return;
  throw new ApiError('invalid_request', 'This tier does not exist', {
    details: [{ path: 'tier', message: `One of ${tiers.map((tier) => tier.value).join(', ')}` }],
  });
}

async function assertNoneInUse(
  transaction: CatalogueTransaction,
  owner: string,
  kept: readonly number[],
): Promise<void> {
  const used = await transaction
    .selectFrom('models')
    .innerJoin('model_tiers', (join) =>
      join.onRef('model_tiers.owner_id', '=', 'models.owner_id').onRef('model_tiers.value', '=', 'models.tier'),
    )
    .select(['model_tiers.value', 'model_tiers.label'])
    .distinct()
    .where('models.owner_id', '=', owner)
    .where('models.tier', 'not in', kept)
    .orderBy('model_tiers.value')
    .execute();
  if (used.length === 0) return;
  const labels = used.map((tier) => tier.label).join(', ');
  throw new ApiError('tier_in_use', `Models still use these tiers: ${labels}`, {
    details: { tiers: used.map((tier) => tier.value) },
  });
}

function storedTiers(db: Queryable, owner: string): Promise<ModelTier[]> {
  return db
    .selectFrom('model_tiers')
    .select(['value', 'label'])
    .where('owner_id', '=', owner)
    .orderBy('position')
    .execute();
}

/** The stored tiers of several catalogues, each in display order; a catalogue without any is missing. */
export async function readTiers(db: Queryable, owners: readonly string[]): Promise<Map<string, ModelTier[]>> {
  if (owners.length === 0) return new Map();
  const rows = await db
    .selectFrom('model_tiers')
    .select(['owner_id', 'value', 'label'])
    .where('owner_id', 'in', owners)
    .orderBy('position')
    .execute();
  const groups = Map.groupBy(rows, (row) => row.owner_id);
  return new Map([...groups].map(([owner, tiers]) => [owner, tiers.map(({ value, label }) => ({ value, label }))]));
}

/** Definitions of several catalogues: adds and renames, removes nothing. */
export async function storeTiersOf(
  transaction: CatalogueTransaction,
  catalogues: readonly { owner: string; tiers: readonly ModelTier[] }[],
): Promise<void> {
  const rows = catalogues.flatMap(({ owner, tiers }) =>
    tiers.map(({ value, label }, position) => ({ owner, value, label, position })),
  );
  if (rows.length === 0) return;
  await sql`
    insert into model_tiers (owner_id, value, label, position)
    select owner, value, label, position
    from json_to_recordset(${JSON.stringify(rows)}::json) as x (owner text, value int, label text, position int)
    on conflict (owner_id, value) do update set label = excluded.label, position = excluded.position`.execute(
    transaction,
  );
}

/** Removes all other definitions. Throws `tier_in_use` with `details.tiers`. */
export async function removeOtherTiers(
  transaction: CatalogueTransaction,
  owner: string,
  kept: readonly number[],
): Promise<void> {
  await assertNoneInUse(transaction, owner, kept);
  await transaction.deleteFrom('model_tiers').where('owner_id', '=', owner).where('value', 'not in', kept).execute();
}
