import type { Transaction } from 'kysely';
import type { Tables } from '../db/tables/tables.ts';
import { manifestError } from './manifest/manifest.ts';

/**
 * The ids of the users that entries of a list name by `ownerEmail`. Throws `invalid_request` with paths for the others.
 */
export async function ownersOf(
  transaction: Transaction<Tables>,
  list: 'assistants' | 'prompts',
  entries: readonly { index: number; ownerEmail: string }[],
): Promise<Map<string, string>> {
  const emails = [...new Set(entries.map(({ ownerEmail }) => ownerEmail))];
  const rows = await transaction.selectFrom('users').select(['id', 'email']).where('email', 'in', emails).execute();
  const ids = new Map(rows.map(({ id, email }) => [email, id]));
  const details = entries
    .filter(({ ownerEmail }) => !ids.has(ownerEmail))
    .map(({ index }) => ({ path: `${list}.${index}.ownerEmail`, message: 'No user has this address' }));
  if (details.length > 0) throw manifestError(details);
  return ids;
}
