-- Lessons about a model from refusals of its server. They count for the address at which they were learned only.
create table model_lessons (
  model_id text not null references models on delete cascade,
  address text not null,
  about text not null check (about in ('tools', 'images', 'system', 'parameter', 'max_output', 'context', 'reasoning')),
  value text not null,
  learned_at timestamptz not null default now(),
  primary key (model_id, about, value)
);
