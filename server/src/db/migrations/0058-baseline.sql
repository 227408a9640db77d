-- The schema of migrations 0001 to 0062 in one file: an empty database begins here, and one that has all of them counts as
-- having this one (db/baseline.ts). Later changes are files of their own. Columns keep the order in which they were added.

-- Both extensions come with PostgreSQL, and a database's owner may create them. They index trigrams of a path with its namespace.
create extension if not exists pg_trgm;
create extension if not exists btree_gin;

-- Installation

-- One row: who completed the public setup, and when. id, key_canary and store_marked identify this installation to replicas
-- with other settings: the id is also in its file store, and the canary is a text encrypted with its key.
create table installation (
  singleton boolean primary key default true check (singleton),
  setup_completed_at timestamptz,
  setup_user_id text,
  id text not null default gen_random_uuid()::text,
  key_canary text,
  store_marked boolean not null default false
);
insert into installation default values;

-- Installation settings, one row. The JSON holds the values that administrators set; missing ones have their default in settings/.
create table settings (
  singleton boolean primary key default true check (singleton),
  branding jsonb not null default '{}' check (jsonb_typeof(branding) = 'object'),
  oidc jsonb not null default '{}' check (jsonb_typeof(oidc) = 'object'),
  oidc_client_secret text,
  updated_at timestamptz not null default now(),
  -- Incremented when the OIDC configuration is saved or tested successfully, which invalidates the replicas' caches.
  oidc_revision bigint not null default 0,
  instructions text,
  turn_budget jsonb not null default '{}'
);
insert into settings default values;

-- While `since` is set, the installation is read-only.
create table maintenance (
  singleton boolean primary key default true check (singleton),
  since timestamptz,
  message text
);
insert into maintenance default values;

-- Backups of this installation. While a row is `running` and its lease has not expired, contents of files are not removed.
create table backups (
  id text primary key,
  cause text not null check (cause in ('command', 'schedule', 'page')),
  state text not null check (state in ('running', 'done', 'failed')),
  place text not null,
  progress jsonb not null default '{}',
  error text,
  size bigint,
  sha256 text,
  lease_until timestamptz not null,
  started_at timestamptz not null default now(),
  finished_at timestamptz
);
create index backups_started_at on backups (started_at);

-- Accounts. Column names of sessions, credentials and verifications follow Better Auth's fields.

create table users (
  id text primary key,
  name text not null,
  email text not null unique check (email = lower(email)),
  email_verified boolean not null default false,
  image text,
  role text not null default 'user' check (role in ('admin', 'user')),
  enabled boolean not null default true,
  must_change_password boolean not null default false,
  provider_settings_enabled boolean not null default true,
  mcp_settings_enabled boolean not null default true,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  instructions text,
  about_me jsonb,
  -- An account deleted with its data kept: sign-in is refused, lists omit it, and its email address is free.
  deleted_at timestamptz
);
create index users_list on users (created_at, id);
alter table installation add foreign key (setup_user_id) references users on delete set null;

