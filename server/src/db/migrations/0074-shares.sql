-- Audiences that share links may have: none, readers with an account here, or anybody.
alter table settings add column sharing text not null default 'inside' check (sharing in ('off', 'inside', 'public'));

-- Share links: a snapshot of a conversation or of one file under an address whose token is stored as a hash.
create table shares (
  id text primary key,
  owner_id text not null references users on delete cascade,
  token_hash text not null unique,
  chat_id text references chats on delete cascade,
  artifact_id text references artifacts on delete cascade,
  leaf_message_id text,
  title text not null,
  author text,
  audience text not null check (audience in ('link', 'signed_in', 'people')),
  password_hash text,
  expires_at timestamptz,
  include jsonb not null default '{}',
  views bigint not null default 0,
  -- Counts changes; signed addresses of files belong to one revision.
  revision integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check ((chat_id is null) <> (artifact_id is null))
);
create index shares_owner on shares (owner_id, created_at desc, id desc);
create index shares_newest on shares (created_at desc, id desc);
create index shares_chat on shares (chat_id) where chat_id is not null;
create index shares_artifact on shares (artifact_id) where artifact_id is not null;
create index shares_end on shares (expires_at) where expires_at is not null;

create table share_people (
  share_id text not null references shares on delete cascade,
  user_id text not null references users on delete cascade,
  primary key (share_id, user_id)
);
create index share_people_user on share_people (user_id);

create table share_messages (
  share_id text not null references shares on delete cascade,
  n integer not null,
  role text not null check (role in ('user', 'assistant')),
  status text not null check (status in ('complete', 'stopped', 'failed', 'interrupted')),
  parts text not null,
  created_at timestamptz not null,
  primary key (share_id, n)
);

-- Files of a snapshot with the content of that moment. A deleted file leaves its shares.
create table share_files (
  share_id text not null references shares on delete cascade,
  n integer not null,
  artifact_id text not null references artifacts on delete cascade,
  sha256 text not null references blobs,
  size bigint not null,
  media_type text not null,
  filename text not null,
  primary key (share_id, n)
);
create index share_files_artifact on share_files (artifact_id);
create index share_files_content on share_files (sha256);

-- Passwords tried for a share from an address: wrong ones, and those that are being checked.
create table share_tries (
  id bigint generated always as identity primary key,
  share_id text not null references shares on delete cascade,
  address text not null,
  failed boolean not null default false,
  at timestamptz not null
);
create index share_tries_share on share_tries (share_id, address, at);
