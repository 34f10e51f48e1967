-- What a site may decide about a pool; a key that is absent is the default of `identity/pools/settings.ts`.
alter table user_pool add column settings jsonb not null default '{}';

alter table pool_client drop constraint pool_client_purpose_check;
alter table pool_client add constraint pool_client_purpose_check check (purpose in ('default', 'link'));
-- Beside those on the site's own domain, which follow the domain and are computed.
alter table pool_client add column redirect_uris jsonb not null default '[]';
alter table pool_client add column logout_uris jsonb not null default '[]';
-- Whether the client may use Cognito's JSON API at the issuer.
alter table pool_client add column cognito_api boolean not null default false;

-- Data pools that exist already get their client for linking. The owner sees rows of every site for this one statement.
alter table user_pool no force row level security;
alter table pool_client no force row level security;
insert into pool_client (site_id, client_id, user_pool_id, purpose)
select site_id,
       -- 26 lowercase alphanumerics, as `Ids.clientId` makes them.
       substr(encode(sha256(convert_to(gen_random_uuid()::text, 'UTF8')), 'hex'), 1, 26),
       user_pool_id, 'link'
from user_pool where kind = 'data';
alter table user_pool force row level security;
alter table pool_client force row level security;

alter table pool_user drop constraint pool_user_origin_check;
alter table pool_user add constraint pool_user_origin_check
  check (origin in ('invite', 'operator', 'sign-up', 'provider'));
-- Which of the two addresses mail about the account goes to.
alter table pool_user add column active_address text not null default 'primary'
  check (active_address in ('primary', 'external'));
-- Free-form, the client's own; at most 16 KiB.
alter table pool_user add column settings jsonb not null default '{}';

create table user_password (
  site_id      text        not null,
  user_pool_id text        not null,
  sub          text        not null,
  -- argon2id, PHC string.
  hash         text        not null,
  -- SRP salt and verifier, sealed with the site's key; null until a client of the pool may use the Cognito API.
  sealed_srp   bytea,
  updated_at   timestamptz not null default now(),
  primary key (site_id, user_pool_id, sub),
  foreign key (site_id, user_pool_id, sub) references pool_user on delete cascade
);

alter table user_password enable row level security;
alter table user_password force row level security;
create policy site_isolation on user_password
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

-- A sign-up that nobody has confirmed yet. It is no account: it holds no address, and signs nobody in.
create table pending_sign_up (
  site_id         text        not null,
  user_pool_id    text        not null,
  registration_id text        not null,
  -- The account's, once it is one.
  sub             text        not null,
  email           text        not null check (email = lower(email)),
  password_hash   text        not null,
  sealed_srp      bytea,
  -- Keyed hash; null until the code has been mailed.
  code_hash       bytea,
  tries           int         not null default 0,
  expires_at      timestamptz not null,
  created_at      timestamptz not null default now(),
  primary key (site_id, user_pool_id, registration_id),
  foreign key (site_id, user_pool_id) references user_pool on delete cascade
);

create index pending_sign_up_by_email on pending_sign_up (site_id, user_pool_id, email, created_at);
create index pending_sign_up_by_expiry on pending_sign_up (site_id, expires_at);

alter table pending_sign_up enable row level security;
alter table pending_sign_up force row level security;
create policy site_isolation on pending_sign_up
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

-- The one mailed code that is good for a purpose; a newer one takes its place.
create table user_code (
  site_id      text        not null,
  user_pool_id text        not null,
  sub          text        not null,
  purpose      text        not null check (purpose in ('reset', 'address')),
  code_hash    bytea       not null,
  -- The address that the code proves.
  email        text        not null,
  tries        int         not null default 0,
  expires_at   timestamptz not null,
  created_at   timestamptz not null default now(),
  primary key (site_id, user_pool_id, sub, purpose),
  foreign key (site_id, user_pool_id, sub) references pool_user on delete cascade
);

alter table user_code enable row level security;
alter table user_code force row level security;
create policy site_isolation on user_code
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

