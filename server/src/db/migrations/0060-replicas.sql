-- The processes that serve this database. Replicas of earlier and later releases read it: no release may rename or remove a column.
create table replicas (
  id text primary key,
  release text not null,
  schema text not null,
  host text not null,
  seen_at timestamptz not null default now()
);
