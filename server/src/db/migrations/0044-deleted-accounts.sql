-- An account that was deleted while its data was kept: nobody can sign in to it, lists leave it out, and its address is free.
alter table users add column deleted_at timestamptz;
