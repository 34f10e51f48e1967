-- An account that its owner deletes: it takes no sign-in, its address stays taken, and a mailed link takes it back until it goes.
alter table pool_user drop constraint pool_user_status_check;
alter table pool_user add constraint pool_user_status_check
  check (status in ('INVITED', 'ACTIVE') or (status in ('DISABLED', 'DELETING') and role is null));

create table account_deletion (
  site_id      text        not null,
  user_pool_id text        not null,
  sub          text        not null,
  -- Of the link that was mailed last.
  token_hash   bytea       not null,
  -- When the account goes, and its link ends.
  expires_at   timestamptz not null,
  created_at   timestamptz not null default now(),
  primary key (site_id, user_pool_id, sub),
  unique (site_id, token_hash),
  foreign key (site_id, user_pool_id, sub) references pool_user on delete cascade
);

create index account_deletion_by_expiry on account_deletion (site_id, expires_at);
alter table account_deletion enable row level security;
alter table account_deletion force row level security;
create policy site_isolation on account_deletion
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));
