-- Locks a site's accounts and then reads them and one object's: two statements, because one would read the object as it was
-- before it waited for the lock. With `touched` the accounts are made when there are none.
create function bucket_account(site text, bucket text, key text, touched timestamptz)
returns table (
  used_bytes bigint, used_objects bigint, charged_bytes bigint, charged_objects bigint, version bigint,
  removed_version bigint, upkeep_at timestamptz, touched_at timestamptz, recounted_at timestamptz, recount_after jsonb,
  size_bytes bigint, reserved_bytes bigint, object_version bigint
)
language plpgsql volatile as $$
#variable_conflict use_column
begin
  if touched is null then
    perform from bucket_usage where site_id = site for update;
  else
    insert into bucket_usage (site_id, touched_at, recounted_at) values (site, touched, touched)
    on conflict (site_id) do update set touched_at = excluded.touched_at;
  end if;
  return query
    select u.used_bytes, u.used_objects, u.charged_bytes, u.charged_objects, u.version,
           u.removed_version, u.upkeep_at, u.touched_at, u.recounted_at, u.recount_after,
           o.size_bytes, o.reserved_bytes, coalesce(o.version, u.removed_version)
    from bucket_usage u
    left join bucket_object o on o.site_id = u.site_id and o.bucket_id = bucket and o.object_key = key
    where u.site_id = site;
end $$;
