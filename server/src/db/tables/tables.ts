import type { InstructionLayer } from '@homeport/contracts/chat/context';
import type { Parameters } from '@homeport/contracts/chat/parameters';
import type { WorkspaceNotes } from '@homeport/contracts/workspace/daemon';
import type { ColumnType, Generated } from 'kysely';
import type { CreatedAt, Flag, Json, Sequence, WithDefault } from '../columns.ts';
import type {
  AssistantsTable,
  AssistantVersionsTable,
  McpDriftNoticesTable,
  McpGrantsTable,
  McpOffersTable,
  McpServersTable,
  McpSignInsTable,
  ModelRegistryTable,
  ModelStandInsTable,
  ModelsTable,
  ModelTiersTable,
  PromptsTable,
  PromptUsesTable,
  ProviderSharesTable,
  ProvidersTable,
  ShippedSkillsOffTable,
  SkillFilesTable,
  SkillNoticesTable,
  SkillsTable,
  SkillTrustsTable,
} from './catalogue.ts';
import type {
  ChatsTable,
  InputsTable,
  MessagesTable,
  PlansTable,
  ResponseFramesTable,
  ResponsesTable,
  SummariesTable,
  ToolApprovalsTable,
  ToolRulesTable,
} from './chat.ts';
import type { ImportEntriesTable, ImportsTable } from './imports.ts';
import type {
  AccessTokensTable,
  AuditEventsTable,
  CredentialsTable,
  InstallationTable,
  InvitationsTable,
  SessionsTable,
  SettingsTable,
  SignInAddressesTable,
  SignInFailuresTable,
  UsersTable,
  VerificationsTable,
  WebSearchSettingsTable,
  WebSourcesTable,
} from './people.ts';
import type { ShareFilesTable, ShareMessagesTable, SharePeopleTable, SharesTable, ShareTriesTable } from './sharing.ts';

/** Rows as Kysely sees them; the SQL of `migrations/` is the truth. Columns keep their SQL names. */

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

export type BlobsTable = { sha256: string; key: string; size: number };

export type ArtifactsTable = {
  id: string;
  /** Exactly one of these three is set. */
  chat_id: string | null;
  project_id: string | null;
  assistant_id: Generated<string | null>;
  /** `chat:<id>`, `project:<id>` or `assistant:<id>`. */
  namespace: ColumnType<string, never, never>;
  path: string;
  search: string;
  media_type: string;
  size: number;
  sha256: string;
  created_by: string | null;
  /** Origin of an attached file: an MCP server and the address of its resource. */
  source: string | null;
  version: Generated<number>;
  /** Of the present content, if it is not the first. */
  changed_by: Generated<string | null>;
  changed_at: ColumnType<Date | null, never, Date>;
  created_at: CreatedAt;
};

type ArtifactVersionsTable = {
  artifact_id: string;
  version: number;
  media_type: string;
  size: number;
  sha256: string;
  author_id: string | null;
  created_at: Date;
};

type ArtifactImportsTable = { source: string; artifact_id: string; target: string; path: string };

