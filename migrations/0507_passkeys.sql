-- Keys that an account's devices hold (WebAuthn).
create table user_passkey (
  site_id       text        not null,
  user_pool_id  text        not null,
  credential_id bytea       not null,
  sub           text        not null,
  -- COSE.
  public_key    bytea       not null,
  -- Of signatures, as far as the device counts them.
  sign_count    bigint      not null,
  transports    jsonb       not null,
  -- The owner's own.
  name          text        not null check (char_length(name) between 1 and 100),
  created_at    timestamptz not null default now(),
  last_used_at  timestamptz,
  primary key (site_id, user_pool_id, credential_id),
  foreign key (site_id, user_pool_id, sub) references pool_user on delete cascade
);

create index user_passkey_by_user on user_passkey (site_id, user_pool_id, sub);
alter table user_passkey enable row level security;
alter table user_passkey force row level security;
create policy site_isolation on user_passkey
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

alter table sign_in_session drop constraint sign_in_session_method_check;
alter table sign_in_session add constraint sign_in_session_method_check
  check (method in ('password', 'google', 'onboarding', 'passkey'));
