-- Which change of a server's tools a conversation has been told of, and which one somebody has looked at: each is told of once.
alter table mcp_servers add column reviewed_fingerprint text;

create table mcp_drift_notices (
  server_id text not null references mcp_servers on delete cascade,
  chat_id text not null references chats on delete cascade,
  fingerprint text not null,
  primary key (server_id, chat_id)
);
create index mcp_drift_notices_chat on mcp_drift_notices (chat_id);
