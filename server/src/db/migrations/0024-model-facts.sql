-- What is known of a model, and who said so. Null: whatever the registry that comes with Homeport says.
alter table models
  add column abilities jsonb,
  add column prices jsonb,
  add column sources jsonb not null default '{}';

-- A registry of models that an administrator uploaded, in place of the one that comes with Homeport; at most one row.
create table model_registry (
  singleton boolean primary key default true check (singleton),
  revision bigint generated always as identity,
  content text not null,
  uploaded_at timestamptz not null default now()
);
