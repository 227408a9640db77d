-- Texts of trusted tools that their server changes with each listing, as JSON pointers.
alter table mcp_servers
  add column volatile_texts jsonb not null default '[]';
