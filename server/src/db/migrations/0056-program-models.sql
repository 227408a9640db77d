-- What programs in a workspace authenticate model calls with: SHA-256 of a token that is made of the workspace's own, one-way.
alter table workspaces add column model_token_hash text unique;

alter table usage_calls drop constraint usage_calls_kind_check;
alter table usage_calls add constraint usage_calls_kind_check
  check (kind in ('answer', 'title', 'summary', 'delegate', 'program'));
