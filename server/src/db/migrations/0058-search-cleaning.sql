-- New words wait in a list until an insert finds it full and sorts it into the index. At PostgreSQL's 4 MB that insert took a third
-- of a second, and all who waited for its transaction with it.
alter index messages_search set (gin_pending_list_limit = 1024);
