-- The text of documents, made once for each content and version of the readers, and gone with the content. documents/document-store.ts
-- writes both tables. `claim` is of whoever reads the file at the moment; after claimed_until others may.
create table documents (
  sha256 text not null references blobs on delete cascade,
  version integer not null,
  state text not null check (state in ('working', 'ready', 'failed')),
  claim text,
  claimed_until timestamptz,
  attempts integer not null default 1,
  kind text,
  pages integer,
  tokens integer,
  warnings jsonb not null default '[]',
  problem jsonb,
  primary key (sha256, version)
);

-- Pages in pieces of a few thousand characters: what is searched and what is read. `words` are as in searches of conversations.
create table document_chunks (
  sha256 text not null,
  version integer not null,
  page integer not null,
  piece integer not null,
  label text not null,
  text text not null,
  words tsvector not null,
  primary key (sha256, version, page, piece),
  foreign key (sha256, version) references documents on delete cascade
);
create index document_chunks_words on document_chunks using gin (words);
