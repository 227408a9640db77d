-- Addresses from which an account has signed in with its password: they go first, and keep tries of their own. `email` is a hash,
-- as in sign_in_failures.
create table sign_in_addresses (
  address text not null,
  email text not null,
  at timestamptz not null default now(),
  primary key (address, email)
);
create index sign_in_addresses_at on sign_in_addresses (at);

-- Counts up when the OIDC configuration is saved or its test succeeds: what a replica remembers of the provider is older then.
alter table settings add column oidc_revision bigint not null default 0;