-- A browser that is signed in to a pool.
create table sign_in_session (
  site_id      text        not null,
  session_id   text        not null,
  token_hash   bytea       not null,
  user_pool_id text        not null,
  sub          text        not null,
  -- When and how the user proved who they are.
  auth_time    timestamptz not null,
  method       text        not null check (method in ('password', 'google', 'onboarding')),
  user_agent   text        not null,
  address      text        not null,
  created_at   timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  expires_at   timestamptz not null,
  primary key (site_id, session_id),
  unique (site_id, token_hash),
  foreign key (site_id, user_pool_id, sub) references pool_user on delete cascade
);

create index sign_in_session_by_user on sign_in_session (site_id, user_pool_id, sub);
create index sign_in_session_by_expiry on sign_in_session (site_id, expires_at);

alter table sign_in_session enable row level security;
alter table sign_in_session force row level security;
create policy site_isolation on sign_in_session
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

-- One sign-in of one client: the refresh tokens that follow from it, each good once. `family_id` is `origin_jti` in its tokens.
create table refresh_family (
  site_id      text        not null,
  family_id    text        not null,
  user_pool_id text        not null,
  client_id    text        not null,
  sub          text        not null,
  -- Null for a sign-in without a browser session (the Cognito API).
  session_id   text,
  scope        text        not null,
  auth_time    timestamptz not null,
  user_agent   text        not null,
  address      text        not null,
  created_at   timestamptz not null default now(),
  expires_at   timestamptz not null,
  revoked_at   timestamptz,
  primary key (site_id, family_id),
  foreign key (site_id, user_pool_id, sub) references pool_user on delete cascade
);

create index refresh_family_by_user on refresh_family (site_id, user_pool_id, sub);
create index refresh_family_by_session on refresh_family (site_id, session_id);
create index refresh_family_by_expiry on refresh_family (site_id, expires_at);

alter table refresh_family enable row level security;
alter table refresh_family force row level security;
create policy site_isolation on refresh_family
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

create table refresh_token (
  site_id    text        not null,
  token_hash bytea       not null,
  family_id  text        not null,
  used_at    timestamptz,
  created_at timestamptz not null default now(),
  primary key (site_id, token_hash),
  foreign key (site_id, family_id) references refresh_family on delete cascade
);

create index refresh_token_by_family on refresh_token (site_id, family_id);

alter table refresh_token enable row level security;
alter table refresh_token force row level security;
create policy site_isolation on refresh_token
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

create table authorization_code (
  site_id        text        not null,
  code_hash      bytea       not null,
  user_pool_id   text        not null,
  client_id      text        not null,
  sub            text        not null,
  session_id     text,
  redirect_uri   text        not null,
  code_challenge text        not null,
  nonce          text,
  scope          text        not null,
  auth_time      timestamptz not null,
  created_at     timestamptz not null default now(),
  expires_at     timestamptz not null,
  -- A used code stays until it expires: a second use ends what came of the first.
  used_at        timestamptz,
  family_id      text,
  primary key (site_id, code_hash),
  foreign key (site_id, user_pool_id, sub) references pool_user on delete cascade
);

create index authorization_code_by_expiry on authorization_code (site_id, expires_at);

alter table authorization_code enable row level security;
alter table authorization_code force row level security;
create policy site_isolation on authorization_code
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

-- An OpenID provider that visitors may sign in with.
create table identity_provider (
  site_id              text        not null,
  user_pool_id         text        not null,
  provider             text        not null check (provider in ('Google')),
  issuer               text        not null,
  client_id            text        not null,
  -- Sealed with the site's key.
  sealed_client_secret bytea       not null,
  scopes               jsonb       not null,
  enabled              boolean     not null,
  created_at           timestamptz not null default now(),
  updated_at           timestamptz not null default now(),
  primary key (site_id, user_pool_id, provider),
  foreign key (site_id, user_pool_id) references user_pool on delete cascade
);

alter table identity_provider enable row level security;
alter table identity_provider force row level security;
create policy site_isolation on identity_provider
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

-- Who an account is at a provider. Nothing but the account's owner, signed in, adds one to an account that exists.
create table user_identity (
  site_id      text        not null,
  user_pool_id text        not null,
  provider     text        not null,
  -- Of the provider, so that another provider configured under the same name is another identity.
  issuer       text        not null,
  subject      text        not null,
  sub          text        not null,
  email        text,
  linked_at    timestamptz not null default now(),
  primary key (site_id, user_pool_id, provider, issuer, subject),
  unique (site_id, user_pool_id, sub, provider),
  foreign key (site_id, user_pool_id, sub) references pool_user on delete cascade
);

