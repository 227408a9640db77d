import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import { sql } from 'kysely';
import type { Config } from '../../config/config.ts';
import type { Queryable } from '../../db/pool.ts';
import { systemClock } from '../../platform/clock.ts';
import { PerAccount } from '../../platform/concurrency/per-account.ts';
import { assertBudget, budgetResetsAt } from '../../usage/budget-rule.ts';
import { RequestBudget } from '../../workspaces/request-budget.ts';

/** Whether programs in a person's workspace may ask models now. */

type Needs = { config: Pick<Config, 'workspaceModels'>; db: { kysely: Queryable } };

/** Throws `forbidden` where an administrator or the person has switched it off, and, for a call, `budget_exhausted`. */
export async function assertMayAsk({ config, db }: Needs, userId: string, use: 'list' | 'call'): Promise<void> {
  if (!config.workspaceModels) throw new ApiError('forbidden', 'Programs in workspaces cannot use models here');
  const { rows } = await sql<{ isAllowed: boolean; resetsAt: Date | null }>`
    select coalesce((select (r.rules ->> 'programModels')::boolean from tool_rules r where r.user_id = u.id), true) as "isAllowed",
      ${sql.raw(budgetResetsAt('u.id'))} as "resetsAt"
    from users u where u.id = ${userId}`.execute(db.kysely);
  const [row] = rows;
  if (row?.isAllowed !== true) {
    throw new ApiError('forbidden', 'You have switched off models for programs in your workspace (Settings, Tools)');
  }
  if (use === 'call') assertBudget(row.resetsAt);
}

const calls = new RequestBudget({
  burst: limits.programCallsBurst,
  perSecond: limits.programCallsPerHour / 3600,
  now: () => systemClock.now(),
});
const running = new PerAccount(limits.programCallsAtOnce);

/** Takes one of the person's calls until the returned function is called. Throws `rate_limited`. */
export function takeCall(userId: string): () => void {
  if (running.isFull(userId)) {
    const message = `Programs of this workspace are asking ${limits.programCallsAtOnce} models already. Wait for an answer.`;
    throw new ApiError('rate_limited', message, { retryAfter: 1 });
  }
  const waitSeconds = calls.take(userId);
  if (waitSeconds > 0) {
    const message = `Programs of this workspace may ask models ${limits.programCallsPerHour} times an hour. Wait a moment.`;
    throw new ApiError('rate_limited', message, { retryAfter: waitSeconds });
  }
  return running.take(userId);
}
