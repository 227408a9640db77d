-- The protocol of a provider, and what a model wants back unread within a turn (signatures of its thinking): it leaves with the
-- request to the same model and goes when the response is complete.
alter table providers add column kind text not null default 'openai'
  check (kind in ('openai', 'openai-responses', 'anthropic', 'gemini'));
alter table responses add column echoes text;
