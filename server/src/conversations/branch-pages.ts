import { sql } from 'kysely';
import type { Database } from '../db/pool.ts';
import { type MessageRow, messageColumns, messageColumnsWith } from './message-page.ts';

/** The active branch of a conversation, oldest first, cut into pages that are read one after the other. */

type Needs = { db: Pick<Database, 'kysely'> };

/**
 * `newest` is the id of its newest message; `userCount` of its messages are a person's, and the oldest has the role
 * `oldestRole`.
 */
export type BranchPage = {
  newest: string;
  count: number;
  userCount: number;
  oldestRole: 'user' | 'assistant';
  modelIds: string[];
};

/** A page ends after this many messages, or before their parts exceed `bytes`; it has at least one message. */
export type PageSize = {
  messages: number;
  bytes: number;
  /** Messages whose parts are read and counted; others come without parts. */
  partsOf: 'all' | 'user';
};

/** Finds the first message of each page of the active branch. Walks the branch once; memory holds one line per page. */
export async function findPages({ db }: Needs, chatId: string, size: PageSize): Promise<BranchPage[]> {
  const bytes =
    size.partsOf === 'all'
      ? sql`octet_length(m.parts)`
      : sql`case m.role when 'user' then octet_length(m.parts) else 0 end`;
  const { rows } = await sql<BranchPage>`
    with recursive branch as (
      select m.id, m.parent_id, m.role, m.model_id, 1 as page, 1 as place, ${bytes}::int8 as bytes
      from chats c join messages m on m.id = c.active_message_id and m.chat_id = c.id where c.id = ${chatId}
      union all
      select m.id, m.parent_id, m.role, m.model_id, b.page + n.turn, case n.turn when 1 then 1 else b.place + 1 end,
        ${bytes} + case n.turn when 1 then 0 else b.bytes end
      from branch b join messages m on m.id = b.parent_id
      cross join lateral (
        select case when b.place >= ${size.messages} or b.bytes + ${bytes} > ${size.bytes} then 1 else 0 end as turn
      ) n
    )
    select (array_agg(id order by place))[1] as newest, count(*)::int as count,
      (count(*) filter (where role = 'user'))::int as "userCount", (array_agg(role order by place desc))[1] as "oldestRole",
      coalesce(array_agg(distinct model_id) filter (where model_id is not null), '{}') as "modelIds"
    from branch group by page order by page desc`.execute(db.kysely);
  return rows;
}

/** The messages of a page, oldest first. Throws if they are gone. */
export async function readPage(
  { db }: Needs,
  { newest, count }: Pick<BranchPage, 'newest' | 'count'>,
  partsOf: PageSize['partsOf'] = 'all',
): Promise<MessageRow[]> {
  const columns = partsOf === 'all' ? messageColumns : messageColumnsWith(userParts);
  const { rows } = await sql<MessageRow>`
    with recursive branch as (
      select id, parent_id, 1 as depth from messages where id = ${newest}
      union all
      select m.id, m.parent_id, b.depth + 1 from branch b join messages m on m.id = b.parent_id where b.depth < ${count}
    )
    select ${sql.raw(columns)} from branch b join messages m on m.id = b.id order by b.depth desc`.execute(db.kysely);
  if (rows.length !== count) throw new Error('The conversation was deleted while it was read');
  return rows;
}

const userParts = "case m.role when 'user' then m.parts else '[]' end";
