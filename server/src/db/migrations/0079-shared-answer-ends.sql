-- How the answers of a snapshot ended, as in messages. Explanations of makers are not published.
alter table share_messages add column finish_reason text check (finish_reason in
  ('stop', 'length', 'content_filter', 'refusal', 'reasoning_only', 'tool_calls', 'error', 'other'));
