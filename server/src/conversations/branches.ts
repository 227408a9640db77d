import { sql } from 'kysely';
import type { Database, Queryable } from '../db/pool.ts';
import type { MessagesTable } from '../db/tables/chat.ts';

/**
 * Branches of a conversation: chains of parent_id. Each read costs what it returns, however large the conversation is.
 */

/**
 * Returns the newest of a message and its descendants: it is a leaf. Undefined when the message is not in this
 * conversation.
 */
export async function findNewestLeaf(db: Queryable, chatId: string, messageId: string): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    with recursive below as (
      select id, seq from messages where id = ${messageId} and chat_id = ${chatId}
      union all
      select m.id, m.seq from below b join messages m on m.parent_id = b.id
    ) select id from below order by seq desc limit 1`.execute(db);
  return rows[0]?.id;
}

/**
 * SQL text: the message of the id, as `m`. A plain join reads all messages there are where the planner takes the table for
 * small, and a prepared statement keeps that plan while the table grows.
 */
export function messageOf(id: string): string {
  return `cross join lateral (select * from messages where messages.id = ${id} limit 1) m`;
}

/** A message as the context window reads it; it has `parts` only without a `prompt`. */
export type BranchMessage = {
  id: string;
  role: 'user' | 'assistant';
  prompt: string | null;
  promptTokens: number | null;
  usage: { inputTokens: number; outputTokens: number; reasoningTokens?: number } | null;
  parts: string | null;
  /** Tool calls up to here are sent in short form. */
  isPruned: boolean;
  /** Comes with the first request of a branch whose earlier messages are not sent; nothing follows. */
  start: BranchStart | null;
};

/** Messages up to that one are not sent; the summary, if there is one, replaces them. */
type BranchStart = { upToId: string; summary: BranchSummary | null };
type BranchSummary = { id: string; upToId: string; text: string };

export type BranchRead = {
  chatId: string;
  leafId: string;
  /** The newest message that is no longer read: the start of the context (`contextStartMessageId`). */
  stopBeforeId: string | null;
  pageSize: number;
  /** For a summary, messages that were cut without one are read too, and those of a summary that is made again. */
  forSummary?: { again: string | null } | undefined;
};

/** A page ends early if its parts are longer than this. */
const pageBytes = 4_000_000;

/** `$5`: reads past cuts; `$6`: and past that summary. Of two rows of a message the summary counts. */
const isStart = `s.kind = 'summary' and s.id is distinct from $6 or s.kind = 'cut' and not $5`;
const branchPage = {
  name: 'branch-page',
  text: `with recursive branch as (
      select id, parent_id, 1 as depth, octet_length(parts)::int8 as bytes
      from messages where id = $2 and chat_id = $1 and id is distinct from $3
      union all
      select m.id, m.parent_id, b.depth + 1, b.bytes + octet_length(m.parts)
      from branch b ${messageOf('b.parent_id')}
      where b.depth < $4 and b.bytes < ${pageBytes} and m.id is distinct from $3
        and not exists (select from summaries s where s.up_to_message_id = b.id and (${isStart}))
    )
    select m.id, m.parent_id, m.role, m.prompt, m.prompt_tokens, m.usage, case when m.prompt is null then m.parts end as parts,
      exists (select from summaries s where s.up_to_message_id = m.id and s.kind = 'prune') as is_pruned,
      t.kind as start_kind, u.id as summary_id, u.text as summary_text,
      u.up_to_message_id as summary_up_to, f.id as first_id, f.prompt as first_prompt,
      f.prompt_tokens as first_tokens, case when f.prompt is null then f.parts end as first_parts
    from branch b ${messageOf('b.id')}
    left join lateral (select * from summaries s where s.up_to_message_id = m.id and (${isStart}) order by s.kind desc limit 1) t
      on true
    left join lateral (
      select * from summaries where summaries.id = case t.kind when 'summary' then t.id else t.base_id end limit 1
    ) u on true
    left join lateral (select * from messages where messages.id = t.first_message_id limit 1) f on true
    order by b.depth`,
};
type BranchRow = Pick<MessagesTable, 'id' | 'parent_id' | 'role' | 'prompt' | 'prompt_tokens'> & {
  usage: BranchMessage['usage'];
  parts: string | null;
  is_pruned: boolean;
  start_kind: 'summary' | 'cut' | null;
  summary_id: string | null;
  summary_text: string | null;
  summary_up_to: string | null;
  first_id: string | null;
  first_prompt: string | null;
  first_tokens: number | null;
  first_parts: string | null;
};

/** Walks a branch from its leaf toward the start of the context, page by page, as far as the consumer reads. */
export async function* readBranchNewestFirst(
  db: Pick<Database, 'pool'>,
  { chatId, leafId, stopBeforeId, pageSize, forSummary }: BranchRead,
): AsyncGenerator<BranchMessage, void, undefined> {
  let next: string | null = leafId;
  let isPruned = false;
  while (next !== null) {
    const passing = [forSummary !== undefined, forSummary?.again ?? null];
    const values: unknown[] = [chatId, next, stopBeforeId, pageSize, ...passing];
    const { rows }: { rows: BranchRow[] } = await db.pool.query<BranchRow>({ ...branchPage, values });
    for (const row of rows) {
      if (row.start_kind !== null) {
        yield startOf(row);
        return;
      }
      isPruned ||= row.is_pruned;
      const { id, role, prompt, prompt_tokens: promptTokens, usage, parts } = row;
      yield { id, role, prompt, promptTokens, usage, parts, isPruned, start: null };
    }
    next = rows.at(-1)?.parent_id ?? null;
    if (next === stopBeforeId) return;
  }
}

function startOf(row: BranchRow): BranchMessage {
  const { summary_id: id, summary_text: text, summary_up_to: upToId } = row;
  const summary = id === null || text === null || upToId === null ? null : { id, upToId, text };
  return {
    id: row.first_id ?? '',
    role: 'user',
    prompt: row.first_id === null ? '' : row.first_prompt,
    promptTokens: row.first_tokens ?? 0,
    usage: null,
    parts: row.first_parts,
    isPruned: false,
    start: { upToId: row.id, summary },
  };
}
