import { randomUUIDv7 } from 'node:crypto';
import type { Summary } from '@homeport/contracts/chat/summaries';
import { ApiError } from '@homeport/contracts/errors';
import { sql } from 'kysely';
import { viewSummary } from '../../conversations/branch-summaries.ts';
import { countingCompaction } from '../../conversations/chats.ts';
import type { Queryable } from '../../db/pool.ts';
import type { ResponseRow } from '../ledger/response-start.ts';

/** Start of the context of a branch. This file alone writes the table `summaries`. */

type Writer = Pick<ResponseRow, 'id' | 'chat_id' | 'generation'>;

/** Record about the messages up to one of them. All writes are fenced: a replica that lost its lease writes nothing. */
export type NewStart = {
  upToId: string;
  /** The summary that replaces them; without one they are omitted. */
  text?: string;
  /** The summary that stays in force before a cut. */
  baseId?: string;
  /** Tool calls up to that message go in short. */
  pruneUpToId?: string;
  /** The first request, if it is known. */
  firstId?: string;
  /** Nothing before this message belongs to the context. */
  contextStartId: string | null;
  /** True when a person requested it: an existing summary is replaced. */
  isRequested?: boolean;
};

export type WrittenStart = {
  id: string;
  text: string;
  first: { id: string; prompt: string | null; promptTokens: number | null; parts: string | null } | null;
};

type WrittenRow = {
  id: string;
  text: string;
  first_id: string | null;
  prompt: string | null;
  prompt_tokens: number | null;
  parts: string | null;
};

/**
 * Records where the context begins from now on, in one statement, once for each message. Undefined if another replica
 * has taken over the response. A record written concurrently by another one is kept.
 */
export async function writeStart(db: Queryable, writer: Writer, start: NewStart): Promise<WrittenStart | undefined> {
  const {
    upToId,
    text,
    baseId = null,
    pruneUpToId = null,
    firstId = null,
    contextStartId,
    isRequested = false,
  } = start;
  const kind = text === undefined ? 'cut' : 'summary';
  const { rows } = await sql<WrittenRow>`
    with recursive held as (
      select id from responses where id = ${writer.id} and generation = ${writer.generation} and state = 'running' for share
    ), above as (
      select m.id, m.parent_id, m.role, 1 as depth from messages m
      where ${firstId}::text is null and m.id = ${upToId} and m.chat_id = ${writer.chat_id}
      union all
      select m.id, m.parent_id, m.role, a.depth + 1 from above a join messages m on m.id = a.parent_id
      where m.id is distinct from ${contextStartId}::text
    ), made as (
      insert into summaries as s (id, chat_id, up_to_message_id, kind, text, base_id, first_message_id)
      select ${randomUUIDv7()}, ${writer.chat_id}, ${upToId}, ${kind}, ${text ?? ''}, ${baseId},
        coalesce(${firstId}, (select id from above where role = 'user' order by depth desc limit 1))
      from held
      on conflict (up_to_message_id, kind) do update
        set text = case when ${isRequested} then excluded.text else s.text end,
          created_at = case when ${isRequested} then excluded.created_at else s.created_at end
      returning *
    ), pruned as (
      insert into summaries (id, chat_id, up_to_message_id, kind, base_id)
      select ${randomUUIDv7()}, ${writer.chat_id}, ${pruneUpToId}, 'prune', case made.kind when 'summary' then made.id else made.base_id end
      from made where ${pruneUpToId}::text is not null
      on conflict (up_to_message_id, kind) do nothing
    ), counted as (${countingCompaction(writer.chat_id, 'done', sql`exists (select from made where kind = 'summary')`)})
    select made.id, made.text, f.id as first_id, f.prompt, f.prompt_tokens, case when f.prompt is null then f.parts end as parts
    from made left join messages f on f.id = made.first_message_id`.execute(db);
  const row = rows[0];
  if (row === undefined) return undefined;
  const { id, prompt, prompt_tokens: promptTokens, parts } = row;
  const first = row.first_id === null ? null : { id: row.first_id, prompt, promptTokens, parts };
  return { id, text: row.text, first };
}

/** Shortens the tool calls up to that message from now on. False if another replica has taken over the response. */
export async function writePruning(db: Queryable, writer: Writer, upToId: string): Promise<boolean> {
  const { rows } = await sql`
    with held as (
      select id from responses where id = ${writer.id} and generation = ${writer.generation} and state = 'running' for share
    ), made as (
      insert into summaries (id, chat_id, up_to_message_id, kind)
      select ${randomUUIDv7()}, ${writer.chat_id}, ${upToId}, 'prune' from held
      on conflict (up_to_message_id, kind) do nothing
    ) select id from held`.execute(db);
  return rows.length > 0;
}

/** Counts a failure; after some in a row summaries are made only when a person asks. */
export async function countFailure(db: Queryable, writer: Writer): Promise<void> {
  const held = sql`exists (select from responses where id = ${writer.id} and generation = ${writer.generation} and state = 'running')`;
  await countingCompaction(writer.chat_id, 'failed', held).execute(db);
}

/** Changes a summary's text; the caller has checked whose conversation it is. Throws `not_found`. */
export async function editSummary(db: Queryable, chatId: string, id: string, text: string): Promise<Summary> {
  const row = await db
    .updateTable('summaries')
    .set({ text })
    .where('id', '=', id)
    .where('chat_id', '=', chatId)
    .where('kind', '=', 'summary')
    .returning(['id', 'up_to_message_id', 'text', 'created_at'])
    .executeTakeFirst();
  if (row === undefined) throw summaryNotFound();
  return viewSummary(row);
}

/** Undoes a summary with all that builds on it, and makes no other by itself. Throws `not_found`. */
export async function undoSummary(db: Queryable, chatId: string, id: string): Promise<void> {
  const { rows } = await sql`
    with gone as (
      delete from summaries where id = ${id} and chat_id = ${chatId} and kind = 'summary' returning id
    ), counted as (${countingCompaction(chatId, 'undone', sql`exists (select from gone)`)})
    select id from gone`.execute(db);
  if (rows.length === 0) throw summaryNotFound();
}

function summaryNotFound(): ApiError {
  return new ApiError('not_found', 'Summary not found');
}
