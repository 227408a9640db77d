-- Search texts are prepared by conversations/search-text.ts and carry their owner as a lexeme, so that one index answers
-- 'these words, of this owner' whatever the number of owners.
alter table chats drop column title_search;
alter table chats add column title_search tsvector;
create index chats_title_search on chats using gin (title_search);

-- All messages of a conversation in the order they were made; siblings are found by messages_parent, first messages by messages_roots.
drop index messages_branch;
create index messages_chat on messages (chat_id, seq);
create index messages_roots on messages (chat_id, seq) where parent_id is null;

create index chats_project on chats (owner_id, project_id, archived, updated_at desc, id desc) where project_id is not null;

-- Of indexes that look equally cheap while a table is empty the planner takes the newest, and a prepared statement keeps it:
-- the ones by conversation are made last.
drop index responses_one_running;
create unique index responses_one_running on responses (chat_id) where state = 'running';
drop index inputs_queue;
create index inputs_queue on inputs (chat_id, position) where state = 'queued';
