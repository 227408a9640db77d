-- Questions that a running tool asks (MCP elicitation): they end with its call and do not continue an interrupted response.
alter table tool_approvals add column live boolean not null default false;
