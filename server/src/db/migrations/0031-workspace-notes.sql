-- What models are told of a person's workspace, as its daemon last said: while a workspace is stopped, its files do not change.
create table workspace_notes (
  user_id text primary key references users on delete cascade,
  notes jsonb not null
);

-- The folder that a conversation's tools last worked in: the AGENTS.md files that lead to it count.
create table chat_folders (
  chat_id text primary key references chats on delete cascade,
  folder text not null
);
