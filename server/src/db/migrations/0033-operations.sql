-- Backups of this installation. A row that is `running` before its `lease_until` keeps the contents of files from being removed.
create table backups (
  id text primary key,
  cause text not null check (cause in ('command', 'schedule', 'page')),
  state text not null check (state in ('running', 'done', 'failed')),
  place text not null,
  progress jsonb not null default '{}',
  error text,
  size bigint,
  sha256 text,
  lease_until timestamptz not null,
  started_at timestamptz not null default now(),
  finished_at timestamptz
);
create index backups_started_at on backups (started_at);

-- While `since` is set, people can read and not write.
create table maintenance (
  singleton boolean primary key default true check (singleton),
  since timestamptz,
  message text
);
insert into maintenance default values;
