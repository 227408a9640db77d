-- Old calls are removed (usage/retention.ts), and new ones take their place in the table: its order is no longer that of time, which
-- the index before relied on.
create index usage_calls_by_time on usage_calls (at);
drop index usage_calls_at;
