-- Both come with PostgreSQL and may be made by a database's owner. They index a path's trigrams together with its namespace.
create extension if not exists pg_trgm;
create extension if not exists btree_gin;

-- Projects. A project keeps at least one owner; projects/projects.ts sees to it under a lock of the project's row.
create table projects (
  id text primary key,
  name text not null,
  archived boolean not null default false,
  created_at timestamptz not null default now()
);

create table project_members (
  project_id text not null references projects on delete cascade,
  user_id text not null references users on delete cascade,
  role text not null check (role in ('owner', 'member')),
  added_at timestamptz not null default now(),
  primary key (project_id, user_id)
);
create index project_members_user on project_members (user_id);

alter table chats add foreign key (project_id) references projects;
create index chats_in_project on chats (project_id) where project_id is not null;

-- The contents of artifacts, each once. `key` is where the store has the bytes, and is never used twice: a content that is
-- swept and uploaded again gets another one.
create table blobs (
  sha256 text primary key check (sha256 ~ '^[0-9a-f]{64}$'),
  key text not null unique,
  size bigint not null check (size >= 0)
);

-- Artifacts. A namespace is a project's or a standalone conversation's, and goes with it. Paths compare by their bytes, so that
-- a folder is a range of them; `search` is the path in lower case.
create table artifacts (
  id text primary key,
  chat_id text references chats on delete cascade,
  project_id text references projects on delete cascade,
  namespace text not null generated always as
    (case when project_id is null then 'chat:' || chat_id else 'project:' || project_id end) stored,
  path text collate "C" not null,
  search text not null,
  media_type text not null,
  size bigint not null,
  sha256 text not null references blobs,
  created_by text references users on delete set null,
  created_at timestamptz not null default now(),
  check ((chat_id is null) <> (project_id is null)),
  unique (namespace, path)
);
create index artifacts_chat on artifacts (chat_id) where chat_id is not null;
create index artifacts_project on artifacts (project_id) where project_id is not null;
create index artifacts_content on artifacts (sha256);
create index artifacts_author on artifacts (created_by) where created_by is not null;
create index artifacts_search on artifacts using gin (namespace, search gin_trgm_ops) with (fastupdate = off);

-- What was imported from where: `target` is the namespace and `path` the path that the import named.
create table artifact_imports (
  source text primary key,
  artifact_id text not null references artifacts on delete cascade,
  target text not null,
  path text collate "C" not null
);
create index artifact_imports_artifact on artifact_imports (artifact_id);
