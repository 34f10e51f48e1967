-- Secrets with which programs deploy one site. Each opens what its scopes name, and nothing else.
create table deploy_token (
  site_id      text        not null references site on delete cascade,
  token_id     text        not null,
  -- What its maker calls it.
  name         text        not null,
  -- Names of scopes, as a JSON array.
  scopes       jsonb       not null,
  -- Id of a user of the admin pool, or `operator`: the token is good for as long as its maker is a super-admin.
  created_by   text        not null,
  -- SHA-256 of 256 random bits.
  secret_hash  bytea       not null,
  created_at   timestamptz not null,
  -- Null for one that never ends by itself.
  expires_at   timestamptz,
  -- To the hour.
  last_used_at timestamptz,
  primary key (site_id, token_id)
);

create unique index deploy_token_by_secret on deploy_token (site_id, secret_hash);
alter table deploy_token enable row level security;
alter table deploy_token force row level security;
create policy site_isolation on deploy_token
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));
