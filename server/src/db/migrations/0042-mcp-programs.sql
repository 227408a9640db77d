-- MCP servers that are programs in their owner's workspace: what to start, and sealed environment variables. url is then made of command
-- and args. version is what a server called itself when it was last asked.
alter table mcp_servers drop constraint mcp_servers_transport_check;
alter table mcp_servers add constraint mcp_servers_transport_check check (transport in ('http', 'sse', 'stdio'));
alter table mcp_servers add column command text;
alter table mcp_servers add column args jsonb;
alter table mcp_servers add column env text;
alter table mcp_servers add column version text;
alter table mcp_servers add constraint mcp_servers_program check ((transport = 'stdio') = (command is not null and args is not null));
