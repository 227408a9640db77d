-- Reason, values and the provider's own sentence of a failed answer, from which clients make a text in their language.
alter table messages add column error_details jsonb check (octet_length(error_details::text) <= 8192);
