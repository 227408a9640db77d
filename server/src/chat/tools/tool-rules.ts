import { limits } from '@homeport/contracts/limits';
import { sql } from 'kysely';
import type { Queryable } from '../../db/pool.ts';

/** What a person has said of tools for one conversation (`chats.tool_rules`). It can only spare a question, never lift a "never". */

/** Keeps that a tool may run in this conversation without asking. The caller has locked it. One row a tool; the oldest goes. */
export async function allowTool(trx: Queryable, chatId: string, tool: string): Promise<void> {
  const rule = JSON.stringify([{ tool, policy: 'allow' }]);
  await sql`
    update chats set tool_rules = jsonb_build_object('rules', (
      select jsonb_agg(rule order by place) from (
        select rule, place from jsonb_array_elements(
          ${rule}::jsonb || coalesce(tool_rules -> 'rules', '[]')) with ordinality as known (rule, place)
        where place = 1 or rule ->> 'tool' <> ${tool} order by place limit ${limits.toolRulesMax}) kept))
    where id = ${chatId}`.execute(trx);
}

/** Whether a person has allowed this tool for the whole conversation; asked at each call. */
export async function isToolAllowed(db: Queryable, chatId: string, tool: string): Promise<boolean> {
  const rule = JSON.stringify([{ tool, policy: 'allow' }]);
  const { rows } = await sql`
    select from chats where id = ${chatId} and tool_rules -> 'rules' @> ${rule}::jsonb`.execute(db);
  return rows.length > 0;
}
