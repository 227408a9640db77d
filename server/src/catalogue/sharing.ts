import type { ModelTier, SharedWith } from '@homeport/contracts/catalogue/catalogue';
import { ApiError } from '@homeport/contracts/errors';
import type { User } from '@homeport/contracts/fields';
import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { Config } from '../config/config.ts';
import type { Queryable } from '../db/pool.ts';
import type { ProvidersTable } from '../db/tables/catalogue.ts';
import { type CatalogueTransaction, installationOwner } from './catalogue-owner.ts';

/**
 * Providers that administrators of the community edition share (contract.md section 11 "Models"). A reader may use the
 * enabled models and changes nothing; the key stays sealed for its owner. All of it counts only while the owner is an
 * enabled administrator.
 */

/**
 * SQL: the ids of the enabled providers that others share with the owner of a catalogue; `reader` is an SQL name or a
 * quoted id.
 */
export function sharedProviderIds(reader: string): string {
  return `
    select shared.id from providers shared join users sharer on sharer.id = shared.owner_id
    where shared.shared_with <> 'none' and shared.enabled and sharer.role = 'admin' and sharer.enabled
      and shared.owner_id <> ${reader} and ${reader} <> '${installationOwner}'
      and (shared.shared_with = 'everyone' or exists (select from provider_shares named
        where named.provider_id = shared.id and named.user_id = ${reader}))`;
}

/** SQL: the ids of all providers whose models the owner of a catalogue may use, their own first of all. */
export function visibleProviderIds(reader: string): string {
  return `select mine.id from providers mine where mine.owner_id = ${reader} union all ${sharedProviderIds(reader)}`;
}

/**
 * SQL: the owner of a catalogue may choose the model `m`: any of their own, an enabled one of what is shared with them.
 */
export function isVisibleModel(m: string, reader: string): string {
  return `(${m}.owner_id = ${reader} or ${m}.enabled and ${m}.provider_id in (${sharedProviderIds(reader)}))`;
}

/** `sharedProviderIds` in a statement of its own. */
export function sharedWithReader(reader: string): RawBuilder<string> {
  return sql<string>`select visible.id from (select ${reader}::text as id) reader
    cross join lateral (${sql.raw(sharedProviderIds('reader.id'))}) visible`;
}

/**
 * Returns the default model of a reader without an enabled model of their own: a sharer's default, else the oldest
 * shared model.
 */
export async function sharedDefaultId(db: Queryable, reader: string): Promise<string | null> {
  const row = await db
    .selectFrom('models')
    .select('id')
    .where('enabled', '=', true)
    .where(sql<boolean>`provider_id in (${sharedWithReader(reader)})`)
    .orderBy('is_default', 'desc')
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst();
  return row?.id ?? null;
}

/** The tiers that enabled shared models have, by the owner of their catalogue, each in display order. */
export async function sharedTiers(db: Queryable, reader: string): Promise<Map<string, ModelTier[]>> {
  const { rows } = await sql<ModelTier & { owner_id: string }>`
    select t.owner_id, t.value, t.label from model_tiers t
    where (t.owner_id, t.value) in (select m.owner_id, m.tier from models m
      where m.enabled and m.provider_id in (${sharedWithReader(reader)}))
    order by t.owner_id, t.position`.execute(db);
  const groups = Map.groupBy(rows, (row) => row.owner_id);
  return new Map([...groups].map(([owner, tiers]) => [owner, tiers.map(({ value, label }) => ({ value, label }))]));
}

/** A catalogue's own tiers, and after them those that only shared models have. */
export function withSharedTiers(own: readonly ModelTier[], shared: ReadonlyMap<string, ModelTier[]>): ModelTier[] {
  const tiers = new Map(own.map((tier) => [tier.value, tier]));
  for (const tier of [...shared.values()].flat()) if (!tiers.has(tier.value)) tiers.set(tier.value, tier);
  return [...tiers.values()];
}

type Shared = Pick<Selectable<ProvidersTable>, 'id' | 'shared_with'>;

export function isShared({ shared_with }: Pick<Shared, 'shared_with'>): boolean {
  return shared_with !== 'none';
}

/** With whom each of these providers is shared. */
export async function readSharing(db: Queryable, providers: readonly Shared[]): Promise<Map<string, SharedWith>> {
  const named = providers.filter((row) => row.shared_with === 'users').map(({ id }) => id);
  const shares =
    named.length === 0
      ? []
      : await db
          .selectFrom('provider_shares')
          .selectAll()
          .where('provider_id', 'in', named)
          .orderBy('user_id')
          .execute();
  const users = Map.groupBy(shares, (share) => share.provider_id);
  return new Map(
    providers.map(({ id, shared_with }) => [
      id,
      shared_with === 'users' ? { userIds: (users.get(id) ?? []).map((share) => share.user_id) } : shared_with,
    ]),
  );
}

/** Ends all shares with a user by name. */
export async function endSharesWith(db: Queryable, userId: string): Promise<void> {
  await db.deleteFrom('provider_shares').where('user_id', '=', userId).execute();
}

/** The value of the column; the people that are meant by name stand in `provider_shares`. */
export function sharedColumn(sharedWith: SharedWith): ProvidersTable['shared_with']['__select__'] {
  return typeof sharedWith === 'string' ? sharedWith : 'users';
}

/** Replaces the people with whom these providers are shared by name. Throws `not_found` for an unknown one. */
export async function storeShares(
  transaction: CatalogueTransaction,
  providers: readonly { id: string; sharedWith: SharedWith }[],
): Promise<void> {
  if (providers.length === 0) return;
  const ids = providers.map(({ id }) => id);
  await transaction.deleteFrom('provider_shares').where('provider_id', 'in', ids).execute();
  const rows = providers.flatMap(({ id, sharedWith }) =>
    typeof sharedWith === 'string' ? [] : [...new Set(sharedWith.userIds)].map((userId) => ({ id, userId })),
  );
  if (rows.length === 0) return;
  const { numAffectedRows } = await sql`
    insert into provider_shares (provider_id, user_id)
    select x.id, u.id from json_to_recordset(${JSON.stringify(rows)}::json) as x (id text, "userId" text)
    join users u on u.id = x."userId"`.execute(transaction);
  if (numAffectedRows !== BigInt(rows.length)) throw new ApiError('not_found', 'User not found');
}

/**
 * Throws `forbidden` for non-administrators, and `invalid_request` in the managed edition and for the provider of a
 * non-administrator. Removing all shares is always allowed.
 */
export async function assertMayShare(
  deps: { config: Pick<Config, 'edition'>; db: { kysely: Queryable } },
  actor: Pick<User, 'id' | 'role'>,
  owner: string,
  sharedWith: SharedWith | undefined,
): Promise<void> {
  if (sharedWith === undefined || sharedWith === 'none') return;
  if (actor.role !== 'admin') throw new ApiError('forbidden', 'Only an administrator can share a provider');
  if (deps.config.edition === 'managed') throw notShareable('The managed edition has one catalogue for everyone');
  if (owner === actor.id) return;
  const { kysely } = deps.db;
  const row = await kysely.selectFrom('users').select('role').where('id', '=', owner).executeTakeFirst();
  if (row?.role !== 'admin') throw notShareable('Only a provider of an administrator can be shared');
}

function notShareable(message: string): ApiError {
  return new ApiError('invalid_request', message, { details: [{ path: 'sharedWith', message }] });
}
