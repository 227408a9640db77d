-- An answer that a stopping replica could not finish; another one goes on with it.
alter table responses add column handed_over boolean not null default false;
create index responses_handed_over on responses (ended_at) where handed_over;
