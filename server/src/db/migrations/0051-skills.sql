-- Skills that people add: for themselves, for a project, or (administrators) for everyone. Names are unique where a skill applies.
create table skills (
  id text primary key,
  owner_id text not null references users on delete cascade,
  audience text not null check (audience in ('me', 'project', 'everyone')),
  project_id text references projects on delete cascade,
  name text not null,
  description text not null,
  -- The SHA-256 of its files (skill-package.ts).
  fingerprint text not null,
  enabled boolean not null default true,
  files integer not null,
  bytes integer not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check ((audience = 'project') = (project_id is not null))
);
create index skills_owner on skills (owner_id);
create unique index skills_own_name on skills (owner_id, name) where audience = 'me';
create unique index skills_project_name on skills (project_id, name) where project_id is not null;
create unique index skills_everyone_name on skills (name) where audience = 'everyone';

create table skill_files (
  skill_id text not null references skills on delete cascade,
  path text not null,
  content bytea not null,
  sha256 text not null,
  primary key (skill_id, path)
);

-- Which files of a skill a person has looked at and trusts: by fingerprint, and each by its SHA-256 to show what changed.
create table skill_trusts (
  user_id text not null references users on delete cascade,
  skill_id text not null references skills on delete cascade,
  fingerprint text not null,
  files jsonb not null,
  trusted_at timestamptz not null default now(),
  primary key (user_id, skill_id)
);
create index skill_trusts_skill on skill_trusts (skill_id);

-- Which change of a skill a conversation has been told of: each is told of once.
create table skill_notices (
  skill_id text not null references skills on delete cascade,
  chat_id text not null references chats on delete cascade,
  fingerprint text not null,
  primary key (skill_id, chat_id)
);
create index skill_notices_chat on skill_notices (chat_id);
