-- The response to a refresh token, for a client that lost it or presented the token twice at once. It is sealed under a key
-- that is derived from the token, which is stored nowhere, and from the installation's master key.
create table refresh_response (
  site_id    text        not null,
  -- SHA-256 of the refresh token that was presented.
  token_hash bytea       not null,
  family_id  text        not null,
  sealed     text        not null,
  expires_at timestamptz not null,
  primary key (site_id, token_hash),
  foreign key (site_id, family_id) references refresh_family on delete cascade
);

create index refresh_response_by_family on refresh_response (site_id, family_id);
create index refresh_response_by_expiry on refresh_response (site_id, expires_at);
alter table refresh_response enable row level security;
alter table refresh_response force row level security;
create policy site_isolation on refresh_response
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));