alter table user_identity enable row level security;
alter table user_identity force row level security;
create policy site_isolation on user_identity
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

-- A visit to a provider that has not come back yet.
create table provider_visit (
  site_id      text        not null,
  state_hash   bytea       not null,
  user_pool_id text        not null,
  provider     text        not null,
  purpose      text        not null check (purpose in ('sign-in', 'link')),
  -- The client's own request, to which the visit returns; with PKCE verifier and nonce, sealed.
  sealed_visit bytea       not null,
  -- Who links; null for a sign-in.
  sub          text,
  created_at   timestamptz not null default now(),
  expires_at   timestamptz not null,
  primary key (site_id, state_hash),
  foreign key (site_id, user_pool_id) references user_pool on delete cascade
);

create index provider_visit_by_expiry on provider_visit (site_id, expires_at);

alter table provider_visit enable row level security;
alter table provider_visit force row level security;
create policy site_isolation on provider_visit
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

create table data_group (
  site_id     text        not null references site on delete cascade,
  group_name  text        not null,
  description text        not null default '',
  created_at  timestamptz not null default now(),
  primary key (site_id, group_name)
);

alter table data_group enable row level security;
alter table data_group force row level security;
create policy site_isolation on data_group
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

create table data_group_member (
  site_id      text        not null,
  group_name   text        not null,
  user_pool_id text        not null,
  sub          text        not null,
  added_at     timestamptz not null default now(),
  primary key (site_id, group_name, sub),
  foreign key (site_id, group_name) references data_group on delete cascade,
  foreign key (site_id, user_pool_id, sub) references pool_user on delete cascade
);

create index data_group_member_by_user on data_group_member (site_id, user_pool_id, sub);

alter table data_group_member enable row level security;
alter table data_group_member force row level security;
create policy site_isolation on data_group_member
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

create table auth_email_branding (
  site_id      text        not null references site on delete cascade,
  message_type text        not null check (message_type in ('adminVerificationEmail', 'dataVerificationEmail')),
  subject      text        not null,
  html_body    text        not null,
  updated_at   timestamptz not null default now(),
  primary key (site_id, message_type)
);

alter table auth_email_branding enable row level security;
alter table auth_email_branding force row level security;
create policy site_isolation on auth_email_branding
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

-- What happened to accounts, for people who ask later. Never a password, token or code.
create table security_event (
  site_id      text        not null references site on delete cascade,
  event_id     text        not null,
  at           timestamptz not null,
  event        text        not null,
  pool         text        check (pool in ('admin', 'data')),
  sub          text,
  email        text,
  -- Who did it, when it was not the user: an admin's `sub`, or `operator`.
  actor        text,
  client_id    text,
  address      text,
  user_agent   text,
  request_id   text,
  detail       jsonb       not null default '{}',
  primary key (site_id, event_id)
);

create index security_event_by_time on security_event (site_id, at, event_id);

alter table security_event enable row level security;
alter table security_event force row level security;
create policy site_isolation on security_event
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

create table outbound_message (
  site_id    text        not null references site on delete cascade,
  message_id text        not null,
  kind       text        not null,
  recipient  text        not null,
  status     text        not null check (status in ('queued', 'sent', 'captured', 'failed')),
  -- The finished message, sealed with the site's key: it carries codes and links. Null once it has left.
  sealed     bytea,
  attempts   int         not null default 0,
  error      text,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  primary key (site_id, message_id)
);

alter table outbound_message enable row level security;
alter table outbound_message force row level security;
create policy site_isolation on outbound_message
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

-- First answers to requests with an Idempotency-Key.
create table idempotent_answer (
  site_id        text        not null references site on delete cascade,
  -- Route and caller.
  scope          text        not null,
  key_hash       bytea       not null,
  request_digest bytea       not null,
  answer         jsonb,
  created_at     timestamptz not null default now(),
  expires_at     timestamptz not null,
  primary key (site_id, scope, key_hash)
);

create index idempotent_answer_by_expiry on idempotent_answer (site_id, expires_at);

alter table idempotent_answer enable row level security;
alter table idempotent_answer force row level security;
create policy site_isolation on idempotent_answer
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));
