comment on table search_walks is 'Search texts of an older version that are being rebuilt; empty once they are.';

-- Search texts have no accents and hold the endings of words: all older ones are rebuilt.
insert into search_walks (what, after_id)
  select walk.what, '' from (values ('messages'), ('chats')) walk (what) where exists (select from chats)
  on conflict (what) do update set after_id = '';
