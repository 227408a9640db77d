-- Lists of people by name and by the last use of a session, and the invitations that still wait.
create index users_by_name on users (lower(name), id);
create index sessions_by_use on sessions (user_id, updated_at);
drop index sessions_user;
create index invitations_open on invitations (created_at desc, id desc) where accepted_at is null and revoked_at is null;
