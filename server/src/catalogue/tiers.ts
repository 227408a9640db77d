import type { ModelTier } from '@homeport/contracts/catalogue';
import { ApiError } from '@homeport/contracts/errors';
import type { Database, Queryable } from '../db/pool.ts';
import { type CatalogueTransaction, inCatalogue } from './catalogue-owner.ts';

/** What a new catalogue starts with (specification "Model tier definition"). */
export const defaultTiers: readonly ModelTier[] = [
  { value: 1, label: 'Low' },
  { value: 2, label: 'Medium' },
  { value: 3, label: 'High' },
  { value: 4, label: 'Maximum' },
];

type TierDeps = { db: Pick<Database, 'kysely'> };

/** The tiers of a catalogue in display order; those of a new one are stored only when something first refers to them. */
export async function listTiers(deps: TierDeps, owner: string): Promise<ModelTier[]> {
  const stored = await storedTiers(deps.db.kysely, owner);
  return stored.length > 0 ? stored : defaultTiers.map((tier) => ({ ...tier }));
}

/** Replaces all definitions; their order becomes the display order. Throws `tier_in_use` with `details.tiers`, the values. */
export function replaceTiers(deps: TierDeps, owner: string, tiers: readonly ModelTier[]): Promise<ModelTier[]> {
  return inCatalogue(deps, owner, async (transaction) => {
    const values = tiers.map((tier) => tier.value);
    await assertNoneInUse(transaction, owner, values);
    await transaction
      .deleteFrom('model_tiers')
      .where('owner_id', '=', owner)
      .where('value', 'not in', values)
      .execute();
    await storeTiers(transaction, owner, tiers);
    return storedTiers(transaction, owner);
  });
}

/** Throws `invalid_request` for a tier that this catalogue does not define; afterwards models may refer to it. */
export async function assertTier(transaction: CatalogueTransaction, owner: string, value: number): Promise<void> {
  let tiers = await storedTiers(transaction, owner);
  if (tiers.length === 0) {
    await storeTiers(transaction, owner, defaultTiers);
    tiers = [...defaultTiers];
  }
  if (tiers.some((tier) => tier.value === value)) return;
  throw new ApiError('invalid_request', 'This tier is not defined', {
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

async function storeTiers(transaction: CatalogueTransaction, owner: string, tiers: readonly ModelTier[]) {
  const rows = tiers.map(({ value, label }, position) => ({ owner_id: owner, value, label, position }));
  await transaction
    .insertInto('model_tiers')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['owner_id', 'value']).doUpdateSet((row) => ({
        label: row.ref('excluded.label'),
        position: row.ref('excluded.position'),
      })),
    )
    .execute();
}

function storedTiers(db: Queryable, owner: string): Promise<ModelTier[]> {
  return db
    .selectFrom('model_tiers')
    .select(['value', 'label'])
    .where('owner_id', '=', owner)
    .orderBy('position')
    .execute();
}
