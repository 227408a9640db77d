-- Questions of the tool `ask` wait as approvals do; `answers` has one list of texts for each.
alter table tool_approvals add column questions jsonb, add column answers jsonb;

-- The plan that an answer made or changed. Every message names the one in force after it, as its parent did unless it made its own:
-- a branch keeps its plan, however long it grows.
create table plans (
  message_id text primary key references messages on delete cascade,
  items jsonb not null,
  updated_at timestamptz not null default now()
);
alter table messages add column plan_id text;
