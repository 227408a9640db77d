import { sql } from 'kysely';
import type { Queryable } from '../db/pool.ts';
import { budgetResetsAt } from './budget-rule.ts';

/** True if the user may ask no model now. */
export async function isBudgetUsedUp(db: Queryable, userId: string): Promise<boolean> {
  const { rows } = await sql<{ resetsAt: Date | null }>`
    select ${sql.raw(budgetResetsAt('u.id'))} as "resetsAt" from users u where u.id = ${userId}`.execute(db);
  return (rows[0]?.resetsAt ?? null) !== null;
}
