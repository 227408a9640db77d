import type { BudgetPreview, NewBudget } from '@homeport/contracts/usage';
import { sql } from 'kysely';
import type { Queryable } from '../db/pool.ts';
import { assertDifferent, assertUsers, toBudgetRow } from './budgets.ts';

/** The people whom a list of budgets would stop at once, and whom the present budgets don't stop. */

const shownMax = 20;

type Row = { id: string; name: string; email: string; resetsAt: Date; count: number; isCaller: boolean };

/**
 * One pass over the daily sums of the month, whatever the number of people and budgets. Throws like `replaceBudgets`,
 * and changes nothing.
 */
export async function previewBudgets(
  db: Queryable,
  budgets: readonly NewBudget[],
  callerId: string,
): Promise<BudgetPreview> {
  assertDifferent(budgets);
  await assertUsers(db, budgets);
  const proposed = JSON.stringify(budgets.map(toBudgetRow));
  const { rows } = await sql<Row>`
    with today as (select (now() at time zone 'utc')::date as day, date_trunc('month', now() at time zone 'utc')::date as month),
    proposed as (select * from json_to_recordset(${proposed}::json)
      as x (scope text, user_id text, unit text, period text, amount bigint, stops_administrators boolean)),
    used as (select d.owner_id,
        sum(d.input_tokens + d.output_tokens) as tokens_month, sum(d.cost) as cost_month,
        coalesce(sum(d.input_tokens + d.output_tokens) filter (where d.day = today.day), 0) as tokens_day,
        coalesce(sum(d.cost) filter (where d.day = today.day), 0) as cost_day
      from usage_days d cross join today where d.day >= today.month group by d.owner_id),
    total as (select coalesce(sum(d.tokens), 0) as tokens_month, coalesce(sum(d.cost), 0) as cost_month,
        coalesce(sum(d.tokens) filter (where d.day = today.day), 0) as tokens_day,
        coalesce(sum(d.cost) filter (where d.day = today.day), 0) as cost_day
      from usage_totals d cross join today where d.day >= today.month),
    people as (select u.id, u.name, u.email, u.role from users u where u.enabled and u.deleted_at is null),
    stopped as (${sql.raw(stoppedBy('proposed'))}),
    before as (${sql.raw(stoppedBy('budgets'))}),
    fresh as (select s.id, s."resetsAt" from stopped s where s.id not in (select b.id from before b))
    select p.id, p.name, p.email, f."resetsAt", (count(*) over ())::int as count,
      bool_or(p.id = ${callerId}) over () as "isCaller"
    from fresh f join people p on p.id = f.id order by p.id <> ${callerId}, lower(p.name), p.id limit ${shownMax}`.execute(
    db,
  );
  const people = rows.map(({ id, name, email, resetsAt }) => ({
    userId: id,
    name,
    email,
    resetsAt: resetsAt.toISOString(),
  }));
  return { count: rows[0]?.count ?? 0, isCaller: rows[0]?.isCaller ?? false, people };
}

/** SQL text: the ids of the people whom the budgets in `list` stop, and until when; the rule of `appliesTo` as joins. */
function stoppedBy(list: string): string {
  return `
    select x.id, max((date_trunc(x.period, now() at time zone 'utc') + ('1 ' || x.period)::interval) at time zone 'utc') as "resetsAt"
    from (
      select p.id, b.scope, b.unit, b.period, b.amount from ${list} b join people p on p.id = b.user_id
      union all
      select p.id, b.scope, b.unit, b.period, b.amount from ${list} b cross join people p
        left join ${list} own on own.user_id = p.id and own.unit = b.unit and own.period = b.period
      where b.user_id is null and (b.stops_administrators or p.role <> 'admin') and (b.scope = 'everyone' or own.user_id is null)
    ) x cross join total left join used on used.owner_id = x.id
    where x.amount is not null and x.amount <= coalesce(case when x.scope = 'everyone' then
      ${amountOf('total')} else ${amountOf('used')} end, 0)
    group by x.id`;
}

function amountOf(sums: string): string {
  return `case x.unit || ' ' || x.period when 'tokens day' then ${sums}.tokens_day when 'tokens month' then ${sums}.tokens_month
    when 'cost day' then ${sums}.cost_day else ${sums}.cost_month end`;
}
