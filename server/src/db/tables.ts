import type { AboutMe } from '@homeport/contracts/accounts';
import type { ProviderKind } from '@homeport/contracts/catalogue';
import type { InstructionLayer } from '@homeport/contracts/context';
import type { Abilities, FactName, FactSource, Prices } from '@homeport/contracts/model-facts';
import type { Parameters } from '@homeport/contracts/parameters';
import type { ColumnType, Generated } from 'kysely';

/** Rows as Kysely sees them; the SQL of `migrations/` is the truth. Columns keep their SQL names. */

type CreatedAt = ColumnType<Date, Date | undefined, never>;
type UpdatedAt = ColumnType<Date, Date | undefined, Date>;
type Flag = ColumnType<boolean, boolean | undefined, boolean>;
type Sequence = ColumnType<number, never, never>;
/** jsonb: read parsed, written as JSON text. */
type Json<T> = ColumnType<T, string, string>;
/** jsonb with a default. */
type WithDefault<T> = ColumnType<T, string | undefined, string>;
type NullableJson<T> = ColumnType<T | null, string | null | undefined, string | null>;

export type UsersTable = {
  id: string;
  name: string;
  email: string;
  email_verified: Flag;
  image: string | null;
  role: 'admin' | 'user';
  enabled: Flag;
  must_change_password: Flag;
  provider_settings_enabled: Flag;
  mcp_settings_enabled: Flag;
  instructions: string | null;
  about_me: NullableJson<Partial<AboutMe>>;
  created_at: CreatedAt;
  updated_at: UpdatedAt;
};

export type SessionsTable = {
  id: string;
  user_id: string;
  token: string;
  expires_at: Date;
  ip_address: string | null;
  user_agent: string | null;
  created_at: CreatedAt;
  updated_at: UpdatedAt;
};

type CredentialsTable = {
  id: string;
  user_id: string;
  account_id: string;
  provider_id: string;
  issuer: string | null;
  password: string | null;
  access_token: string | null;
  refresh_token: string | null;
  id_token: string | null;
  access_token_expires_at: Date | null;
  refresh_token_expires_at: Date | null;
  scope: string | null;
  created_at: CreatedAt;
  updated_at: UpdatedAt;
};

type VerificationsTable = {
  id: string;
  identifier: string;
  value: string;
  expires_at: Date;
  created_at: CreatedAt;
  updated_at: UpdatedAt;
};

type SignInFailuresTable = { id: Sequence; address: string; email: string; at: CreatedAt; failed: Flag };

type SignInAddressesTable = { address: string; email: string; at: UpdatedAt };

type InstallationTable = {
  singleton: Generated<boolean>;
  setup_completed_at: Date | null;
  setup_user_id: string | null;
  id: Generated<string>;
  key_canary: string | null;
  store_marked: Flag;
};

export type InvitationsTable = {
  id: string;
  email: string;
  name: string | null;
  role: 'admin' | 'user';
  provider_settings_enabled: boolean;
  mcp_settings_enabled: boolean;
  token_hash: string;
  created_by: string;
  created_at: Date;
  expires_at: Date;
  accepted_at: Date | null;
  accepted_by: string | null;
  revoked_at: Date | null;
};

type AuditEventsTable = {
  id: string;
  at: Date;
  actor_id: string | null;
  action: string;
  target_type: string | null;
  target_id: string | null;
  address: string | null;
  request_id: string | null;
  details: Json<Record<string, unknown>>;
};

/** One row; see settings/. */
export type SettingsTable = {
  singleton: Generated<boolean>;
  branding: Json<Record<string, unknown>>;
  oidc: Json<Record<string, unknown>>;
  oidc_client_secret: string | null;
  oidc_revision: ColumnType<number, never, number>;
  instructions: string | null;
  updated_at: UpdatedAt;
};

type ModelTiersTable = { owner_id: string; value: number; label: string; position: number };

export type ProvidersTable = {
  id: string;
  seq: Sequence;
  owner_id: string;
  name: string;
  kind: Generated<ProviderKind>;
  base_url: string;
  api_key: string | null;
  headers: string | null;
  enabled: Flag;
  created_at: CreatedAt;
  updated_at: UpdatedAt;
};

export type ModelsTable = {
  id: string;
  seq: Sequence;
  owner_id: string;
  provider_id: string;
  provider_model_id: string;
  display_name: string;
  context_window: number;
  max_output_tokens: number;
  tier: number;
  enabled: Flag;
  is_default: Flag;
  parameters: WithDefault<Parameters>;
  abilities: NullableJson<Abilities>;
  prices: NullableJson<Prices>;
  sources: WithDefault<Partial<Record<FactName, FactSource>>>;
  created_at: CreatedAt;
};

