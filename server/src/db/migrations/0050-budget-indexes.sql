-- Migration 0028 made one index, which PostgreSQL 14 does not know, before it made these two: databases of either kind end up alike.
drop index if exists budgets_once;
create unique index if not exists budgets_of_person on budgets (user_id, unit, period) where user_id is not null;
create unique index if not exists budgets_of_all on budgets (scope, unit, period) where user_id is null;
