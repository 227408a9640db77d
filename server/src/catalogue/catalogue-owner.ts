import type { User } from '@homeport/contracts/fields';
import { sql, type Transaction } from 'kysely';
import type { Config } from '../config/config.ts';
import { type Database, inTransaction } from '../db/pool.ts';
import type { Tables } from '../db/tables/tables.ts';

/** An open transaction of the writer whose turn it is in one catalogue. */
export type CatalogueTransaction = Transaction<Tables>;

/** Owner of the shared catalogue in the managed edition; no user has this id. */
export const installationOwner = 'installation';

/**
 * Returns the owner of the catalogue that a user sees: themselves (community) or the installation (managed). Every verb
 * takes this id.
 */
export function catalogueOwner(config: Pick<Config, 'edition'>, userId: string): string {
  return config.edition === 'managed' ? installationOwner : userId;
}

/** Provider edit access (control-plane-api.md "Authentication" 4, contract.md section 4). */
export function canEditProviders(
  config: Pick<Config, 'edition'>,
  actor: Pick<User, 'role' | 'providerSettingsEnabled'>,
): boolean {
  return actor.role === 'admin' || (config.edition === 'community' && actor.providerSettingsEnabled);
}

// Writers of one catalogue share this lock; a writer of several takes it exclusively.
const allCatalogues = sql`hashtextextended('catalogues', 0)`;

/** Waits for all writers of catalogues, and blocks new ones until the transaction ends. */
export async function lockAllCatalogues(transaction: CatalogueTransaction): Promise<void> {
  await sql`select pg_advisory_xact_lock(${allCatalogues})`.execute(transaction);
}

/**
 * Runs `work` in a transaction that is alone among the writers of this owner's catalogue. Its locks are taken first and
 * always in the same order: writers wait for each other but cannot deadlock, and each sees everything that the previous
 * one committed.
 */
export function inCatalogue<T>(
  deps: { db: Pick<Database, 'kysely'> },
  owner: string,
  work: (transaction: CatalogueTransaction) => Promise<T>,
): Promise<T> {
  return inTransaction(deps.db, async (transaction) => {
    await sql`
      select pg_advisory_xact_lock_shared(${allCatalogues}), pg_advisory_xact_lock(hashtextextended(${`catalogue:${owner}`}, 0))`.execute(
      transaction,
    );
    return work(transaction);
  });
}

/**
 * Locks the conversations that have these models pinned, before the models are deleted. Pinning also locks the
 * conversation before the model, so the two cannot deadlock.
 */
export async function lockChatsOfModels(transaction: CatalogueTransaction, modelIds: readonly string[]): Promise<void> {
  if (modelIds.length === 0) return;
  await transaction
    .selectFrom('chats')
    .select('id')
    .where('model_id', 'in', modelIds)
    .orderBy('id')
    .forUpdate()
    .execute();
}
