-- What models are told, in layers, and how they are to answer.
alter table settings add column instructions text;
alter table users add column instructions text, add column about_me jsonb;
alter table projects add column instructions text;
alter table models add column parameters jsonb not null default '{}';
alter table chats
  add column instructions text,
  add column parameters jsonb not null default '{}',
  add column temporary boolean not null default false;
-- Lists leave temporary conversations out, and read an index in its order.
drop index chats_list;
create index chats_list on chats (owner_id, archived, temporary, updated_at desc, id desc);
drop index chats_project;
create index chats_project on chats (owner_id, project_id, archived, temporary, updated_at desc, id desc)
  where project_id is not null;
create index chats_temporary on chats (updated_at) where temporary;

-- What a model was told with an answer. Texts are kept once for each owner; those of one conversation go with it.
create table told_texts (
  hash text primary key,
  owner_id text not null references users (id) on delete cascade,
  chat_id text references chats (id) on delete cascade,
  text text not null
);
create index told_texts_owner on told_texts (owner_id);
create index told_texts_chat on told_texts (chat_id) where chat_id is not null;
create table told_contexts (
  message_id text primary key references messages (id) on delete cascade,
  context jsonb not null
);
