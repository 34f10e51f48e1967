-- What users have agreed that applications of others learn of them.
create table client_consent (
  site_id      text        not null,
  user_pool_id text        not null,
  sub          text        not null,
  client_id    text        not null,
  -- Space-separated, all that was ever agreed to.
  scope        text        not null,
  granted_at   timestamptz not null,
  primary key (site_id, user_pool_id, sub, client_id),
  foreign key (site_id, user_pool_id, sub) references pool_user on delete cascade,
  foreign key (site_id, client_id) references pool_client on delete cascade
);

create index client_consent_by_client on client_consent (site_id, client_id);
alter table client_consent enable row level security;
alter table client_consent force row level security;
create policy site_isolation on client_consent
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));
