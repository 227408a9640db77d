-- Answers of the gateway by the key that their client gave them, so that a repeated request gets the same one. A run that
-- stops renewing its lease has broken off.
create table gateway_answers (
  owner_id text not null references users on delete cascade,
  key text not null,
  body_hash bytea not null,
  run_id text not null,
  runs integer not null,
  lease_until timestamptz not null,
  media_type text,
  answer text,
  created_at timestamptz not null default now(),
  primary key (owner_id, key)
);
create index gateway_answers_age on gateway_answers (created_at);
