-- Whether a tool, file, terminal or preview has used the running generation: an unused one is stopped sooner.
alter table workspaces add column used boolean not null default false;
update workspaces set used = true where phase in ('starting', 'running');

alter table workspaces drop constraint workspaces_stop_reason_check;
alter table workspaces add constraint workspaces_stop_reason_check
  check (stop_reason in ('person', 'idle', 'age', 'disabled', 'failed', 'lost', 'release'));
