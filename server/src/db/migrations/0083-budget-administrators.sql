-- Whether a budget for everyone, or for each person, also stops administrators. It did before this column.
alter table budgets add column stops_administrators boolean not null default true;
