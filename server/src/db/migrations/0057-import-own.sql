-- Homeport's own export brings assistants, prompts and skills as well.
alter table import_entries drop constraint import_entries_kind_check;
alter table import_entries add constraint import_entries_kind_check
  check (kind in ('conversation', 'project', 'assistant', 'prompt', 'skill'));
