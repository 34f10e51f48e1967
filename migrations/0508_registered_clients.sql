-- Applications beside the site's own that sign people in, each with a proof of its own: a secret, keys, or PKCE alone.
alter table pool_client drop constraint pool_client_purpose_check;
alter table pool_client add constraint pool_client_purpose_check check (purpose in ('default', 'link', 'registered'));
alter table pool_client drop constraint pool_client_site_id_user_pool_id_purpose_key;
create unique index pool_client_by_own_purpose on pool_client (site_id, user_pool_id, purpose) where purpose <> 'registered';

alter table pool_client
  -- What people are told of it; null for the site's own.
  add column name text check (char_length(name) between 1 and 100),
  add column privacy_uri text,
  add column logo bytea check (octet_length(logo) <= 32768),
  add column logo_type text check (logo_type in ('image/png', 'image/jpeg', 'image/webp')),
  add column is_third_party boolean not null default false,
  add column authentication text not null default 'none'
    check (authentication in ('none', 'client_secret', 'private_key_jwt')),
  -- SHA-256 of 256 random bits. The former one is good until it ends.
  add column secret_hash bytea,
  add column former_secret_hash bytea,
  add column former_secret_ends_at timestamptz,
  -- Public keys (RFC 7517), for `private_key_jwt`.
  add column jwks jsonb,
  add column updated_at timestamptz not null default now(),
  add constraint pool_client_registered check ((purpose = 'registered') = (name is not null)),
  add constraint pool_client_secret check ((authentication = 'client_secret') = (secret_hash is not null)),
  add constraint pool_client_keys check ((authentication = 'private_key_jwt') = (jwks is not null)),
  add constraint pool_client_logo check ((logo is null) = (logo_type is null));

-- A client that proves itself may leave PKCE out.
alter table authorization_code alter column code_challenge drop not null;

-- Which proofs of clients with keys were used: each is good once.
create table client_assertion (
  site_id    text        not null,
  client_id  text        not null,
  -- SHA-256 of its `jti`.
  jti_hash   bytea       not null,
  expires_at timestamptz not null,
  primary key (site_id, client_id, jti_hash),
  foreign key (site_id, client_id) references pool_client on delete cascade
);

create index client_assertion_by_expiry on client_assertion (site_id, expires_at);
alter table client_assertion enable row level security;
alter table client_assertion force row level security;
create policy site_isolation on client_assertion
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));
