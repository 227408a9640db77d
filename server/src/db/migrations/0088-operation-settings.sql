-- Settings of the operation that administrators change in the page, by name; an absent one has its default. A variable of
-- the environment wins.
alter table settings add column operation jsonb not null default '{}';
