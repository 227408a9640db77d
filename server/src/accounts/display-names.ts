import { limits } from '@homeport/contracts/limits';
import type { Queryable } from '../db/pool.ts';

/** Names of accounts that others may see. */

/** The name that others see; null for an account that is gone. */
export async function readDisplayName(db: Queryable, userId: string): Promise<string | null> {
  const query = db.selectFrom('users').select('name').where('id', '=', userId).where('deleted_at', 'is', null);
  return (await query.executeTakeFirst())?.name ?? null;
}

/** Names of enabled administrators whom people can ask, the earliest accounts first. */
export async function readAdministratorNames(db: Queryable): Promise<string[]> {
  const rows = await db
    .selectFrom('users')
    .select('name')
    .where('role', '=', 'admin')
    .where('enabled', '=', true)
    .orderBy('created_at')
    .orderBy('id')
    .limit(limits.namedAdministratorsMax)
    .execute();
  return rows.map(({ name }) => name);
}
