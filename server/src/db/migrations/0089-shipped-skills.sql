-- Skills of the release that are switched off: by a person, or for everyone where user_id is null.
create table shipped_skills_off (
  name text not null,
  user_id text references users on delete cascade
);
create unique index shipped_skills_off_person on shipped_skills_off (user_id, name);
create unique index shipped_skills_off_everyone on shipped_skills_off (name) where user_id is null;
