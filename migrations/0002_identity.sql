create table user_pool (
  site_id      text        not null references site on delete cascade,
  user_pool_id text        not null,
  kind         text        not null check (kind in ('admin', 'data')),
  created_at   timestamptz not null default now(),
  primary key (site_id, user_pool_id),
  unique (site_id, kind)
);

alter table user_pool enable row level security;
alter table user_pool force row level security;
create policy site_isolation on user_pool
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

create table pool_client (
  site_id      text        not null,
  client_id    text        not null,
  user_pool_id text        not null,
  purpose      text        not null check (purpose in ('default')),
  created_at   timestamptz not null default now(),
  primary key (site_id, client_id),
  unique (site_id, user_pool_id, purpose),
  foreign key (site_id, user_pool_id) references user_pool on delete cascade
);

alter table pool_client enable row level security;
alter table pool_client force row level security;
create policy site_isolation on pool_client
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

create table signing_key (
  site_id        text        not null,
  user_pool_id   text        not null,
  kid            text        not null,
  alg            text        not null,
  public_jwk     jsonb       not null,
  -- PKCS #8, sealed with the site's key.
  sealed_private bytea       not null,
  created_at     timestamptz not null default now(),
  -- Signs nothing from here on; stays in the JWKS until `expires_at`, when the last token signed with it has ended.
  retired_at     timestamptz,
  expires_at     timestamptz,
  primary key (site_id, user_pool_id, kid),
  foreign key (site_id, user_pool_id) references user_pool on delete cascade
);

alter table signing_key enable row level security;
alter table signing_key force row level security;
create policy site_isolation on signing_key
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

create table pool_user (
  site_id        text        not null,
  user_pool_id   text        not null,
  sub            text        not null,
  email          text        not null check (email = lower(email)),
  email_verified boolean     not null default false,
  external_email text,
  -- Set in the admin pool only.
  role           text        check (role in ('user', 'admin', 'super-admin')),
  status         text        not null check (status in ('INVITED', 'ACTIVE')),
  -- Tokens issued before this moment are refused.
  tokens_valid_after timestamptz not null default '-infinity',
  created_at     timestamptz not null default now(),
  updated_at     timestamptz not null default now(),
  primary key (site_id, user_pool_id, sub),
  unique (site_id, user_pool_id, email),
  foreign key (site_id, user_pool_id) references user_pool on delete cascade
);

alter table pool_user enable row level security;
alter table pool_user force row level security;
create policy site_isolation on pool_user
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

create table user_invite (
  site_id      text        not null,
  token_hash   bytea       not null,
  user_pool_id text        not null,
  sub          text        not null,
  expires_at   timestamptz not null,
  used_at      timestamptz,
  created_at   timestamptz not null default now(),
  primary key (site_id, token_hash),
  foreign key (site_id, user_pool_id, sub) references pool_user on delete cascade
);

create index user_invite_by_user on user_invite (site_id, user_pool_id, sub);
alter table user_invite enable row level security;
alter table user_invite force row level security;
create policy site_isolation on user_invite
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));
