create table env_var (
  site_id         text        not null references site on delete cascade,
  name            text        not null,
  -- A secret's value leaves through no route; the others can be read by admins.
  secret          boolean     not null,
  storage_backend text        not null check (storage_backend in ('ssmSecureString', 'ssmString')),
  -- AES-256-GCM under the site's key, secret or not; the name is part of what is authenticated.
  sealed          bytea       not null,
  created_at      timestamptz not null default now(),
  updated_at      timestamptz not null default now(),
  primary key (site_id, name),
  check (not secret or storage_backend = 'ssmSecureString')
);

alter table env_var enable row level security;
alter table env_var force row level security;
create policy site_isolation on env_var
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));
