-- A row is written before a password is checked, and marked when it was wrong.
alter table sign_in_failures add column failed boolean not null default false;
create index sign_in_failures_at on sign_in_failures (at);
