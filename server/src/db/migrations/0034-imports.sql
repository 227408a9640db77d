-- What people bring from other programs. The archive is kept (sha256) until its import has ended; `claim` is of whoever reads it at
-- the moment, and after claimed_until others may. operations/import-records.ts and import-entries.ts write these tables.
create table imports (
  id text primary key,
  owner_id text not null references users on delete cascade,
  state text not null check (state in ('reading', 'ready', 'importing', 'done', 'failed', 'cancelled', 'undone')),
  -- It is imported as soon as it has been read.
  is_wanted boolean not null,
  -- It is being undone, until its state says so.
  is_undoing boolean not null default false,
  filename text,
  source text,
  sha256 text references blobs,
  size bigint not null,
  instructions text,
  problems jsonb not null default '[]',
  attempts integer not null default 0,
  claim text,
  claimed_until timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  ended_at timestamptz
);
create index imports_list on imports (owner_id, created_at desc, id desc);
create index imports_open on imports (created_at) where state in ('reading', 'importing') or is_undoing;
create index imports_content on imports (sha256) where sha256 is not null;

-- One row for each conversation and project of an archive: what will come, or came. Messages from first_seq to last_seq are its own.
create table import_entries (
  import_id text not null references imports on delete cascade,
  position integer not null,
  kind text not null check (kind in ('conversation', 'project')),
  title text not null,
  outcome text not null check (outcome in ('new', 'more', 'same', 'left_out')),
  reason text,
  messages integer not null default 0,
  files integer not null default 0,
  target_id text,
  is_done boolean not null default false,
  first_seq bigint,
  last_seq bigint,
  primary key (import_id, position)
);
create index import_entries_target on import_entries (target_id) where target_id is not null;
