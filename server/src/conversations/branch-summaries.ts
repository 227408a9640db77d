import type { Summary } from '@homeport/contracts/chat/summaries';
import { sql } from 'kysely';
import type { Queryable } from '../db/pool.ts';

type SummaryRow = { id: string; up_to_message_id: string; text: string; created_at: Date };

/** Newer ones than these are listed; the others have long been superseded. */
const listedMax = 50;

/** The newest summaries of a branch, oldest first. Without any in the conversation nothing is walked. */
export async function listBranchSummaries(db: Queryable, chatId: string, leafId: string): Promise<Summary[]> {
  const { rows } = await sql<SummaryRow>`
    with recursive covered as (
      select s.*, m.seq from summaries s join messages m on m.id = s.up_to_message_id
      where s.chat_id = ${chatId} and s.kind = 'summary'
    ), branch as (
      select id, parent_id, 1 as depth from messages where id = ${leafId} and exists (select from covered)
      union all
      select m.id, m.parent_id, b.depth + 1 from branch b join messages m on m.id = b.parent_id
      where m.seq >= (select min(seq) from covered)
    )
    select c.id, c.up_to_message_id, c.text, c.created_at from branch b join covered c on c.up_to_message_id = b.id
    order by b.depth limit ${listedMax}`.execute(db);
  return rows.toReversed().map((row) => viewSummary(row));
}

/** The wire form (contract.md section 11). */
export function viewSummary({ id, up_to_message_id: upToMessageId, text, created_at }: SummaryRow): Summary {
  return { id, upToMessageId, text, createdAt: created_at.toISOString() };
}
