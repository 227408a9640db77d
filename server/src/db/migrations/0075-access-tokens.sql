-- Personal access tokens: the secret is shown once, only its SHA-256 is stored.
create table access_tokens (
  id text primary key,
  user_id text not null references users on delete cascade,
  name text not null check (length(name) between 1 and 64),
  scopes text[] not null check (cardinality(scopes) between 1 and 20),
  start text not null check (length(start) <= 20),
  hash text not null unique,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  last_used_at timestamptz,
  last_used_address text,
  networks text[] not null default '{}' check (cardinality(networks) <= 100)
);
create index access_tokens_user on access_tokens (user_id);
create index access_tokens_created on access_tokens (created_at desc, id desc);

alter table settings add column tokens text not null default 'everyone' check (tokens in ('off', 'administrators', 'everyone'));
alter table settings add column token_max_days integer check (token_max_days between 1 and 3650);
