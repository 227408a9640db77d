-- Knowledge files of assistants: artifacts in a namespace of their own, which is the third kind. Column and indexes are
-- made again, because the expression of a generated column cannot be changed before PostgreSQL 17.
alter table artifacts add column assistant_id text references assistants on delete cascade;
alter table artifacts drop constraint artifacts_check;
alter table artifacts add constraint artifacts_check check (num_nonnulls(chat_id, project_id, assistant_id) = 1);
alter table artifacts drop column namespace;
alter table artifacts add column namespace text not null generated always as
  (case when project_id is not null then 'project:' || project_id when chat_id is not null then 'chat:' || chat_id
    else 'assistant:' || assistant_id end) stored;
alter table artifacts add constraint artifacts_namespace_path_key unique (namespace, path);
create index artifacts_search on artifacts using gin (namespace, search gin_trgm_ops) with (fastupdate = off);
create index artifacts_assistant on artifacts (assistant_id) where assistant_id is not null;

-- Files of each version of an assistant. The rows of the newest version are the present files in artifacts.
create table assistant_version_files (
  assistant_id text not null,
  version integer not null,
  artifact_id text not null,
  path text collate "C" not null,
  search text not null,
  media_type text not null,
  size bigint not null,
  sha256 text not null references blobs,
  created_by text references users on delete set null,
  created_at timestamptz not null,
  primary key (assistant_id, version, artifact_id),
  foreign key (assistant_id, version) references assistant_versions on delete cascade
);
create index assistant_version_files_content on assistant_version_files (sha256);
create index assistant_version_files_author on assistant_version_files (created_by) where created_by is not null;

-- True for a version that only adds files to the one before it: files that one person adds in a row share a version.
alter table assistant_versions add column adds_files boolean not null default false;
