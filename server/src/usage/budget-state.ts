import { sql } from 'kysely';
import type { Queryable } from '../db/pool.ts';
import { budgetResetsAt } from './budget-rule.ts';

/** Until when the user may ask no model; null: now. */
export async function readBudgetReset(db: Queryable, userId: string): Promise<Date | null> {
  const { rows } = await sql<{ resetsAt: Date | null }>`
    select ${sql.raw(budgetResetsAt('u.id'))} as "resetsAt" from users u where u.id = ${userId}`.execute(db);
  return rows[0]?.resetsAt ?? null;
}
