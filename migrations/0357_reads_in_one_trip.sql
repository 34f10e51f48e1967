-- What many requests read before they begin, each in one round trip. They run with the rights of the caller under row-level
-- security: each says first which site it is for, until the end of its transaction.
--
-- Their plans are made once for a session, maybe while a table is almost empty, so what would not bear its growth is off.

-- What decides whether a user's token still counts; no row when the account is gone. `family` is the sign-in that the
-- token comes from, or null.
create function user_standing(site text, pool text, subject text, family text)
returns table (email text, role text, tokens_valid_after timestamptz, groups text[], signed_out boolean)
language plpgsql
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  scope text;
begin
  scope := set_config('app.site_id', site, true);
  return query
    select u.email, u.role, u.tokens_valid_after,
      array(
        select m.group_name from data_group_member m
        where m.site_id = site and m.user_pool_id = pool and m.sub = subject
        order by m.group_name),
      family is not null and not exists (
        select from refresh_family f
        where f.site_id = site and f.family_id = family
          and f.user_pool_id = pool and f.sub = subject and f.revoked_at is null)
    from pool_user u
    where u.site_id = site and u.user_pool_id = pool and u.sub = subject;
end $$;

-- A resource by its id; no row when there is none.
create function resource_read(site text, resource text)
returns table (resource_id text, type text, name text, config jsonb, created_at timestamptz, updated_at timestamptz)
language plpgsql
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  scope text;
begin
  scope := set_config('app.site_id', site, true);
  return query
    select r.resource_id, r.type, r.name, r.config, r.created_at, r.updated_at
    from data_resource r
    where r.site_id = site and r.resource_id = resource;
end $$;