create table sessions (
  id text primary key,
  user_id text not null references users on delete cascade,
  token text not null unique,
  expires_at timestamptz not null,
  ip_address text,
  user_agent text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index sessions_user on sessions (user_id);

create table credentials (
  id text primary key,
  user_id text not null references users on delete cascade,
  account_id text not null,
  provider_id text not null,
  issuer text,
  password text,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamptz,
  refresh_token_expires_at timestamptz,
  scope text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (provider_id, account_id)
);
create index credentials_user on credentials (user_id);

create table verifications (
  id text primary key,
  identifier text not null,
  value text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index verifications_identifier on verifications (identifier);

-- Sign-ins of the last minutes, for limits that hold across replicas: a row is written before a password is checked, and
-- marked when it was wrong. `email` is a hash.
create table sign_in_failures (
  id bigint generated always as identity primary key,
  address text not null,
  email text not null,
  failed boolean not null default false,
  at timestamptz not null default now()
);
create index sign_in_failures_address on sign_in_failures (address, at);
create index sign_in_failures_at on sign_in_failures (at);

-- Addresses from which an account has signed in with its password: they have priority and limits of their own. `email` is a hash.
create table sign_in_addresses (
  address text not null,
  email text not null,
  at timestamptz not null default now(),
  primary key (address, email)
);
create index sign_in_addresses_at on sign_in_addresses (at);

-- Invitations (contract section 3). The token is stored as its SHA-256; the state follows from the three times.
create table invitations (
  id text primary key,
  email text not null check (email = lower(email)),
  name text,
  role text not null check (role in ('admin', 'user')),
  provider_settings_enabled boolean not null,
  mcp_settings_enabled boolean not null,
  token_hash text not null unique,
  created_by text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  accepted_at timestamptz,
  accepted_by text,
  revoked_at timestamptz
);
create index invitations_list on invitations (created_at desc, id desc);

-- Audit log (contract section 10). It outlives its subjects, so it has no foreign keys.
create table audit_events (
  id text primary key,
  at timestamptz not null default clock_timestamp(),
  actor_id text,
  action text not null,
  target_type text,
  target_id text,
  address text,
  request_id text,
  details jsonb not null
);
create index audit_events_list on audit_events (at desc, id desc);
-- Failed sign-ins of the last minutes are counted before another one is recorded.
create index audit_events_failed_sign_ins on audit_events (target_id, at) where action = 'session.sign_in_failed';

-- Catalogue. owner_id is a user's id, or 'installation' in the managed edition.

create table model_tiers (
  owner_id text not null,
  value integer not null check (value > 0),
  label text not null,
  position integer not null,
  primary key (owner_id, value)
);

create table providers (
  id text primary key,
  seq bigint generated always as identity,
  owner_id text not null,
  name text not null,
  base_url text not null,
  api_key text,
  headers text,
  enabled boolean not null default true,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- The protocol.
  kind text not null default 'openai' check (kind in ('openai', 'openai-responses', 'anthropic', 'gemini')),
  -- Audience chosen by an administrator of the community edition. It counts only while the owner is an enabled administrator.
  shared_with text not null default 'none' check (shared_with in ('none', 'everyone', 'users')),
  unique (owner_id, id)
);
create index providers_shared on providers (owner_id) where shared_with <> 'none';

create table provider_shares (
  provider_id text not null references providers on delete cascade,
  user_id text not null references users on delete cascade,
  primary key (provider_id, user_id)
);
create index provider_shares_user on provider_shares (user_id);

-- abilities, prices and sources: known facts and where each is from. Null: the registry's value.
create table models (
  id text primary key,
  seq bigint generated always as identity,
  owner_id text not null,
  provider_id text not null,
  provider_model_id text not null,
  display_name text not null,
  context_window integer not null check (context_window > 0),
  max_output_tokens integer not null check (max_output_tokens > 0),
  tier integer not null,
  enabled boolean not null default true,
  is_default boolean not null default false,
  created_at timestamptz not null default now(),
  parameters jsonb not null default '{}',
  abilities jsonb,
  prices jsonb,
  sources jsonb not null default '{}',
  check (max_output_tokens <= context_window),
  check (enabled or not is_default),
  foreign key (owner_id, provider_id) references providers (owner_id, id) on delete cascade,
  foreign key (owner_id, tier) references model_tiers (owner_id, value)
);
create unique index models_one_default on models (owner_id) where is_default;
create index models_owner on models (owner_id, seq);
create index models_provider on models (provider_id);

-- A registry of models that an administrator uploaded, replacing the one that comes with Homeport; at most one row.
create table model_registry (
  singleton boolean primary key default true check (singleton),
  revision bigint generated always as identity,
  content text not null,
  uploaded_at timestamptz not null default now()
);

-- Projects. A project keeps at least one owner; projects/projects.ts ensures it under a lock of the project's row.

create table projects (
  id text primary key,
  name text not null,
  archived boolean not null default false,
  created_at timestamptz not null default now(),
  instructions text
);

create table project_members (
  project_id text not null references projects on delete cascade,
  user_id text not null references users on delete cascade,
  role text not null check (role in ('owner', 'member')),
  added_at timestamptz not null default now(),
  primary key (project_id, user_id)
);
create index project_members_user on project_members (user_id);

-- Assistants. The newest version has the contents; the head has the owner and the audience. The ids of models and MCP servers
-- are not references: missing or foreign ones are ignored. provider_model_id finds the same model in the reader's catalogue.

create table assistants (
  id text primary key,
  owner_id text not null references users on delete cascade,
  audience text not null check (audience in ('me', 'project', 'everyone')),
  project_id text references projects on delete cascade,
  version integer not null,
  created_at timestamptz not null default now(),
  check ((audience = 'project') = (project_id is not null))
);
create index assistants_owner on assistants (owner_id);
create index assistants_project on assistants (project_id) where project_id is not null;
create index assistants_everyone on assistants (id) where audience = 'everyone';

create table assistant_versions (
  assistant_id text not null references assistants on delete cascade,
  version integer not null,
  author_id text references users on delete set null,
  audience text not null,
  project_id text,
  name text not null,
  description text not null,
  icon text,
  instructions text,
  model_id text,
  provider_model_id text,
  tier integer,
  parameters jsonb not null,
  mcp_server_ids jsonb,
  workspace boolean not null,
  starters jsonb not null,
  created_at timestamptz not null default now(),
  primary key (assistant_id, version)
);
create index assistant_versions_author on assistant_versions (author_id) where author_id is not null;

-- Saved prompts, and when each person last used them.
create table prompts (
  id text primary key,
  owner_id text not null references users on delete cascade,
  audience text not null check (audience in ('me', 'project', 'everyone')),
  project_id text references projects on delete cascade,
  name text not null,
  title text not null,
  text text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check ((audience = 'project') = (project_id is not null)),
  unique (owner_id, name)
);
create index prompts_project on prompts (project_id) where project_id is not null;
create index prompts_everyone on prompts (id) where audience = 'everyone';

create table prompt_uses (
  user_id text not null references users on delete cascade,
  prompt_id text not null references prompts on delete cascade,
  used_at timestamptz not null,
  primary key (user_id, prompt_id)
);
create index prompt_uses_prompt on prompt_uses (prompt_id);

-- Conversations. Of indexes that look equally cheap while a table is empty, the planner takes the newest, and a prepared
-- statement keeps it: the order of `create index` within a table matters.

-- active_message_id is the newest message of the branch that is shown. Search texts are prepared by
-- conversations/search/search-text.ts and carry their owner as a lexeme, so that one index finds words of one owner.
create table chats (
  id text primary key,
  owner_id text not null references users on delete cascade,
  title text not null,
  title_source text not null default 'none' check (title_source in ('none', 'instant', 'model', 'person')),
  archived boolean not null default false,
  project_id text references projects,
  model_pinned boolean not null default false,
  model_id text references models on delete set null,
  mcp_server_ids jsonb,
  context_start_message_id text,
  active_message_id text,
  title_search tsvector,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- Tool rules of this conversation, as in the table tool_rules; without a preset, the person's counts.
  tool_rules jsonb,
  instructions text,
  parameters jsonb not null default '{}',
  temporary boolean not null default false,
  assistant_id text references assistants on delete set null,
  -- The assistant and version of the last notice about models or tools that the reader lacks.
  assistant_notice text,
  -- Off after three failures in a row, or after a person undid a summary, until a person requests one.
  auto_compaction boolean not null default true,
  compaction_failures smallint not null default 0
);
create index chats_title_search on chats using gin (title_search);
create index chats_model on chats (model_id) where model_id is not null;
create index chats_in_project on chats (project_id) where project_id is not null;
-- Lists omit temporary conversations, and read an index in its order.
create index chats_list on chats (owner_id, archived, temporary, updated_at desc, id desc);
create index chats_project on chats (owner_id, project_id, archived, temporary, updated_at desc, id desc)
  where project_id is not null;
create index chats_temporary on chats (updated_at) where temporary;
create index chats_assistant on chats (assistant_id) where assistant_id is not null;

-- parts and prompt are JSON texts stored as they are sent: to the browser, and (the items of an array) to the provider.
create table messages (
  id text primary key,
  seq bigint generated always as identity,
  chat_id text not null references chats on delete cascade,
  parent_id text references messages on delete cascade,
  role text not null check (role in ('user', 'assistant')),
  parts text not null,
  prompt text,
  prompt_tokens integer,
  status text not null check (status in ('complete', 'streaming', 'stopped', 'failed', 'interrupted')),
  error_code text,
  error_message text,
  model_id text,
  usage jsonb,
  search tsvector,
  created_at timestamptz not null default now(),
  -- The assistant and version that answered, whatever becomes of the assistant.
  assistant jsonb,
  -- The plan in force after this message: its own, or its parent's. A branch keeps its plan, however long it grows.
  plan_id text
);
-- All messages of a conversation in order; siblings are found by messages_parent, first ones by messages_roots.
create index messages_chat on messages (chat_id, seq);
create index messages_roots on messages (chat_id, seq) where parent_id is null;
create index messages_parent on messages (parent_id);
-- Pending entries are merged by the insert that finds the list full. At the default of 4 MB that insert took a third of a
-- second, and every transaction that waited for it as well.
create index messages_search on messages using gin (search) with (gin_pending_list_limit = 1024);

-- The plan that a response made or changed.
create table plans (
  message_id text primary key references messages on delete cascade,
  items jsonb not null,
  updated_at timestamptz not null default now()
);

-- Search texts prepared by an older search-text.ts are rebuilt in small steps, in the order of their ids: after_id is the
-- last one done. A row is deleted when its walk is complete.
create table search_walks (
  what text primary key check (what in ('messages', 'chats')),
  after_id text not null default ''
);

-- Submitted inputs (specification "Message and queued input"). id is the client-made message id. Inputs with a steer_rank
-- go first, in its order, to the running response between two steps. taken_by is the response that ends to deliver the input,
-- which then cannot be canceled. Of several delivered together, answered_by is the response of the first one.
create table inputs (
  id text primary key,
  position bigint generated always as identity,
  chat_id text not null references chats on delete cascade,
  owner_id text not null,
  assistant_id text not null unique,
  state text not null default 'queued' check (state in ('queued', 'applied', 'cancelled')),
  parts text not null,
  parent_id text,
  parent_given boolean not null,
  decision jsonb not null,
  request_hash text not null,
  start_after timestamptz not null,
  created_at timestamptz not null default now(),
  steer_rank integer,
  taken_by text,
  answered_by text
);
create index inputs_chat on inputs (chat_id);
create index inputs_queue on inputs (chat_id, position) where state = 'queued';
-- Applied inputs that still have a second copy of their message; empty once the copies are removed.
create index inputs_copied on inputs (position) where state = 'applied' and parts <> '[]';

-- The making of one assistant message; id is that message's. A writer is fenced by (generation, state = 'running'). No index
-- has the columns that a heartbeat changes, and pages keep space, so that a heartbeat writes one row only.
create table responses (
  id text primary key,
  chat_id text not null references chats on delete cascade,
  message_id text not null,
  owner_id text not null,
  state text not null check (state in ('running', 'complete', 'stopped', 'failed', 'interrupted')),
  replica text not null,
  generation integer not null default 1,
  first_seq bigint not null default 0,
  last_seq bigint not null default 0,
  lease_until timestamptz not null,
  stop_requested boolean not null default false,
  end_frames text,
  decision jsonb not null,
  started_at timestamptz not null default now(),
  ended_at timestamptz,
  -- Reasoning state that goes back to the same model within a turn, unread; removed when the response is complete.
  echoes text,
  -- A summary that a person requested is a response of its own, without a message.
  kind text not null default 'answer' check (kind in ('answer', 'compaction')),
  -- Left unfinished by a stopping replica; another one continues it.
  handed_over boolean not null default false
) with (fillfactor = 70);
create index responses_chat on responses (chat_id);
-- Few rows at any time: end_frames are removed with the frames.
create index responses_kept on responses (ended_at) where end_frames is not null;
create unique index responses_one_running on responses (chat_id) where state = 'running';
-- Complete responses, which cannot be continued, are removed a week after their end: few at any time.
create index responses_complete on responses (ended_at) where state = 'complete';
create index responses_handed_over on responses (ended_at) where handed_over;

-- The response log: frames as JSON lines, neighboring deltas merged; see chat/log/ for the sequence numbers.
create table response_frames (
  response_id text not null references responses on delete cascade,
  generation integer not null,
  seq_from bigint not null,
  seq_to bigint not null,
  frames text not null,
  primary key (response_id, generation, seq_from)
);

-- The prompt context of each response. Texts are stored once for each owner; texts of one conversation are deleted with it.
create table told_texts (
  hash text primary key,
  owner_id text not null references users (id) on delete cascade,
  chat_id text references chats (id) on delete cascade,
  text text not null
);
create index told_texts_owner on told_texts (owner_id);
create index told_texts_chat on told_texts (chat_id) where chat_id is not null;
create table told_contexts (
  message_id text primary key references messages (id) on delete cascade,
  context jsonb not null
);

-- The start of a branch's context, read with the branch. A row counts for every branch that contains up_to_message_id.
-- `summary`: its text replaces the messages up to there; `cut`: they are omitted; `prune`: their tool results are one line each.
-- base_id is the summary that a row builds on, and is deleted with.
create table summaries (
  id text primary key,
  chat_id text not null references chats on delete cascade,
  up_to_message_id text not null references messages on delete cascade,
  kind text not null check (kind in ('summary', 'cut', 'prune')),
  text text not null default '',
  base_id text references summaries on delete cascade,
  first_message_id text references messages on delete cascade,
  created_at timestamptz not null default now(),
  unique (up_to_message_id, kind)
);
create index summaries_chat on summaries (chat_id);
create index summaries_base on summaries (base_id) where base_id is not null;
create index summaries_first on summaries (first_message_id) where first_message_id is not null;

-- The folder in which a conversation's tools last worked: the AGENTS.md files on its path apply.
create table chat_folders (
  chat_id text primary key references chats on delete cascade,
  folder text not null
);

-- Tool rules of a person for all conversations: {"preset": "auto", "rules": [{"tool", "pattern"?, "policy"}]}.
create table tool_rules (
  user_id text primary key references users on delete cascade,
  rules jsonb not null
);

-- Tool calls that wait, or waited, for a person's decision (contract section 6), and questions of the tool `ask`. settled_at:
-- the decision was applied, or no longer matters; a call is settled once, so that no tool runs twice.
create table tool_approvals (
  id text primary key,
  response_id text not null references responses on delete cascade,
  chat_id text not null references chats on delete cascade,
  tool_call_id text not null,
  tool_name text not null,
  approved boolean,
  reason text,
  answered_at timestamptz,
  settled_at timestamptz,
  created_at timestamptz not null default now(),
  -- The rule that the decision may add; null: none.
  rule jsonb,
  questions jsonb,
  -- One list of texts for each question.
  answers jsonb,
  -- Questions of a running tool (MCP elicitation): they end with its call and do not continue an interrupted response.
  live boolean not null default false
);
create index tool_approvals_response on tool_approvals (response_id);
create index tool_approvals_chat on tool_approvals (chat_id);
-- Few rows at any time: decisions that were not applied yet.
create index tool_approvals_unsettled on tool_approvals (answered_at) where answered_at is not null and settled_at is null;

-- MCP

-- Servers that administrators offer to everyone. A person who adds one gets a row of their own in mcp_servers, with its own
-- trust, sign-in and credentials, which is deleted with the offer. header_names and env_names: what to enter, never values.
create table mcp_offers (
  id text primary key,
  seq bigint generated always as identity,
  name text not null unique,
  description text not null default '',
  url text not null,
  transport text not null check (transport in ('http', 'sse', 'stdio')),
  command text,
  args jsonb,
  client_id text,
  header_names jsonb not null default '[]',
  env_names jsonb not null default '[]',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check ((transport = 'stdio') = (command is not null and args is not null))
);

-- MCP servers (contract section 7). tools and trusted_tools are JSON texts of tool definitions: the last list, and the trusted
-- one. revision counts changes of url, transport, headers and program.
create table mcp_servers (
  id text primary key,
  seq bigint generated always as identity,
  owner_id text not null references users on delete cascade,
  name text not null,
  url text not null,
  transport text not null check (transport in ('http', 'sse', 'stdio')),
  headers text,
  enabled boolean not null default true,
  revision integer not null default 1,
  tools text not null default '[]',
  fingerprint text,
  trust_state text not null default 'untrusted' check (trust_state in ('untrusted', 'trusted', 'drifted')),
  trusted_tools text,
  trusted_fingerprint text,
  tool_policies jsonb not null default '{}',
  last_tested_at timestamptz,
  last_error text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- The change of its tools that a person has reviewed.
  reviewed_fingerprint text,
  -- OAuth: whether the server requires it, and the client that the owner entered, which belongs to the authorization server
  -- (client_issuer) of its first use. client_secret is encrypted.
  connection text not null default 'none' check (connection in ('none', 'needed', 'connected')),
  client_id text,
  client_secret text,
  client_issuer text,
  -- A program in its owner's workspace: the command, and encrypted environment variables. url is derived from command and args.
  command text,
  args jsonb,
  env text,
  -- The version that the server last reported.
  version text,
  offer_id text references mcp_offers on delete cascade,
  check (trust_state <> 'trusted' or (trusted_tools is not null and trusted_fingerprint is not null)),
  constraint mcp_servers_program check ((transport = 'stdio') = (command is not null and args is not null))
);
create index mcp_servers_owner on mcp_servers (owner_id, seq);
create unique index mcp_servers_offer on mcp_servers (offer_id, owner_id) where offer_id is not null;

-- Changes of a server's tools that a conversation was notified of: once each.
create table mcp_drift_notices (
  server_id text not null references mcp_servers on delete cascade,
  chat_id text not null references chats on delete cascade,
  fingerprint text not null,
  primary key (server_id, chat_id)
);
create index mcp_drift_notices_chat on mcp_drift_notices (chat_id);

-- Results of OAuth sign-ins, encrypted: the registered client and the tokens. generation counts every change of the tokens; a
-- refresh holds the row until refreshing_until. wanted: the server's challenge when it refused a request.
create table mcp_grants (
  server_id text primary key references mcp_servers on delete cascade,
  envelope text,
  generation integer not null default 0,
  refreshing_until timestamptz,
  wanted jsonb
);

-- Pending sign-ins: `state` is hashed, `value` encrypted. Each completes once, in the session that began it.
create table mcp_sign_ins (
  state text primary key,
  server_id text not null references mcp_servers on delete cascade,
  session_id text not null references sessions on delete cascade,
  value text not null,
  expires_at timestamptz not null
);
create index mcp_sign_ins_server on mcp_sign_ins (server_id);
create index mcp_sign_ins_session on mcp_sign_ins (session_id);
create index mcp_sign_ins_expires on mcp_sign_ins (expires_at);

-- Skills that people add: for themselves, for a project, or (administrators) for everyone. Names are unique within an audience.

create table skills (
  id text primary key,
  owner_id text not null references users on delete cascade,
  audience text not null check (audience in ('me', 'project', 'everyone')),
  project_id text references projects on delete cascade,
  name text not null,
  description text not null,
  -- The SHA-256 of its files (skill-package.ts).
  fingerprint text not null,
  enabled boolean not null default true,
  files integer not null,
  bytes integer not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check ((audience = 'project') = (project_id is not null))
);
create index skills_owner on skills (owner_id);
create unique index skills_own_name on skills (owner_id, name) where audience = 'me';
create unique index skills_project_name on skills (project_id, name) where project_id is not null;
create unique index skills_everyone_name on skills (name) where audience = 'everyone';

create table skill_files (
  skill_id text not null references skills on delete cascade,
  path text not null,
  content bytea not null,
  sha256 text not null,
  primary key (skill_id, path)
);

-- The files of a skill that a person reviewed and trusts: by fingerprint, and each by its SHA-256 to show what changed.
create table skill_trusts (
  user_id text not null references users on delete cascade,
  skill_id text not null references skills on delete cascade,
  fingerprint text not null,
  files jsonb not null,
  trusted_at timestamptz not null default now(),
  primary key (user_id, skill_id)
);
create index skill_trusts_skill on skill_trusts (skill_id);

-- Changes of a skill that a conversation was notified of: once each.
create table skill_notices (
  skill_id text not null references skills on delete cascade,
  chat_id text not null references chats on delete cascade,
  fingerprint text not null,
  primary key (skill_id, chat_id)
);
create index skill_notices_chat on skill_notices (chat_id);

-- Files

-- The contents of artifacts, each once. `key` is the content's address in the store, and is never used twice: a content that is
-- removed and uploaded again gets another one.
create table blobs (
  sha256 text primary key check (sha256 ~ '^[0-9a-f]{64}$'),
  key text not null unique,
  size bigint not null check (size >= 0)
);

-- Artifacts. A namespace is a project's or a standalone conversation's, and is deleted with it. Paths compare by their bytes, so
-- that a folder is a range of them; `search` is the path in lower case.
create table artifacts (
  id text primary key,
  chat_id text references chats on delete cascade,
  project_id text references projects on delete cascade,
  namespace text not null generated always as
    (case when project_id is null then 'chat:' || chat_id else 'project:' || project_id end) stored,
  path text collate "C" not null,
  search text not null,
  media_type text not null,
  size bigint not null,
  sha256 text not null references blobs,
  created_by text references users on delete set null,
  created_at timestamptz not null default now(),
  -- The origin of an attached file other than a person's device: an MCP server and the address of its resource.
  source text,
  version integer not null default 1,
  -- The author and time of the present content, if it is not the first one.
  changed_by text references users on delete set null,
  changed_at timestamptz,
  check ((chat_id is null) <> (project_id is null)),
  unique (namespace, path)
);
create index artifacts_chat on artifacts (chat_id) where chat_id is not null;
create index artifacts_project on artifacts (project_id) where project_id is not null;
create index artifacts_content on artifacts (sha256);
create index artifacts_author on artifacts (created_by) where created_by is not null;
create index artifacts_search on artifacts using gin (namespace, search gin_trgm_ops) with (fastupdate = off);
create index artifacts_changed_by on artifacts (changed_by) where changed_by is not null;

-- Earlier contents of an artifact: replacing it keeps them, within bounds. The present content is in the row of artifacts.
create table artifact_versions (
  artifact_id text not null references artifacts on delete cascade,
  version integer not null,
  media_type text not null,
  size bigint not null,
  sha256 text not null references blobs,
  author_id text references users on delete set null,
  created_at timestamptz not null,
  primary key (artifact_id, version)
);
create index artifact_versions_content on artifact_versions (sha256);
create index artifact_versions_author on artifact_versions (author_id) where author_id is not null;

-- Origins of imported artifacts: `target` is the namespace and `path` the path that the import specified.
create table artifact_imports (
  source text primary key,
  artifact_id text not null references artifacts on delete cascade,
  target text not null,
  path text collate "C" not null
);
create index artifact_imports_artifact on artifact_imports (artifact_id);

-- The text of documents, extracted once for each content and version of the readers, and deleted with the content.
-- documents/document-store.ts writes both tables. `claim` is the current reader's; after claimed_until others may claim it.
create table documents (
  sha256 text not null references blobs on delete cascade,
  version integer not null,
  state text not null check (state in ('working', 'ready', 'failed')),
  claim text,
  claimed_until timestamptz,
  attempts integer not null default 1,
  kind text,
  pages integer,
  tokens integer,
  warnings jsonb not null default '[]',
  problem jsonb,
  primary key (sha256, version)
);

-- Pages in pieces of a few thousand characters, the unit of search and reading. `words` are as in searches of conversations.
create table document_chunks (
  sha256 text not null,
  version integer not null,
  page integer not null,
  piece integer not null,
  label text not null,
  text text not null,
  words tsvector not null,
  primary key (sha256, version, page, piece),
  foreign key (sha256, version) references documents on delete cascade
);
create index document_chunks_words on document_chunks using gin (words);

-- Usage. usage/ledger.ts writes it in the statement that stores a call's result. It outlives conversations and accounts, so it
-- references neither, and it has no text of a conversation. Money is in millionths of a US dollar.

create table usage_calls (
  response_id text not null,
  kind text not null check (kind in ('answer', 'title', 'summary', 'delegate', 'program')),
  generation int not null,
  step int not null,
  at timestamptz not null default now(),
  owner_id text not null,
  provider_name text not null,
  provider_model_id text not null,
  input_tokens bigint not null,
  cached_input_tokens bigint not null,
  cache_write_tokens bigint not null,
  output_tokens bigint not null,
  reasoning_tokens bigint not null,
  -- Prices at that time, and the call's cost by them or as its provider reports it; null: unknown.
  prices jsonb,
  cost bigint,
  -- The provider reported no count, because the call was cut off.
  estimated boolean not null,
  primary key (response_id, kind, generation, step)
);
-- Not BRIN: old calls are removed and new ones reuse their space, so the table's order is not that of time.
create index usage_calls_by_time on usage_calls (at);

-- Sums by UTC day, for pages and budgets.
create table usage_days (
  owner_id text not null,
  day date not null,
  provider_name text not null,
  provider_model_id text not null,
  calls bigint not null,
  unpriced_calls bigint not null,
  input_tokens bigint not null,
  cached_input_tokens bigint not null,
  cache_write_tokens bigint not null,
  output_tokens bigint not null,
  reasoning_tokens bigint not null,
  cost bigint not null,
  primary key (owner_id, day, provider_name, provider_model_id)
) with (fillfactor = 70);
create index usage_days_day on usage_days (day);

-- Sums of all accounts, in several rows a day: calls that end at the same time do not wait for one another.
create table usage_totals (
  day date not null,
  shard smallint not null,
  tokens bigint not null,
  cost bigint not null,
  primary key (day, shard)
) with (fillfactor = 50);

-- `each`: applies to everyone without a `person` budget of the same unit and period. A null amount is no limit.
create table budgets (
  scope text not null check (scope in ('everyone', 'each', 'person')),
  user_id text references users on delete cascade,
  unit text not null check (unit in ('tokens', 'cost')),
  period text not null check (period in ('day', 'month')),
  amount bigint check (amount >= 0),
  check ((scope = 'person') = (user_id is not null)),
  check (scope = 'person' or amount is not null)
);
-- Two indexes, because PostgreSQL 14 does not have `nulls not distinct`.
create unique index budgets_of_person on budgets (user_id, unit, period) where user_id is not null;
create unique index budgets_of_all on budgets (scope, unit, period) where user_id is null;

-- Workspaces: a row for every person who ever started one. `generation` counts its starts, and fences: starts, stops and takeovers
-- state the generation and phase that they found. `slot` is a permanent small number (a uid is derived from it).

create table workspaces (
  user_id text primary key references users on delete cascade,
  slot integer not null unique generated always as identity,
  phase text not null default 'stopped' check (phase in ('stopped', 'starting', 'running', 'stopping')),
  generation integer not null default 0,
  -- The place of this generation; `host` only for a runtime on one machine.
  runtime text check (runtime in ('local', 'docker', 'kubernetes')),
  host text,
  -- SHA-256 of the workspace's own token, and the encryption key from which the daemon's token is derived.
  token_hash text unique,
  key_id text,
  -- The process that starts or stops it. After op_until any process may take over.
  op_owner text,
  op_until timestamptz,
  -- The reason why a start waits, in words.
  message text,
  stop_reason text check (stop_reason in ('person', 'idle', 'age', 'disabled', 'failed', 'lost')),
  -- The reason why it failed or was lost, in words.
  last_error text,
  started_at timestamptz,
  last_activity_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  -- SHA-256 of the token for model calls of programs in the workspace, derived one-way from the workspace's own.
  model_token_hash text unique,
  check (phase in ('stopped', 'running') or (op_owner is not null and op_until is not null)),
  check (phase = 'stopped' or (runtime is not null and key_id is not null))
);
create index workspaces_alive on workspaces (phase) where phase <> 'stopped';

-- Current uses of a running workspace. An expired lease does not count; taking one also touches the workspace's row.
create table workspace_leases (
  id text primary key,
  user_id text not null references workspaces on delete cascade,
  generation integer not null,
  kind text not null check (kind in ('turn', 'exec', 'terminal', 'transfer')),
  expires_at timestamptz not null
);
create index workspace_leases_user on workspace_leases (user_id, expires_at);

-- The one machine that local workspaces of this installation run on, while it renews its row.
create table workspace_hosts (
  runtime text primary key check (runtime = 'local'),
  host text not null,
  name text not null,
  seen_at timestamptz not null default now()
);

-- Facts about a person's workspace for prompts, as last reported by its daemon: files of a stopped workspace do not change.
create table workspace_notes (
  user_id text primary key references users on delete cascade,
  notes jsonb not null
);

-- Imports from other programs. The archive (sha256) is kept until its import has ended; `claim` is the current reader's, and
-- after claimed_until others may claim it. imports/import-records.ts and import-entries.ts write these tables.

create table imports (
  id text primary key,
  owner_id text not null references users on delete cascade,
  state text not null check (state in ('reading', 'ready', 'importing', 'done', 'failed', 'cancelled', 'undone')),
  -- The import starts as soon as the archive has been read.
  is_wanted boolean not null,
  -- The import is being undone, until its state is `undone`.
  is_undoing boolean not null default false,
  filename text,
  source text,
  sha256 text references blobs,
  size bigint not null,
  instructions text,
  problems jsonb not null default '[]',
  attempts integer not null default 0,
  claim text,
  claimed_until timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  ended_at timestamptz
);
create index imports_list on imports (owner_id, created_at desc, id desc);
create index imports_open on imports (created_at) where state in ('reading', 'importing') or is_undoing;
create index imports_content on imports (sha256) where sha256 is not null;

-- One row for each item of an archive: planned, or imported. Messages from first_seq to last_seq are the import's own.
create table import_entries (
  import_id text not null references imports on delete cascade,
  position integer not null,
  kind text not null check (kind in ('conversation', 'project', 'assistant', 'prompt', 'skill')),
  title text not null,
  outcome text not null check (outcome in ('new', 'more', 'same', 'left_out')),
  reason text,
  messages integer not null default 0,
  files integer not null default 0,
  target_id text,
  is_done boolean not null default false,
  first_seq bigint,
  last_seq bigint,
  primary key (import_id, position)
);
create index import_entries_target on import_entries (target_id) where target_id is not null;
