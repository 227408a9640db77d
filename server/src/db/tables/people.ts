import type { AboutMe } from '@homeport/contracts/accounts/accounts';
import type { TokenScope } from '@homeport/contracts/accounts/token-scopes';
import type { TokenPolicy } from '@homeport/contracts/admin';
import type { TurnBudget } from '@homeport/contracts/chat/turn-budget';
import type { OperationSettings } from '@homeport/contracts/operation-settings';
import type { PeopleSearch } from '@homeport/contracts/projects';
import type { SearchKind } from '@homeport/contracts/search-kinds';
import type { SharingPolicy } from '@homeport/contracts/sharing';
import type { ColumnType, Generated } from 'kysely';
import type { CreatedAt, Flag, Json, NullableJson, Sequence, UpdatedAt, WithDefault } from '../columns.ts';

/** Rows about people and the installation; see tables.ts. */

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
  /** The account is gone, its data is kept. */
  deleted_at: Date | null;
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
  by_oidc: Flag;
  /** The address that ends the session at the provider. */
  sign_out_url: string | null;
};

export type AccessTokensTable = {
  id: string;
  user_id: string;
  name: string;
  scopes: TokenScope[];
  /** The first characters of the secret. */
  start: string;
  /** SHA-256 of the secret in hexadecimal. */
  hash: string;
  created_at: CreatedAt;
  expires_at: Date | null;
  last_used_at: Date | null;
  last_used_address: string | null;
  /** Networks that it was used from, as `addressBucket` names them. */
  networks: Generated<string[]>;
};

export type CredentialsTable = {
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

export type VerificationsTable = {
  id: string;
  identifier: string;
  value: string;
  expires_at: Date;
  created_at: CreatedAt;
  updated_at: UpdatedAt;
};

export type SignInFailuresTable = { id: Sequence; address: string; email: string; at: CreatedAt; failed: Flag };

export type SignInAddressesTable = { address: string; email: string; at: UpdatedAt };

export type InstallationTable = {
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

export type AuditEventsTable = {
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
  turn_budget: WithDefault<Partial<TurnBudget>>;
  tokens: Generated<TokenPolicy>;
  token_max_days: number | null;
  sharing: ColumnType<SharingPolicy, SharingPolicy | undefined, SharingPolicy>;
  people_search: ColumnType<PeopleSearch, PeopleSearch | undefined, PeopleSearch>;
  /** Settings that administrators set in the page, by name: `settings/operation.ts`. */
  operation: WithDefault<{
    [Name in Exclude<keyof OperationSettings, 'hasBackupPlace'>]?: OperationSettings[Name]['value'];
  }>;
};

/** The installation's row has the id `installation` and no person; a person's row has the person's id. */
export type WebSearchSettingsTable = {
  id: string;
  user_id: string | null;
  kind: Generated<'off' | SearchKind>;
  base_url: string | null;
  api_key: string | null;
  for_everyone: Flag;
  ask_after_reading: Generated<'off' | 'on' | 'forced'>;
  updated_at: UpdatedAt;
};

/** Pages and search results that an answer got from the web; `number` is unique in a conversation. */
export type WebSourcesTable = {
  id: string;
  chat_id: string;
  message_id: string;
  owner_id: string;
  number: number;
  is_page: boolean;
  url: string;
  asked_url: string;
  title: string;
  text: string;
  hash: string;
  published_at: string | null;
  read_at: CreatedAt;
};
