-- Workspaces: a row for everybody who ever started one. `generation` counts its starts, and fences: who begins, ends or takes over a
-- start or a stop names the generation and the phase that it found. `slot` is a small number of its own for ever (a uid is made of it).
create table workspaces (
  user_id text primary key references users on delete cascade,
  slot integer not null unique generated always as identity,
  phase text not null default 'stopped' check (phase in ('stopped', 'starting', 'running', 'stopping')),
  generation integer not null default 0,
  -- Where this generation runs; `host` only where that is one machine.
  runtime text check (runtime in ('local', 'docker', 'kubernetes')),
  host text,
  -- SHA-256 of what the workspace authenticates with, and the encryption key that the daemon's token is made of.
  token_hash text unique,
  key_id text,
  -- Who starts or stops it now. When op_until runs out, anybody may take over.
  op_owner text,
  op_until timestamptz,
  -- What a start waits for, in words.
  message text,
  stop_reason text check (stop_reason in ('person', 'idle', 'age', 'disabled', 'failed', 'lost')),
  -- Why it failed or was lost, in words.
  last_error text,
  started_at timestamptz,
  last_activity_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  check (phase in ('stopped', 'running') or (op_owner is not null and op_until is not null)),
  check (phase = 'stopped' or (runtime is not null and key_id is not null))
);
create index workspaces_alive on workspaces (phase) where phase <> 'stopped';

-- Who uses a running workspace. A lease that is not renewed counts for nothing; taking one also touches the workspace's row.
create table workspace_leases (
  id text primary key,
  user_id text not null references workspaces on delete cascade,
  generation integer not null,
  kind text not null check (kind in ('turn', 'exec', 'terminal', 'transfer')),
  expires_at timestamptz not null
);
create index workspace_leases_user on workspace_leases (user_id, expires_at);

-- The one machine that local workspaces of this installation run on, as long as it shows itself.
create table workspace_hosts (
  runtime text primary key check (runtime = 'local'),
  host text not null,
  name text not null,
  seen_at timestamptz not null default now()
);
