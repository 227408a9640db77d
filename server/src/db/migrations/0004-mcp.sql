-- MCP servers (contract section 7). tools and trusted_tools are JSON texts of tool definitions: those listed last, and those that
-- were trusted. revision counts what a connection is made of: url, transport and headers.
create table mcp_servers (
  id text primary key,
  seq bigint generated always as identity,
  owner_id text not null references users on delete cascade,
  name text not null,
  url text not null,
  transport text not null check (transport in ('http', 'sse')),
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
  check (trust_state <> 'trusted' or (trusted_tools is not null and trusted_fingerprint is not null))
);
create index mcp_servers_owner on mcp_servers (owner_id, seq);

-- Tool calls that wait, or waited, for a person's word (contract section 6). settled_at: the word has been acted upon, or nobody
-- waits for it any more; nothing is settled twice, so no tool runs twice.
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
  created_at timestamptz not null default now()
);
create index tool_approvals_response on tool_approvals (response_id);
create index tool_approvals_chat on tool_approvals (chat_id);
-- Few rows at any time: answers that nobody has acted upon yet.
create index tool_approvals_unsettled on tool_approvals (answered_at) where answered_at is not null and settled_at is null;
