import { type Chat, chat } from '@homeport/contracts/chat/conversations';
import { fieldList } from '../db/column-list.ts';
import { microsOf } from '../db/keyset.ts';

/** A conversation as `chatColumns` reads it. Times are microseconds: a cursor needs PostgreSQL's full precision. */
export type ChatRow = Omit<Chat, 'createdAt' | 'updatedAt'> & { createdAt: number; updatedAt: number };

/**
 * True while a response is running or inputs are queued. Scalar subqueries: two index probes per row, never a hash of
 * everything that runs.
 */
export const runningColumn = `
  coalesce((select true from responses r where r.chat_id = c.id and r.state = 'running'),
    (select true from inputs i where i.chat_id = c.id and i.state = 'queued' limit 1), false)`;

/** True while the response at the end of the active branch waits for approval, running or interrupted. */
const waitingColumn = `
  coalesce((select true from tool_approvals a where a.response_id = c.active_message_id
    and a.answered_at is null and a.settled_at is null limit 1), false)`;
/** Rules that only an approval left have no preset: the owner's counts. */
const toolRulesColumn = `
  case when c.tool_rules is not null then jsonb_build_object('preset', coalesce(
    (select own.rules ->> 'preset' from tool_rules own where own.user_id = c.owner_id), 'auto')) || c.tool_rules end`;
const lastStatusColumn = '(select m.status from messages m where m.id = c.active_message_id)';

/** Fields of `chats c` that are not just the column of their name. A pin whose model was deleted counts as none. */
const computed = {
  modelPinned: 'c.model_pinned and c.model_id is not null',
  modelId: 'case when c.model_pinned then c.model_id end',
  toolRules: toolRulesColumn,
  running: runningColumn,
  waiting: waitingColumn,
  lastStatus: lastStatusColumn,
  createdAt: microsOf('c.created_at'),
  updatedAt: microsOf('c.updated_at'),
};
const fields = chat.keyof().options;
/** Columns of `chats c` for a `ChatRow`: one for each field of the contract's `chat`. */
export const chatColumns = fieldList(fields, 'c', computed);

/** The same of a row that has just been inserted: nothing refers to it yet. */
export const newChatColumns = fieldList(fields, 'c', {
  ...computed,
  running: 'false',
  waiting: 'false',
  lastStatus: 'null::text',
});

/** The wire form (contract.md section 5). */
export function viewChat(row: ChatRow): Chat {
  return { ...row, createdAt: isoTime(row.createdAt), updatedAt: isoTime(row.updatedAt) };
}

function isoTime(micros: number): string {
  return new Date(Math.floor(micros / 1000)).toISOString();
}
