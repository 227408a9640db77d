-- People that accounts can find when they add members or share: those in their projects, or everyone here.
alter table settings add column people_search text not null default 'projects' check (people_search in ('projects', 'everyone'));
