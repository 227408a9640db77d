-- Who this installation is, for replicas with settings of another one: a name that its file store keeps as well, a text sealed
-- with its encryption key, and whether the name has been put into the store.
alter table installation
  add column id text not null default gen_random_uuid()::text,
  add column key_canary text,
  add column store_marked boolean not null default false;