export type WorkspacesTable = {
  user_id: string;
  slot: Sequence;
  phase: Generated<'stopped' | 'starting' | 'running' | 'stopping'>;
  generation: Generated<number>;
  runtime: 'local' | 'docker' | 'kubernetes' | null;
  host: string | null;
  token_hash: string | null;
  model_token_hash: string | null;
  key_id: string | null;
  op_owner: string | null;
  op_until: Date | null;
  message: string | null;
  stop_reason: 'person' | 'idle' | 'age' | 'disabled' | 'failed' | 'lost' | 'release' | null;
  last_error: string | null;
  started_at: Date | null;
  last_activity_at: Generated<Date>;
  used: Generated<boolean>;
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

/** The context of a model for one answer; texts by their hash in `told_texts`. Tokens are estimates. */
export type ToldContext = {
  model: { providerName: string; providerModelId: string };
  parameters: Parameters;
  instructions: { layer: InstructionLayer; hash: string; tokens: number }[];
  /** Hash of a JSON text: `{name, tokens}[]`. */
  tools: string;
  /** The oldest message that was sent, apart from the first request; null: none. */
  firstMessageId: string | null;
  /** The first request, which is sent before the gap. */
  requestId: string | null;
  /** The hash of the summary that replaced the messages up to that one. */
  summary: { hash: string; upToId: string; tokens: number } | null;
  /** It was made with this answer, whose usage counts it as well. */
  madeSummary?: boolean;
  /** Tool calls up to that message were sent in short form. */
  prunedUpToId: string | null;
  /** How many tokens an estimated token of a message was expected to be here. */
  ratio: number;
  /** Tokens of all attached files, and the newest messages that had some. Absent with older answers. */
  files?: { total: number; messages: Record<string, { tokens: number; files: number }> };
  tokens: number;
  window: number;
  answerRoom: number;
};

type WorkspaceHostsTable = { runtime: 'local'; host: string; name: string; seen_at: Generated<Date> };

type BackupsTable = {
  id: string;
  cause: 'command' | 'schedule' | 'page';
  state: 'running' | 'done' | 'failed';
  place: string;
  progress: WithDefault<{ step?: string; rows?: number; files?: number; bytes?: number }>;
  error: string | null;
  size: number | null;
  sha256: string | null;
  lease_until: ColumnType<Date, Date, Date>;
  started_at: CreatedAt;
  finished_at: Date | null;
};

type MaintenanceTable = { singleton: Generated<boolean>; since: Date | null; message: string | null };

type BudgetsTable = {
  scope: 'everyone' | 'each' | 'person';
  user_id: string | null;
  unit: 'tokens' | 'cost';
  period: 'day' | 'month';
  /** Null: no limit. */
  amount: number | null;
  stops_administrators: Flag;
};

type ReplicasTable = { id: string; release: string; schema: string; host: string; seen_at: Generated<Date> };

export type Tables = {
  users: UsersTable;
  access_tokens: AccessTokensTable;
  sessions: SessionsTable;
  credentials: CredentialsTable;
  verifications: VerificationsTable;
  sign_in_addresses: SignInAddressesTable;
  sign_in_failures: SignInFailuresTable;
  installation: InstallationTable;
  settings: SettingsTable;
  invitations: InvitationsTable;
  web_search_settings: WebSearchSettingsTable;
  web_sources: WebSourcesTable;
  audit_events: AuditEventsTable;
  model_tiers: ModelTiersTable;
  providers: ProvidersTable;
  provider_shares: ProviderSharesTable;
  model_stand_ins: ModelStandInsTable;
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
  skills: SkillsTable;
  skill_files: SkillFilesTable;
  skill_trusts: SkillTrustsTable;
  skill_notices: SkillNoticesTable;
  shipped_skills_off: ShippedSkillsOffTable;
  blobs: BlobsTable;
  artifacts: ArtifactsTable;
  artifact_imports: ArtifactImportsTable;
  artifact_versions: ArtifactVersionsTable;
  mcp_servers: McpServersTable;
  mcp_drift_notices: McpDriftNoticesTable;
  mcp_grants: McpGrantsTable;
  mcp_offers: McpOffersTable;
  mcp_sign_ins: McpSignInsTable;
  tool_approvals: ToolApprovalsTable;
  plans: PlansTable;
  tool_rules: ToolRulesTable;
  workspaces: WorkspacesTable;
  workspace_leases: WorkspaceLeasesTable;
  workspace_notes: { user_id: string; notes: ColumnType<WorkspaceNotes, string, string> };
  chat_folders: { chat_id: string; folder: string };
  workspace_hosts: WorkspaceHostsTable;
  model_registry: ModelRegistryTable;
  told_texts: ToldTextsTable;
  told_contexts: ToldContextsTable;
  backups: BackupsTable;
  maintenance: MaintenanceTable;
  replicas: ReplicasTable;
  budgets: BudgetsTable;
  imports: ImportsTable;
  import_entries: ImportEntriesTable;
  shares: SharesTable;
  share_people: SharePeopleTable;
  share_messages: ShareMessagesTable;
  share_files: ShareFilesTable;
  share_tries: ShareTriesTable;
};
