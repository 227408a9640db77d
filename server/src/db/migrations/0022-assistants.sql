-- Assistants. What one is stands in its newest version; the head says whose it is and who may use it. The ids of models and MCP
-- servers are no references: what is gone, or is not the reader's, is done without. provider_model_id finds the same model in the
-- reader's catalogue.
create table assistants (
  id text primary key,
  owner_id text not null references users on delete cascade,
  audience text not null check (audience in ('me', 'project', 'everyone')),
  project_id text references projects on delete cascade,
  version integer not null,
  created_at timestamptz not null default now(),
  check ((audience = 'project') = (project_id is not null))
);
create index assistants_owner on assistants (owner_id);
create index assistants_project on assistants (project_id) where project_id is not null;
create index assistants_everyone on assistants (id) where audience = 'everyone';

create table assistant_versions (
  assistant_id text not null references assistants on delete cascade,
  version integer not null,
  author_id text references users on delete set null,
  audience text not null,
  project_id text,
  name text not null,
  description text not null,
  icon text,
  instructions text,
  model_id text,
  provider_model_id text,
  tier integer,
  parameters jsonb not null,
  mcp_server_ids jsonb,
  workspace boolean not null,
  starters jsonb not null,
  created_at timestamptz not null default now(),
  primary key (assistant_id, version)
);
create index assistant_versions_author on assistant_versions (author_id) where author_id is not null;

-- Saved prompts, and when who used which last.
create table prompts (
  id text primary key,
  owner_id text not null references users on delete cascade,
  audience text not null check (audience in ('me', 'project', 'everyone')),
  project_id text references projects on delete cascade,
  name text not null,
  title text not null,
  text text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check ((audience = 'project') = (project_id is not null)),
  unique (owner_id, name)
);
create index prompts_project on prompts (project_id) where project_id is not null;
create index prompts_everyone on prompts (id) where audience = 'everyone';

create table prompt_uses (
  user_id text not null references users on delete cascade,
  prompt_id text not null references prompts on delete cascade,
  used_at timestamptz not null,
  primary key (user_id, prompt_id)
);
create index prompt_uses_prompt on prompt_uses (prompt_id);

-- Which assistant a conversation has, and which version answered: kept with the message, whatever becomes of the assistant.
alter table chats add column assistant_id text references assistants on delete set null;
create index chats_assistant on chats (assistant_id) where assistant_id is not null;
-- The assistant and version of which the conversation was told last what the reader lacks.
alter table chats add column assistant_notice text;
alter table messages add column assistant jsonb;
