-- MCP servers that administrators offer to everybody. Whoever adds one gets a row in mcp_servers of their own: trust, sign-in and
-- credentials are theirs, and end with the offer. header_names and env_names: what a person has to enter, never values.
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

alter table mcp_servers add column offer_id text references mcp_offers on delete cascade;
create unique index mcp_servers_offer on mcp_servers (offer_id, owner_id) where offer_id is not null;
