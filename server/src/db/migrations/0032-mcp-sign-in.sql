-- Signing in to MCP servers by OAuth. connection: whether a server asks for it, and whether its owner has. client_id and
-- client_secret (sealed) are those that a person was given for it; they belong to the authorization server where they were first used.
alter table mcp_servers add column connection text not null default 'none' check (connection in ('none', 'needed', 'connected'));
alter table mcp_servers add column client_id text;
alter table mcp_servers add column client_secret text;
alter table mcp_servers add column client_issuer text;

-- What sign-ins led to, sealed: the client that a server registered us as, and the tokens. generation counts every change of the
-- tokens; whoever refreshes them holds the row until refreshing_until. wanted: what the server said when it refused a request.
create table mcp_grants (
  server_id text primary key references mcp_servers on delete cascade,
  envelope text,
  generation integer not null default 0,
  refreshing_until timestamptz,
  wanted jsonb
);

-- Sign-ins that have begun: `state` is hashed, `value` sealed. Each ends once, in the session where it began.
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
