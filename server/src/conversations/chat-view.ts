import type { Chat } from '@homeport/contracts/chat/conversations';
import { columnList } from '../db/column-list.ts';
import { microsOf } from '../db/keyset.ts';

/** A conversation as `chatColumns` reads it. Times are microseconds: a cursor needs PostgreSQL's full precision. */
export type ChatRow = {
  id: string;
  title: string;
  archived: boolean;
  project_id: string | null;
  model_pinned: boolean;
  model_id: string | null;
  mcp_server_ids: string[] | null;
  context_start_message_id: string | null;
  assistant_id: string | null;
  auto_compaction: boolean;
  instructions: string | null;
  parameters: Chat['parameters'];
  tool_rules: Chat['toolRules'];
  temporary: boolean;
  created_micros: number;
  updated_micros: number;
  running: boolean;
  waiting: boolean;
  last_status: Chat['lastStatus'];
};

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

/** Columns of `chats c` for a `ChatRow`. */
const columns = {
  id: 'c.id',
  title: 'c.title',
  archived: 'c.archived',
  project_id: 'c.project_id',
  model_pinned: 'c.model_pinned',
  model_id: 'c.model_id',
  mcp_server_ids: 'c.mcp_server_ids',
  context_start_message_id: 'c.context_start_message_id',
  assistant_id: 'c.assistant_id',
  auto_compaction: 'c.auto_compaction',
  instructions: 'c.instructions',
  parameters: 'c.parameters',
  tool_rules: toolRulesColumn,
  temporary: 'c.temporary',
  created_micros: microsOf('c.created_at'),
  updated_micros: microsOf('c.updated_at'),
  running: runningColumn,
  waiting: waitingColumn,
  last_status: lastStatusColumn,
};
export const chatColumns = columnList<ChatRow>(columns);

/** The same of a row that has just been inserted: nothing refers to it, so that nothing is looked for. */
export const newChatColumns = columnList<ChatRow>({
  ...columns,
  running: 'false',
  waiting: 'false',
  last_status: 'null::text',
});

/** The wire form (contract.md section 5). A pin whose model was deleted counts as none. */
export function viewChat(row: ChatRow): Chat {
  const modelPinned = row.model_pinned && row.model_id !== null;
  return {
    id: row.id,
    title: row.title,
    archived: row.archived,
    projectId: row.project_id,
    modelPinned,
    modelId: modelPinned ? row.model_id : null,
    mcpServerIds: row.mcp_server_ids,
    contextStartMessageId: row.context_start_message_id,
    assistantId: row.assistant_id,
    autoCompaction: row.auto_compaction,
    instructions: row.instructions,
    parameters: row.parameters,
    toolRules: row.tool_rules,
    temporary: row.temporary,
    running: row.running,
    waiting: row.waiting,
    lastStatus: row.last_status,
    createdAt: isoTime(row.created_micros),
    updatedAt: isoTime(row.updated_micros),
  };
}

function isoTime(micros: number): string {
  return new Date(Math.floor(micros / 1000)).toISOString();
}
