-- The authenticator app of an account (RFC 6238), once its first code was right, and the codes for who has lost it.
create table user_totp (
  site_id               text        not null,
  user_pool_id          text        not null,
  sub                   text        not null,
  -- Sealed with the site's key.
  sealed_secret         bytea       not null,
  -- Those that were not used yet, as a JSON list of texts, sealed with the site's key.
  sealed_recovery_codes bytea       not null,
  recovery_codes_left   int         not null,
  -- The time step of the last code that was right: no code is right twice.
  last_step             int         not null,
  -- Wrong codes since `failed_since`, whoever entered them.
  failures              int         not null default 0,
  failed_since          timestamptz,
  created_at            timestamptz not null default now(),
  primary key (site_id, user_pool_id, sub),
  foreign key (site_id, user_pool_id, sub) references pool_user on delete cascade
);

alter table user_totp enable row level security;
alter table user_totp force row level security;
create policy site_isolation on user_totp
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));
