import type { PlanItem, Question } from '@homeport/contracts/chat/agent';
import type { Chat } from '@homeport/contracts/chat/conversations';
import type { MessageFinishReason } from '@homeport/contracts/chat/finish-reasons';
import type { ErrorDetails, Usage } from '@homeport/contracts/chat/frames';
import type { Parameters } from '@homeport/contracts/chat/parameters';
import type { ToolRule, ToolRules } from '@homeport/contracts/chat/tool-rules';
import type { ColumnType, Generated } from 'kysely';
import type { ColumnsOf, CreatedAt, Flag, Json, NullableJson, Sequence, UpdatedAt } from '../columns.ts';

/** Rows of conversations: messages, inputs, responses and what tools ask. */

type ChatField = Exclude<keyof Chat, 'toolRules' | 'running' | 'waiting' | 'lastStatus' | 'createdAt' | 'updatedAt'>;
export type ChatsTable = ColumnsOf<Pick<Chat, ChatField>> & {
  owner_id: string;
  title_source: Generated<'none' | 'instant' | 'model' | 'person'>;
  tool_rules: NullableJson<Partial<ToolRules>>;
  assistant_notice: string | null;
  active_message_id: string | null;
  title_search: ColumnType<string, never, never>;
  compaction_failures: Generated<number>;
  created_at: CreatedAt;
  updated_at: UpdatedAt;
};

export type MessageStatus = 'complete' | 'streaming' | 'stopped' | 'failed' | 'interrupted';

export type MessagesTable = {
  id: string;
  seq: Sequence;
  chat_id: string;
  parent_id: string | null;
  role: 'user' | 'assistant';
  /** JSON text of MessagePart[]. */
  parts: string;
  /** JSON text of the provider messages that this one becomes, without the array's brackets. */
  prompt: string | null;
  prompt_tokens: number | null;
  status: MessageStatus;
  error_code: string | null;
  error_message: string | null;
  error_details: NullableJson<ErrorDetails>;
  finish_reason: MessageFinishReason | null;
  finish_detail: string | null;
  model_id: string | null;
  usage: NullableJson<Usage>;
  search: string | null;
  /** Which assistant answered, with its name at the time. */
  assistant: NullableJson<{ id: string; name: string; version: number }>;
  /** The message that made the plan in force after this one. */
  plan_id: string | null;
  created_at: CreatedAt;
};

export type PlansTable = {
  message_id: string;
  items: Json<PlanItem[]>;
  updated_at: CreatedAt;
};

export type SummariesTable = {
  id: string;
  chat_id: string;
  up_to_message_id: string;
  kind: 'summary' | 'cut' | 'prune';
  text: Generated<string>;
  base_id: string | null;
  first_message_id: string | null;
  created_at: CreatedAt;
};

/** The model decision in a submission (control-plane-api.md "POST /api/chat"). */
export type Decision = {
  modelPinned?: boolean;
  modelId?: string | null;
  mcpServerIds?: string[] | null;
  web?: boolean | null;
  parameters?: Parameters;
  /** Calls that need approval are refused: the person cannot be asked. */
  isUnattended?: boolean;
};

export type InputsTable = {
  id: string;
  position: Sequence;
  chat_id: string;
  owner_id: string;
  assistant_id: string;
  state: Generated<'queued' | 'applied' | 'cancelled'>;
  parts: string;
  parent_id: string | null;
  parent_given: boolean;
  decision: Json<Decision>;
  request_hash: string;
  start_after: Date;
  /** Set: this one goes before those without, the lowest first (`steering` on the wire). */
  steer_rank: number | null;
  /** The running answer that ends to make room for it. */
  taken_by: string | null;
  /** The answer, when it is not the one with `assistant_id`. */
  answered_by: string | null;
  created_at: CreatedAt;
};

export type ResponseState = 'running' | 'complete' | 'stopped' | 'failed' | 'interrupted';

export type ResponsesTable = {
  id: string;
  chat_id: string;
  message_id: string;
  owner_id: string;
  state: ResponseState;
  replica: string;
  generation: Generated<number>;
  first_seq: Generated<number>;
  last_seq: Generated<number>;
  lease_until: Date;
  stop_requested: Flag;
  /** Ended by a replica that stopped; another one continues it. */
  handed_over: Flag;
  end_frames: string | null;
  /** Opaque data that the model requires back within this turn: JSON text, only for model servers. */
  echoes: string | null;
  /** `focus`: the subject of a requested summary. */
  decision: Json<Decision & { focus?: string }>;
  started_at: CreatedAt;
  ended_at: Date | null;
  kind: Generated<'answer' | 'compaction'>;
};

export type ResponseFramesTable = {
  response_id: string;
  generation: number;
  seq_from: number;
  seq_to: number;
  frames: string;
};

export type ToolApprovalsTable = {
  id: string;
  response_id: string;
  chat_id: string;
  tool_call_id: string;
  tool_name: string;
  rule: NullableJson<ToolRule>;
  approved: boolean | null;
  reason: string | null;
  questions: NullableJson<Question[]>;
  /** The answers to each question; null if the user sent a message instead. */
  answers: NullableJson<string[][]>;
  /** A running tool asks: it ends with its call. */
  live: Generated<boolean>;
  answered_at: Date | null;
  settled_at: Date | null;
  created_at: CreatedAt;
};

export type ToolRulesTable = { user_id: string; rules: Json<ToolRules & { programModels?: boolean }> };
