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
  updated_at timestamptz not null default now()
);

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

-- Sign-ins of the last minutes, for the limits on every replica: a row is written before a password is checked, and marked
-- when it was wrong.
create table sign_in_failures (
  id bigint generated always as identity primary key,
  address text not null,
  email text not null,
  failed boolean not null default false,
  at timestamptz not null default now()
);
create index sign_in_failures_address on sign_in_failures (address, at);
create index sign_in_failures_at on sign_in_failures (at);

-- One row: who closed the public setup, and when.
create table installation (
  singleton boolean primary key default true check (singleton),
  setup_completed_at timestamptz,
  setup_user_id text references users on delete set null
);
insert into installation default values;

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
  unique (owner_id, id)
);

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
  check (max_output_tokens <= context_window),
  check (enabled or not is_default),
  foreign key (owner_id, provider_id) references providers (owner_id, id) on delete cascade,
  foreign key (owner_id, tier) references model_tiers (owner_id, value)
);
create unique index models_one_default on models (owner_id) where is_default;
create index models_owner on models (owner_id, seq);
create index models_provider on models (provider_id);

-- Conversations. active_message_id is the newest message of the branch that is shown. Search texts are prepared by
-- conversations/search-text.ts and carry their owner as a lexeme, so that one index answers 'these words, of this owner'.
create table chats (
  id text primary key,
  owner_id text not null references users on delete cascade,
  title text not null,
  title_source text not null default 'none' check (title_source in ('none', 'instant', 'model', 'person')),
  archived boolean not null default false,
  project_id text,
  model_pinned boolean not null default false,
  model_id text references models on delete set null,
  mcp_server_ids jsonb,
  context_start_message_id text,
  active_message_id text,
  title_search tsvector,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index chats_list on chats (owner_id, archived, updated_at desc, id desc);
create index chats_title_search on chats using gin (title_search);
create index chats_project on chats (owner_id, project_id, archived, updated_at desc, id desc) where project_id is not null;
create index chats_model on chats (model_id) where model_id is not null;

-- parts and prompt are JSON texts kept as they are sent: to the browser, and (an array's inside) to the provider.
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
  created_at timestamptz not null default now()
);
-- All messages of a conversation in the order they were made; siblings are found by messages_parent, first ones by messages_roots.
create index messages_chat on messages (chat_id, seq);
create index messages_roots on messages (chat_id, seq) where parent_id is null;
create index messages_parent on messages (parent_id);
create index messages_search on messages using gin (search);

-- Submitted inputs (specification "Message and queued input"). id is the client-made message id.
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
  created_at timestamptz not null default now()
);
create index inputs_due on inputs (start_after) where state = 'queued';
create index inputs_chat on inputs (chat_id);

-- The making of one assistant message; id is that message's. A writer is fenced by (generation, state = 'running').
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
  ended_at timestamptz
);
create index responses_lease on responses (lease_until) where state = 'running';
create index responses_chat on responses (chat_id);
-- Few rows at any time: end_frames go when the frames do.
create index responses_kept on responses (ended_at) where end_frames is not null;

-- The response log: frames as JSON lines, neighbouring deltas merged; see chat/response-log.ts for the sequence numbers.
create table response_frames (
  response_id text not null references responses on delete cascade,
  generation integer not null,
  seq_from bigint not null,
  seq_to bigint not null,
  frames text not null,
  primary key (response_id, generation, seq_from)
);

-- Of indexes that look equally cheap while a table is empty the planner takes the newest, and a prepared statement keeps it:
-- the ones by conversation are made last.
create unique index responses_one_running on responses (chat_id) where state = 'running';
create index inputs_queue on inputs (chat_id, position) where state = 'queued';
