-- With whom an administrator of the community edition shares a provider. It counts only while its owner is an enabled administrator.
alter table providers add column shared_with text not null default 'none' check (shared_with in ('none', 'everyone', 'users'));
create index providers_shared on providers (owner_id) where shared_with <> 'none';

create table provider_shares (
  provider_id text not null references providers on delete cascade,
  user_id text not null references users on delete cascade,
  primary key (provider_id, user_id)
);
create index provider_shares_user on provider_shares (user_id);
