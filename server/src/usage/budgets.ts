import { ApiError } from '@homeport/contracts/errors';
import type { Budget, NewBudget, OwnBudget } from '@homeport/contracts/usage';
import { sql } from 'kysely';
import { type AuditSource, recordEvent } from '../audit/audit.ts';
import { type Database, inTransaction, type Queryable } from '../db/pool.ts';
import { appliesTo, budgetReset, spentOf } from './budget-rule.ts';

/** Budgets as people see and set them. Only this file writes the table `budgets`. */

type Needs = { db: Pick<Database, 'kysely'> };
type BudgetRow = Omit<Budget, 'resetsAt'> & { resetsAt: Date };
type OwnRow = Omit<OwnBudget, 'scope' | 'resetsAt' | 'percent'> & {
  scope: 'everyone' | 'each' | 'person';
  limit: number;
  spent: number;
  resetsAt: Date;
};

export async function listBudgets(db: Queryable): Promise<Budget[]> {
  const { rows } = await sql<BudgetRow>`
    select b.scope, b.user_id as "userId", b.unit, b.period, b.amount as limit, b.stops_administrators as "stopsAdministrators", u.name, u.email,
      case when b.scope <> 'each' then ${sql.raw(spentOf('b.user_id'))} end as spent, ${sql.raw(budgetReset)} as "resetsAt"
    from budgets b left join users u on u.id = b.user_id
    order by array_position(array['everyone', 'each', 'person'], b.scope), u.name, b.user_id, b.period, b.unit`.execute(
    db,
  );
  return rows.map((row) => ({ ...row, resetsAt: row.resetsAt.toISOString() }));
}

/** Replaces all budgets. Throws `invalid_request` for two of a kind and `not_found` for a user who does not exist. */
export async function replaceBudgets(deps: Needs, budgets: readonly NewBudget[], by: AuditSource): Promise<Budget[]> {
  assertDifferent(budgets);
  return inTransaction(deps.db, async (trx) => {
    // One at a time: two lists would otherwise become one.
    await sql`lock table budgets in share row exclusive mode`.execute(trx);
    await assertUsers(trx, budgets);
    await trx.deleteFrom('budgets').execute();
    if (budgets.length > 0) {
      await trx.insertInto('budgets').values(budgets.map(toBudgetRow)).execute();
    }
    await recordEvent(trx, by, {
      action: 'settings.updated',
      details: { changed: ['budgets'], budgets: budgets.length },
    });
    return listBudgets(trx);
  });
}

/** The budgets that count for a person, those nearest to their end first. */
export async function ownBudgets(db: Queryable, userId: string): Promise<OwnBudget[]> {
  const { rows } = await sql<OwnRow>`
    select b.scope, b.unit, b.period, b.amount as limit, ${sql.raw(spentOf('u.id'))} as spent, ${sql.raw(budgetReset)} as "resetsAt"
    from users u cross join budgets b where u.id = ${userId} and ${sql.raw(appliesTo('u.id'))}`.execute(db);
  return rows
    .map(({ scope, limit, spent, resetsAt, ...row }): OwnBudget => {
      const percent = limit === 0 ? 100 : Math.floor((spent / limit) * 100);
      const known = scope === 'everyone' ? { limit: null, spent: null } : { limit, spent };
      return {
        ...row,
        ...known,
        scope: scope === 'everyone' ? 'everyone' : 'own',
        percent,
        resetsAt: resetsAt.toISOString(),
      };
    })
    .toSorted((a, b) => b.percent - a.percent);
}

/** A budget as its row. Without a choice, it counts for administrators; a person's own budget always does. */
export function toBudgetRow({ scope, userId, unit, period, limit, stopsAdministrators }: NewBudget) {
  const stops = scope === 'person' || (stopsAdministrators ?? true);
  return { scope, unit, period, user_id: userId ?? null, amount: limit, stops_administrators: stops };
}

export function assertDifferent(budgets: readonly NewBudget[]): void {
  const seen = new Set<string>();
  for (const [index, { scope, userId, unit, period }] of budgets.entries()) {
    const key = [scope, userId ?? '', unit, period].join();
    if (seen.has(key)) {
      const message = 'There is already a budget of this kind';
      throw new ApiError('invalid_request', `The request is not valid. budgets.${index}: ${message}`, {
        details: [{ path: `budgets.${index}`, message }],
      });
    }
    seen.add(key);
  }
}

export async function assertUsers(trx: Queryable, budgets: readonly NewBudget[]): Promise<void> {
  const ids = [...new Set(budgets.flatMap(({ userId }) => userId ?? []))];
  if (ids.length === 0) return;
  const found = await trx.selectFrom('users').select('id').where('id', 'in', ids).forKeyShare().execute();
  if (found.length < ids.length) throw new ApiError('not_found', 'User not found');
}
