-- What models cost: written by usage/ledger.ts, in the statement that stores what a call made. It outlives conversations and
-- accounts, so it refers to neither, and it holds no text of a conversation. Money is in millionths of a US dollar.
create table usage_calls (
  response_id text not null,
  kind text not null check (kind in ('answer', 'title', 'summary', 'delegate')),
  generation int not null,
  step int not null,
  at timestamptz not null default now(),
  owner_id text not null,
  provider_name text not null,
  provider_model_id text not null,
  input_tokens bigint not null,
  cached_input_tokens bigint not null,
  cache_write_tokens bigint not null,
  output_tokens bigint not null,
  reasoning_tokens bigint not null,
  -- Prices of the moment, and what the call cost by them or as its provider says; null: not known.
  prices jsonb,
  cost bigint,
  -- The provider told no count, because the call was cut off.
  estimated boolean not null,
  primary key (response_id, kind, generation, step)
);
create index usage_calls_at on usage_calls using brin (at);

-- Sums by UTC day, for pages and budgets.
create table usage_days (
  owner_id text not null,
  day date not null,
  provider_name text not null,
  provider_model_id text not null,
  calls bigint not null,
  unpriced_calls bigint not null,
  input_tokens bigint not null,
  cached_input_tokens bigint not null,
  cache_write_tokens bigint not null,
  output_tokens bigint not null,
  reasoning_tokens bigint not null,
  cost bigint not null,
  primary key (owner_id, day, provider_name, provider_model_id)
) with (fillfactor = 70);
create index usage_days_day on usage_days (day);

-- What everybody used together, in several rows a day: calls that end at the same time do not wait for one another.
create table usage_totals (
  day date not null,
  shard smallint not null,
  tokens bigint not null,
  cost bigint not null,
  primary key (day, shard)
) with (fillfactor = 50);

-- `each`: for everybody without a budget of their own (`person`) of the same unit and period. A null amount is no limit.
create table budgets (
  scope text not null check (scope in ('everyone', 'each', 'person')),
  user_id text references users on delete cascade,
  unit text not null check (unit in ('tokens', 'cost')),
  period text not null check (period in ('day', 'month')),
  amount bigint check (amount >= 0),
  check ((scope = 'person') = (user_id is not null)),
  check (scope = 'person' or amount is not null)
);
-- Two indexes, because PostgreSQL 14 does not know `nulls not distinct`.
create unique index budgets_of_person on budgets (user_id, unit, period) where user_id is not null;
create unique index budgets_of_all on budgets (scope, unit, period) where user_id is null;
