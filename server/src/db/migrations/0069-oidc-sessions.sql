-- Sessions that an identity provider opened, and the address where the person signs out there: with the ID token as a hint,
-- while the setting endSession is on.
alter table sessions add column by_oidc boolean not null default false;
alter table sessions add column sign_out_url text check (length(sign_out_url) <= 8192);