type ChatsTable = {
  id: string;
  owner_id: string;
  title: string;
  title_source: Generated<'none' | 'instant' | 'model' | 'person'>;
  archived: Flag;
  project_id: string | null;
  model_pinned: Flag;
  model_id: string | null;
  mcp_server_ids: NullableJson<string[]>;
  tool_rules: NullableJson<unknown>;
  assistant_id: string | null;
  assistant_notice: string | null;
  context_start_message_id: string | null;
  instructions: string | null;
  parameters: WithDefault<Parameters>;
  temporary: Flag;
  active_message_id: string | null;
  title_search: ColumnType<string, never, never>;
  auto_compaction: Flag;
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
  /** JSON text of the provider messages this one becomes, without the array's brackets. */
  prompt: string | null;
  prompt_tokens: number | null;
  status: MessageStatus;
  error_code: string | null;
  error_message: string | null;
  model_id: string | null;
  usage: NullableJson<{ inputTokens: number; outputTokens: number; reasoningTokens?: number }>;
  search: string | null;
  /** Which assistant answered, as it was called then. */
  assistant: NullableJson<{ id: string; name: string; version: number }>;
  created_at: CreatedAt;
};

type SummariesTable = {
  id: string;
  chat_id: string;
  up_to_message_id: string;
  kind: 'summary' | 'cut' | 'prune';
  text: Generated<string>;
  base_id: string | null;
  first_message_id: string | null;
  created_at: CreatedAt;
};

/** The model decision that a submission carries (control-plane-api.md "POST /api/chat"). */
export type Decision = {
  modelPinned?: boolean;
  modelId?: string | null;
  mcpServerIds?: string[] | null;
  parameters?: Parameters;
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
  end_frames: string | null;
  /** What its model wants back unread within this turn: JSON text, for servers of models alone. */
  echoes: string | null;
  /** `focus`: what a summary that a person asked for is to look at most. */
  decision: Json<Decision & { focus?: string }>;
  started_at: CreatedAt;
  ended_at: Date | null;
  kind: Generated<'answer' | 'compaction'>;
};

type ResponseFramesTable = {
  response_id: string;
  generation: number;
  seq_from: number;
  seq_to: number;
  frames: string;
};

type ProjectsTable = {
  id: string;
  name: string;
  archived: Flag;
  instructions: string | null;
  created_at: CreatedAt;
};

type ProjectMembersTable = {
  project_id: string;
  user_id: string;
  role: 'owner' | 'member';
  added_at: CreatedAt;
};

type Audience = 'me' | 'project' | 'everyone';

/** What is in it stands in its newest version. */
type AssistantsTable = {
  id: string;
  owner_id: string;
  audience: Audience;
  project_id: string | null;
  version: number;
  created_at: CreatedAt;
};

export type AssistantVersionsTable = {
  assistant_id: string;
  version: number;
  author_id: string | null;
  /** Who could use it then. */
  audience: Audience;
  project_id: string | null;
  name: string;
  description: string;
  icon: string | null;
  instructions: string | null;
  model_id: string | null;
  /** Of `model_id`: finds the same model in another catalogue. */
  provider_model_id: string | null;
  tier: number | null;
  parameters: Json<Parameters>;
  mcp_server_ids: NullableJson<string[]>;
  workspace: boolean;
  starters: Json<string[]>;
  created_at: CreatedAt;
};

type PromptsTable = {
  id: string;
  owner_id: string;
  audience: Audience;
  project_id: string | null;
  name: string;
  title: string;
  text: string;
  created_at: CreatedAt;
  updated_at: UpdatedAt;
};

type PromptUsesTable = { user_id: string; prompt_id: string; used_at: Date };

export type BlobsTable = { sha256: string; key: string; size: number };

export type ArtifactsTable = {
  id: string;
  /** Exactly one of these two. */
  chat_id: string | null;
  project_id: string | null;
  /** `chat:<id>` or `project:<id>`. */
  namespace: ColumnType<string, never, never>;
  path: string;
  search: string;
  media_type: string;
  size: number;
  sha256: string;
  created_by: string | null;
  created_at: CreatedAt;
};

type ArtifactImportsTable = { source: string; artifact_id: string; target: string; path: string };

