import { sql } from 'kysely';
import type { Queryable } from '../db/pool.ts';
import { budgetReset, spentOf } from './budget-rule.ts';

/** Sums of all accounts for the administrators' overview, from a few rows a day. */

type Months = { month: string; cost: number; tokens: number; lastMonthCost: number };
type SharedBudget = {
  unit: 'tokens' | 'cost';
  period: 'day' | 'month';
  limit: number;
  spent: number;
  resetsAt: string;
};

/** Use in the current calendar month in UTC, and the cost of the one before. */
export async function readMonths(db: Queryable, now: number): Promise<Months> {
  const month = `${new Date(now).toISOString().slice(0, 7)}-01`;
  const { rows } = await sql<Omit<Months, 'month'>>`
    select coalesce(sum(cost) filter (where day >= ${month}::date), 0)::bigint as cost,
      coalesce(sum(tokens) filter (where day >= ${month}::date), 0)::bigint as tokens,
      coalesce(sum(cost) filter (where day < ${month}::date), 0)::bigint as "lastMonthCost"
    from usage_totals where day >= ${month}::date - interval '1 month'`.execute(db);
  return { month, ...(rows[0] ?? { cost: 0, tokens: 0, lastMonthCost: 0 }) };
}

/** Budgets for everyone together; there are at most four. */
export async function budgetsForEveryone(db: Queryable): Promise<SharedBudget[]> {
  const { rows } = await sql<Omit<SharedBudget, 'resetsAt'> & { resetsAt: Date }>`
    select b.unit, b.period, b.amount as limit, ${sql.raw(spentOf('b.user_id'))} as spent,
      ${sql.raw(budgetReset)} as "resetsAt"
    from budgets b where b.scope = 'everyone' order by b.period, b.unit`.execute(db);
  return rows.map((row) => ({ ...row, resetsAt: row.resetsAt.toISOString() }));
}
