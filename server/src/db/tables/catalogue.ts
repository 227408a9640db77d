import type { Abilities, FactName, FactSource, Prices } from '@homeport/contracts/catalogue/model-facts';
import type { ProviderKind } from '@homeport/contracts/catalogue/provider-kinds';
import type { Parameters } from '@homeport/contracts/chat/parameters';
import type { ColumnType, Generated } from 'kysely';
import type { CreatedAt, Flag, Json, NullableJson, Sequence, UpdatedAt, WithDefault } from '../columns.ts';

/** Rows about models, tools and assistants; see tables.ts. */

export type ModelTiersTable = { owner_id: string; value: number; label: string; position: number };

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
  first_byte_seconds: number | null;
  /** `users`: those of `provider_shares`. */
  shared_with: Generated<'none' | 'everyone' | 'users'>;
  region: string | null;
  only_regions: WithDefault<string[]>;
  created_at: CreatedAt;
  updated_at: UpdatedAt;
};

export type ProviderSharesTable = { provider_id: string; user_id: string };

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

export type ModelStandInsTable = { model_id: string; position: number; stand_in_id: string };

type Audience = 'me' | 'project' | 'everyone';

/** The content is in its newest version. */
export type AssistantsTable = {
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
  /** Users that had access to this version. */
  audience: Audience;
  project_id: string | null;
  name: string;
  description: string;
  icon: string | null;
  instructions: string | null;
  model_id: string | null;
  /** Of `model_id`; it finds the same model in another catalogue. */
  provider_model_id: string | null;
  tier: number | null;
  parameters: Json<Parameters>;
  mcp_server_ids: NullableJson<string[]>;
  workspace: boolean;
  starters: Json<string[]>;
  adds_files: Generated<boolean>;
  created_at: CreatedAt;
};

export type PromptsTable = {
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

export type SkillsTable = {
  id: string;
  owner_id: string;
  audience: Audience;
  project_id: string | null;
  name: string;
  description: string;
  fingerprint: string;
  enabled: Generated<boolean>;
  files: number;
  bytes: number;
  created_at: CreatedAt;
  updated_at: UpdatedAt;
};

export type SkillFilesTable = { skill_id: string; path: string; content: Buffer; sha256: string };

export type SkillTrustsTable = {
  user_id: string;
  skill_id: string;
  fingerprint: string;
  /** The SHA-256 of each file by its path. */
  files: ColumnType<Record<string, string>, string, string>;
  trusted_at: CreatedAt;
};

export type SkillNoticesTable = { skill_id: string; chat_id: string; fingerprint: string };

/** Skills of the release that are switched off: by a person, or for everyone (null). */
export type ShippedSkillsOffTable = { name: string; user_id: string | null };

export type PromptUsesTable = { user_id: string; prompt_id: string; used_at: Date };

export type McpServersTable = {
  id: string;
  seq: Sequence;
  owner_id: string;
  name: string;
  url: string;
  transport: 'http' | 'sse' | 'stdio';
  headers: string | null;
  /** Of transport stdio; env is sealed. */
  command: string | null;
  args: NullableJson<string[]>;
  env: string | null;
  /** Version that the server last reported. */
  version: string | null;
  /** The offer that it was added from. */
  offer_id: string | null;
  connection: Generated<'none' | 'needed' | 'connected'>;
  client_id: string | null;
  client_secret: string | null;
  /** The authorization server that the client above belongs to, known after its first use. */
  client_issuer: string | null;
  enabled: Flag;
  revision: Generated<number>;
  /** JSON texts of McpTool[]. */
  tools: Generated<string>;
  fingerprint: string | null;
  trust_state: Generated<'untrusted' | 'trusted' | 'drifted'>;
  trusted_tools: string | null;
  trusted_fingerprint: string | null;
  /** Texts that its owner accepted as changing, as JSON pointers: the trusted ones are used. */
  volatile_texts: WithDefault<string[]>;
  /** The trust is the offer's and changes with it. */
  trusted_with_offer: Flag;
  /** The owner withdrew the trust that came with the offer. */
  offer_trust_declined: Flag;
  tool_policies: Json<Record<string, 'allow' | 'ask' | 'deny'>>;
  /** Of the definitions that a user last reviewed. */
  reviewed_fingerprint: string | null;
  last_tested_at: Date | null;
  last_error: string | null;
  created_at: CreatedAt;
  updated_at: UpdatedAt;
};

/** Servers that administrators offer to everyone. */
export type McpOffersTable = {
  id: string;
  seq: Sequence;
  name: string;
  description: Generated<string>;
  url: string;
  transport: 'http' | 'sse' | 'stdio';
  command: string | null;
  args: NullableJson<string[]>;
  client_id: string | null;
  header_names: Json<string[]>;
  env_names: Json<string[]>;
  /** JSON text of McpTool[]: the definitions that an administrator trusted for everyone. */
  trusted_tools: string | null;
  trusted_fingerprint: string | null;
  volatile_texts: WithDefault<string[]>;
  trusted_by: string | null;
  trusted_at: Date | null;
  created_at: CreatedAt;
  updated_at: UpdatedAt;
};

/** Encrypted results of OAuth sign-ins to a server. */
export type McpGrantsTable = {
  server_id: string;
  envelope: string | null;
  generation: Generated<number>;
  refreshing_until: Date | null;
  wanted: NullableJson<{ metadataUrl?: string; scope?: string }>;
};

export type McpSignInsTable = { state: string; server_id: string; session_id: string; value: string; expires_at: Date };

/** The fingerprint of the last drift notice in a conversation. */
export type McpDriftNoticesTable = { server_id: string; chat_id: string; fingerprint: string };

export type ModelRegistryTable = {
  singleton: Generated<boolean>;
  /** Set by the database; an update sets it to `default`, the next number. */
  revision: ColumnType<number, never, number>;
  content: string;
  uploaded_at: UpdatedAt;
};
