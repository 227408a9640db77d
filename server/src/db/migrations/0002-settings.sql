-- Installation settings, one row. The JSON holds what administrators have set; what is missing has its default in settings/.
create table settings (
  singleton boolean primary key default true check (singleton),
  branding jsonb not null default '{}' check (jsonb_typeof(branding) = 'object'),
  oidc jsonb not null default '{}' check (jsonb_typeof(oidc) = 'object'),
  oidc_client_secret text,
  updated_at timestamptz not null default now()
);
insert into settings default values;
