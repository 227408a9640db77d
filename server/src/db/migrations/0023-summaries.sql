-- Where the context of a branch begins: made by chat/responses/summaries.ts, read with the branch. A row counts for every branch that
-- holds up_to_message_id. `summary`: its text stands for the messages up to there; `cut`: they are left out; `prune`: their tool
-- results are one line each. base_id is the summary that a row builds on: it goes when that one is undone.
create table summaries (
  id text primary key,
  chat_id text not null references chats on delete cascade,
  up_to_message_id text not null references messages on delete cascade,
  kind text not null check (kind in ('summary', 'cut', 'prune')),
  text text not null default '',
  base_id text references summaries on delete cascade,
  first_message_id text references messages on delete cascade,
  created_at timestamptz not null default now(),
  unique (up_to_message_id, kind)
);
create index summaries_chat on summaries (chat_id);
create index summaries_base on summaries (base_id) where base_id is not null;
create index summaries_first on summaries (first_message_id) where first_message_id is not null;

-- Off after three failures in a row, or when a person undid a summary, until a person asks for one.
alter table chats add column auto_compaction boolean not null default true;
alter table chats add column compaction_failures smallint not null default 0;

-- A summary that a person asked for runs as a response of its own, without a message.
alter table responses add column kind text not null default 'answer' check (kind in ('answer', 'compaction'));
