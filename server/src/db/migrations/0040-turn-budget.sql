-- What administrators have set of the budget of a turn: {"steps", "minutes", "tokens"}; what is missing has its default.
alter table settings add column turn_budget jsonb not null default '{}';
