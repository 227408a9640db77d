-- Invitations (contract section 3). The token is stored as its SHA-256; the state is told by the three times.
create table invitations (
  id text primary key,
  email text not null check (email = lower(email)),
  name text,
  role text not null check (role in ('admin', 'user')),
  provider_settings_enabled boolean not null,
  mcp_settings_enabled boolean not null,
  token_hash text not null unique,
  created_by text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  accepted_at timestamptz,
  accepted_by text,
  revoked_at timestamptz
);
create index invitations_list on invitations (created_at desc, id desc);

create index users_list on users (created_at, id);

-- Audit log (contract section 10). It outlives what it tells of: no foreign keys.
create table audit_events (
  id text primary key,
  at timestamptz not null default clock_timestamp(),
  actor_id text,
  action text not null,
  target_type text,
  target_id text,
  address text,
  request_id text,
  details jsonb not null
);
create index audit_events_list on audit_events (at desc, id desc);
-- Those of the last minutes are counted before another is written.
create index audit_events_failed_sign_ins on audit_events (target_id, at) where action = 'session.sign_in_failed';
