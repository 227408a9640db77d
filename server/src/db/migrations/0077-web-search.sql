-- Search services: the installation's in the row without a person, and people's own.
create table web_search_settings (
  id text primary key,
  user_id text references users on delete cascade,
  kind text not null default 'off' check (kind in ('off', 'searxng', 'brave', 'tavily', 'exa', 'kagi')),
  base_url text check (length(base_url) <= 2048),
  api_key text,
  for_everyone boolean not null default true,
  ask_after_reading text not null default 'on' check (ask_after_reading in ('off', 'on', 'forced')),
  updated_at timestamptz not null default now()
);
create unique index web_search_settings_user on web_search_settings (user_id);
insert into web_search_settings (id) values ('installation');

-- Whether models may use the web in a conversation; null: as the settings say.
alter table chats add column web boolean;

-- Search results and pages that models got from the web, as they saw them. The number is how an answer cites them: it is
-- unique in a conversation. A result becomes a page when it is read.
create table web_sources (
  id text primary key,
  chat_id text not null references chats on delete cascade,
  message_id text not null references messages on delete cascade,
  owner_id text not null,
  number integer not null,
  is_page boolean not null,
  url text not null check (length(url) <= 2048),
  -- The address that was asked for, before redirects.
  asked_url text not null check (length(asked_url) <= 2048),
  title text not null,
  text text not null check (octet_length(text) <= 262144),
  hash text not null,
  published_at text,
  read_at timestamptz not null default now(),
  unique (chat_id, number)
);
create index web_sources_message on web_sources (message_id);
create index web_sources_recent on web_sources (owner_id, read_at) where is_page;
