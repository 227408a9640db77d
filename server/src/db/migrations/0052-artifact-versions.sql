-- Earlier contents of an artifact: replacing it keeps what was there, within bounds. Its present content is the row in artifacts.
alter table artifacts add column version integer not null default 1;
-- Who made the present content, and when, if it is not the first one.
alter table artifacts add column changed_by text references users on delete set null;
alter table artifacts add column changed_at timestamptz;
create index artifacts_changed_by on artifacts (changed_by) where changed_by is not null;

create table artifact_versions (
  artifact_id text not null references artifacts on delete cascade,
  version integer not null,
  media_type text not null,
  size bigint not null,
  sha256 text not null references blobs,
  author_id text references users on delete set null,
  created_at timestamptz not null,
  primary key (artifact_id, version)
);
create index artifact_versions_content on artifact_versions (sha256);
create index artifact_versions_author on artifact_versions (author_id) where author_id is not null;
