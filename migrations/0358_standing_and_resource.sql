-- `user_standing` and `resource_read` of 0357 in one: for requests that are about one resource. No row when the account is
-- gone; nulls when there is no such resource. Runs with the rights of the caller under row-level security, as those do.
create function user_standing_and_resource(site text, pool text, subject text, family text, resource text)
returns table (
  email text, role text, tokens_valid_after timestamptz, groups text[], signed_out boolean,
  resource_id text, type text, name text, config jsonb, created_at timestamptz, updated_at timestamptz
)
language plpgsql
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
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
          and f.user_pool_id = pool and f.sub = subject and f.revoked_at is null),
      r.resource_id, r.type, r.name, r.config, r.created_at, r.updated_at
    from pool_user u
    left join data_resource r on r.site_id = site and r.resource_id = resource
    where u.site_id = site and u.user_pool_id = pool and u.sub = subject;
end $$;
