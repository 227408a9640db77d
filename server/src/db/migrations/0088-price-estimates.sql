-- Calls whose cost is an estimate: by the maker's list price, because the model is reached through another server.
alter table usage_calls add column price_estimated boolean not null default false;
alter table usage_days add column estimated_price_calls bigint not null default 0;
