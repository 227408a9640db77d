-- Search texts that were prepared by an older conversations/search-text.ts are prepared anew in small steps, in the order of their
-- ids: after_id is the last one done. A row goes when its walk is over.
create table search_walks (
  what text primary key check (what in ('messages', 'chats')),
  after_id text not null default ''
);
insert into search_walks (what) select 'messages' where exists (select from messages);
insert into search_walks (what) select 'chats' where exists (select from chats);
