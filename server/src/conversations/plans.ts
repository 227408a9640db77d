import type { Plan, PlanItem } from '@homeport/contracts/chat/agent';
import { sql } from 'kysely';
import type { Queryable } from '../db/pool.ts';
import { namingPlan } from './messages.ts';

/** The plans of branches (contract.md section 11). This file alone writes the table `plans`. */

/** The plan in force after this message. */
export async function readPlan(db: Queryable, messageId: string): Promise<Plan | null> {
  const row = await db
    .selectFrom('messages as m')
    .innerJoin('plans as p', 'p.message_id', 'm.plan_id')
    .select(['p.message_id', 'p.items'])
    .where('m.id', '=', messageId)
    .executeTakeFirst();
  return row === undefined ? null : { messageId: row.message_id, items: row.items };
}

/** Replaces the plan of a running answer; false when the answer is made elsewhere by now. */
export async function writePlan(
  db: Queryable,
  response: { id: string; generation: number },
  items: readonly PlanItem[],
): Promise<boolean> {
  const { rows } = await sql`
    with held as (
      select id from responses where id = ${response.id} and generation = ${response.generation} and state = 'running' for share
    ), made as (
      insert into plans (message_id, items) select id, ${JSON.stringify(items)}::jsonb from held
      on conflict (message_id) do update set items = excluded.items, updated_at = now()
    ), named as (${namingPlan(response.id, sql`exists (select from held)`)})
    select id from held`.execute(db);
  return rows.length > 0;
}
