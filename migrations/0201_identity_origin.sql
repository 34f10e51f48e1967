-- How a user came to be. A user of the data pool that an operator's token request created never proved the address.
alter table pool_user
  add column origin text not null default 'invite' check (origin in ('invite', 'operator'));
alter table pool_user alter column origin drop default;

-- One key of a pool signs; the others only verify.
create unique index signing_key_active on signing_key (site_id, user_pool_id) where retired_at is null;
