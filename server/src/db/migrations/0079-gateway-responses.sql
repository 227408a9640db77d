-- Responses that a client of the gateway asked to store. Each is the end of a conversation's branch.
create table gateway_responses (
  id text primary key,
  owner_id text not null references users on delete cascade,
  chat_id text not null references chats on delete cascade,
  message_id text not null references messages on delete cascade,
  response text not null,
  created_at timestamptz not null default now()
);
create index gateway_responses_owner on gateway_responses (owner_id);
create index gateway_responses_chat on gateway_responses (chat_id);
create index gateway_responses_message on gateway_responses (message_id);
