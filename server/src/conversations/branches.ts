import { sql } from 'kysely';
import type { Database, Queryable } from '../db/pool.ts';
import type { MessagesTable } from '../db/tables.ts';

/** Branches of a conversation: chains of parent_id. Each read costs what it returns, not what the conversation holds. */

/** Of a message and all that follow it, the newest: it is a leaf. Undefined when it is no message of this conversation. */
export async function findNewestLeaf(db: Queryable, chatId: string, messageId: string): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    with recursive below as (
      select id, seq from messages where id = ${messageId} and chat_id = ${chatId}
      union all
      select m.id, m.seq from below b join messages m on m.parent_id = b.id
    ) select id from below order by seq desc limit 1`.execute(db);
  return rows[0]?.id;
}

/** A message as the context window reads it; `parts` only when there is no `prompt`. */
export type BranchMessage = {
  id: string;
  role: 'user' | 'assistant';
  prompt: string | null;
  promptTokens: number | null;
  usage: { inputTokens: number; outputTokens: number; reasoningTokens?: number } | null;
  parts: string | null;
};

export type BranchRead = {
  chatId: string;
  leafId: string;
  /** The newest message that is not read any more: the start of the context (`contextStartMessageId`). */
  stopBeforeId: string | null;
  pageSize: number;
};

/** A page ends early when its parts are longer than this. */
const pageBytes = 4_000_000;

const branchPage = {
  name: 'branch-page',
  text: `with recursive branch as (
      select id, parent_id, 1 as depth, octet_length(parts)::int8 as bytes
      from messages where id = $2 and chat_id = $1 and id is distinct from $3
      union all
      select m.id, m.parent_id, b.depth + 1, b.bytes + octet_length(m.parts)
      from branch b join messages m on m.id = b.parent_id
      where b.depth < $4 and b.bytes < ${pageBytes} and m.id is distinct from $3
    )
    select m.id, m.parent_id, m.role, m.prompt, m.prompt_tokens, m.usage, case when m.prompt is null then m.parts end as parts
    from branch b join messages m on m.id = b.id order by b.depth`,
};
type BranchRow = Pick<MessagesTable, 'id' | 'parent_id' | 'role' | 'prompt' | 'prompt_tokens'> & {
  usage: BranchMessage['usage'];
  parts: string | null;
};

/** Walks a branch from its leaf towards the beginning, page by page, as far as the consumer goes. */
export async function* readBranchNewestFirst(
  db: Pick<Database, 'pool'>,
  { chatId, leafId, stopBeforeId, pageSize }: BranchRead,
): AsyncGenerator<BranchMessage, void, undefined> {
  let next: string | null = leafId;
  while (next !== null) {
    const values: unknown[] = [chatId, next, stopBeforeId, pageSize];
    const { rows }: { rows: BranchRow[] } = await db.pool.query<BranchRow>({ ...branchPage, values });
    for (const { id, role, prompt, prompt_tokens: promptTokens, usage, parts } of rows) {
      yield { id, role, prompt, promptTokens, usage, parts };
    }
    next = rows.at(-1)?.parent_id ?? null;
    if (next === stopBeforeId) return;
  }
}
