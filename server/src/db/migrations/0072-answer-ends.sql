-- How an answer ended, with the explanation of its maker; null while it runs and for answers made before.
alter table messages
  add column finish_reason text check (finish_reason in
    ('stop', 'length', 'content_filter', 'refusal', 'reasoning_only', 'tool_calls', 'error', 'other')),
  add column finish_detail text check (char_length(finish_detail) <= 2000);
-- Seconds until the first byte of an answer; null: by the kind of the address.
alter table providers add column first_byte_seconds int check (first_byte_seconds between 10 and 3600);
