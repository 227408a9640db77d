-- Models that answer, in this order, when the provider of a model fails before its first output.
create table model_stand_ins (
  model_id text not null references models on delete cascade,
  position integer not null check (position between 0 and 2),
  stand_in_id text not null references models on delete cascade,
  primary key (model_id, position),
  unique (model_id, stand_in_id),
  check (model_id <> stand_in_id)
);
create index model_stand_ins_stand_in on model_stand_ins (stand_in_id);

alter table providers
  add column region text,
  add column only_regions jsonb not null default '[]';
