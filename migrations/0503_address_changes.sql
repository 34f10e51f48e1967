-- New addresses of accounts: each takes effect once its own mailbox has proven it, and can be undone from the old one for a week.
create table address_change (
  site_id      text        not null,
  change_id    text        not null,
  user_pool_id text        not null,
  sub          text        not null,
  old_email    text        not null,
  new_email    text        not null,
  -- Of the link that was mailed last: to the new address until it is proven, to the old one from then on.
  token_hash   bytea       not null,
  proven_at    timestamptz,
  -- Of the link, and of the old address's claim.
  expires_at   timestamptz not null,
  created_at   timestamptz not null default now(),
  primary key (site_id, change_id),
  unique (site_id, token_hash),
  foreign key (site_id, user_pool_id, sub) references pool_user on delete cascade
);

create index address_change_by_user on address_change (site_id, user_pool_id, sub);
create index address_change_by_old_email on address_change (site_id, user_pool_id, old_email);
alter table address_change enable row level security;
alter table address_change force row level security;
create policy site_isolation on address_change
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));
