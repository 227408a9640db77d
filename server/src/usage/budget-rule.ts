import { ApiError } from '@homeport/contracts/errors';
import { systemClock } from '../platform/clock.ts';

/**
 * Whether a budget is used up, as SQL for statements that run anyway. Budgets count what has ended: calls that run at
 * the same time may go beyond them, each at most once.
 */

/** SQL text: since when the budget `b` counts, in UTC. */
const first = `date_trunc(b.period, now() at time zone 'utc')`;

/** SQL text: when the budget `b` counts from zero again. */
export const budgetReset = `((${first} + ('1 ' || b.period)::interval) at time zone 'utc')`;

/** SQL text: true if the budget `b` counts for the user `owner`. */
export function appliesTo(owner: string): string {
  return `(b.amount is not null and (b.user_id = ${owner} or b.user_id is null
    and (b.scope = 'everyone' or not exists (
      select from budgets own where own.user_id = ${owner} and own.unit = b.unit and own.period = b.period))
    and (b.stops_administrators or not exists (
      select from users chief where chief.id = ${owner} and chief.role = 'admin'))))`;
}

/** SQL text: use of the budget `b` by the user `owner` so far. */
export function spentOf(owner: string): string {
  return `(case b.scope
    when 'everyone' then (select coalesce(sum(case b.unit when 'cost' then cost else tokens end), 0)
      from usage_totals where day >= ${first}::date)
    else (select coalesce(sum(case b.unit when 'cost' then cost else input_tokens + output_tokens end), 0)
      from usage_days where owner_id = ${owner} and day >= ${first}::date) end)::bigint`;
}

/** SQL text: until when the user `owner` can ask no model, because a budget is used up; null if none is. */
export function budgetResetsAt(owner: string): string {
  return `(select max(${budgetReset}) from budgets b where ${appliesTo(owner)} and b.amount <= ${spentOf(owner)})`;
}

/** Throws `budget_exhausted` if models are blocked until a later time. */
export function assertBudget(resetsAt: Date | null): void {
  if (resetsAt === null) return;
  const at = resetsAt.toISOString();
  throw new ApiError('budget_exhausted', `The budget is used up. It starts again on ${spoken(resetsAt)}.`, {
    details: { resetsAt: at },
    retryAfter: Math.max((resetsAt.getTime() - systemClock.now()) / 1000, 1),
  });
}

function spoken(time: Date): string {
  const day = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' }).format(time);
  return `${day} at ${time.toISOString().slice(11, 16)} UTC`;
}