export type McpServersTable = {
  id: string;
  seq: Sequence;
  owner_id: string;
  name: string;
  url: string;
  transport: 'http' | 'sse';
  headers: string | null;
  enabled: Flag;
  revision: Generated<number>;
  /** JSON texts of McpTool[]. */
  tools: Generated<string>;
  fingerprint: string | null;
  trust_state: Generated<'untrusted' | 'trusted' | 'drifted'>;
  trusted_tools: string | null;
  trusted_fingerprint: string | null;
  tool_policies: Json<Record<string, 'allow' | 'ask' | 'deny'>>;
  /** Of the definitions that somebody looked at last. */
  reviewed_fingerprint: string | null;
  last_tested_at: Date | null;
  last_error: string | null;
  created_at: CreatedAt;
  updated_at: UpdatedAt;
};

/** What a conversation was told of last. */
type McpDriftNoticesTable = { server_id: string; chat_id: string; fingerprint: string };

type ToolApprovalsTable = {
  id: string;
  response_id: string;
  chat_id: string;
  tool_call_id: string;
  tool_name: string;
  approved: boolean | null;
  reason: string | null;
  answered_at: Date | null;
  settled_at: Date | null;
  created_at: CreatedAt;
};

export type WorkspacesTable = {
  user_id: string;
  slot: Sequence;
  phase: Generated<'stopped' | 'starting' | 'running' | 'stopping'>;
  generation: Generated<number>;
  runtime: 'local' | 'docker' | 'kubernetes' | null;
  host: string | null;
  token_hash: string | null;
  key_id: string | null;
  op_owner: string | null;
  op_until: Date | null;
  message: string | null;
  stop_reason: 'person' | 'idle' | 'age' | 'disabled' | 'failed' | 'lost' | null;
  last_error: string | null;
  started_at: Date | null;
  last_activity_at: Generated<Date>;
  created_at: CreatedAt;
};

type WorkspaceLeasesTable = {
  id: string;
  user_id: string;
  generation: number;
  kind: 'turn' | 'exec' | 'terminal' | 'transfer';
  expires_at: Date;
};

type ToldTextsTable = { hash: string; owner_id: string; chat_id: string | null; text: string };

type ToldContextsTable = { message_id: string; context: Json<ToldContext> };

/** What was told with one answer; texts by their hash in `told_texts`. Tokens are estimates. */
export type ToldContext = {
  model: { providerName: string; providerModelId: string };
  parameters: Parameters;
  instructions: { layer: InstructionLayer; hash: string; tokens: number }[];
  /** Hash of a JSON text: `{name, tokens}[]`. */
  tools: string;
  /** The oldest message that was sent, besides the first request; null: none. */
  firstMessageId: string | null;
  /** The first request, which goes before what is left out. */
  requestId: string | null;
  /** The hash of the summary that stood for the messages up to that one. */
  summary: { hash: string; upToId: string; tokens: number } | null;
  /** Tool calls up to that message went in short. */
  prunedUpToId: string | null;
  /** What an estimated token of a message was expected to cost here. */
  ratio: number;
  tokens: number;
  window: number;
  answerRoom: number;
};

type ModelRegistryTable = {
  singleton: Generated<boolean>;
  revision: Sequence;
  content: string;
  uploaded_at: CreatedAt;
};

type WorkspaceHostsTable = { runtime: 'local'; host: string; name: string; seen_at: Generated<Date> };

export type Tables = {
  users: UsersTable;
  sessions: SessionsTable;
  credentials: CredentialsTable;
  verifications: VerificationsTable;
  sign_in_addresses: SignInAddressesTable;
  sign_in_failures: SignInFailuresTable;
  installation: InstallationTable;
  settings: SettingsTable;
  invitations: InvitationsTable;
  audit_events: AuditEventsTable;
  model_tiers: ModelTiersTable;
  providers: ProvidersTable;
  models: ModelsTable;
  chats: ChatsTable;
  messages: MessagesTable;
  summaries: SummariesTable;
  inputs: InputsTable;
  responses: ResponsesTable;
  response_frames: ResponseFramesTable;
  projects: ProjectsTable;
  project_members: ProjectMembersTable;
  assistants: AssistantsTable;
  assistant_versions: AssistantVersionsTable;
  prompts: PromptsTable;
  prompt_uses: PromptUsesTable;
  blobs: BlobsTable;
  artifacts: ArtifactsTable;
  artifact_imports: ArtifactImportsTable;
  mcp_servers: McpServersTable;
  mcp_drift_notices: McpDriftNoticesTable;
  tool_approvals: ToolApprovalsTable;
  workspaces: WorkspacesTable;
  workspace_leases: WorkspaceLeasesTable;
  workspace_hosts: WorkspaceHostsTable;
  model_registry: ModelRegistryTable;
  told_texts: ToldTextsTable;
  told_contexts: ToldContextsTable;
};
