-- The first and last steps of writes to the buckets of one site, many in one round trip and one commit. A step is
-- { "kind", "bucket", "key" } with, for
--   reserve  "id", "size", "expires": keeps room for what a write brings; "granted" with the object's version, "noBucket",
--            or "full" with what is charged, what was asked and the limits;
--   look     nothing: "granted" with the object's version;
--   settle   "version", "size" (null: it is gone), "id" (null: under no reservation): takes over a size that was seen, and
--            ends the reservation; "settled", or "changed" when somebody settled the object since that version.
-- Null when the upkeep has to be planned first, which was due before `overdue` or is not planned. The order of locks is that
-- of a deletion: the site, its buckets, their account.
create function bucket_steps(
  site text, steps jsonb, at timestamptz, overdue timestamptz, default_limits bigint[]
) returns jsonb
language plpgsql
as $$
declare
  scope text;
  settings jsonb;
  limits bigint[];
  buckets text[];
  account bucket_usage%rowtype;
  answers jsonb := '[]';
  step jsonb;
  object bucket_object%rowtype;
  was_known boolean;
  object_version bigint;
  size bigint;
  reserved bigint;
  charged_before bigint;
  more_bytes bigint;
  more_objects bigint;
begin
  scope := set_config('app.site_id', site, true);
  select coalesce(s.deployment_settings -> 'limits', '{}') into settings
  from site s where s.site_id = site for key share;
  limits := array[
    coalesce((settings ->> 'bucketBytes')::bigint, default_limits[1]),
    coalesce((settings ->> 'bucketObjects')::bigint, default_limits[2])];
  select array_agg(held.resource_id) into buckets from (
    select r.resource_id from data_resource r
    where r.site_id = site and r.type = 's3Bucket' and r.resource_id in (
      select s ->> 'bucket' from jsonb_array_elements(steps) s where s ->> 'kind' = 'reserve')
    order by r.resource_id for key share) held;

  -- Nothing is opened for a site that is gone, or for buckets that are.
  if settings is not null and (buckets is not null or steps @? '$[*] ? (@.kind == "look")') then
    insert into bucket_usage as u (site_id, touched_at, recounted_at) values (site, at, at)
    on conflict (site_id) do update set touched_at = excluded.touched_at
    returning u.* into account;
    if account.upkeep_at is null or account.upkeep_at < overdue then return null; end if;
  else
    select * into account from bucket_usage u where u.site_id = site for update;
  end if;

  for step in select value from jsonb_array_elements(steps) with ordinality order by ordinality loop
    select * into object from bucket_object o
    where o.site_id = site and o.bucket_id = step ->> 'bucket' and o.object_key = step ->> 'key';
    was_known := found;
    object_version := coalesce(object.version, account.removed_version);
    charged_before := greatest(object.size_bytes, object.reserved_bytes, 0);
    size := (step ->> 'size')::bigint;

    case step ->> 'kind'
    when 'look' then
      answers := answers || jsonb_build_object('outcome', 'granted', 'version', coalesce(object_version, 0)::text);

    when 'reserve' then
      if not coalesce(step ->> 'bucket' = any (buckets), false) then
        answers := answers || jsonb_build_object('outcome', 'noBucket');
        continue;
      end if;
      reserved := greatest(object.reserved_bytes, size);
      more_bytes := greatest(object.size_bytes, reserved) - charged_before;
      more_objects := case when was_known then 0 else 1 end;
      if more_bytes > 0 and account.charged_bytes + more_bytes > limits[1]
        or more_objects > 0 and account.charged_objects + more_objects > limits[2] then
        answers := answers || jsonb_build_object(
          'outcome', 'full', 'chargedBytes', account.charged_bytes, 'chargedObjects', account.charged_objects,
          'moreBytes', more_bytes, 'moreObjects', more_objects, 'maxBytes', limits[1], 'maxObjects', limits[2]);
        continue;
      end if;
      -- A step whose answer was lost is taken once.
      insert into bucket_reservation
        (site_id, reservation_id, bucket_id, object_key, size_bytes, kind, version, expires_at)
      values (site, step ->> 'id', step ->> 'bucket', step ->> 'key', size, 'write', object_version,
        (step ->> 'expires')::timestamptz)
      on conflict do nothing;
      if found then
        insert into bucket_object as o (site_id, bucket_id, object_key, size_bytes, reserved_bytes, version)
        values (site, step ->> 'bucket', step ->> 'key', null, reserved, object_version)
        on conflict (site_id, bucket_id, object_key) do update set reserved_bytes = excluded.reserved_bytes;
        account.charged_bytes := account.charged_bytes + more_bytes;
        account.charged_objects := account.charged_objects + more_objects;
      end if;
      answers := answers || jsonb_build_object('outcome', 'granted', 'version', object_version::text);

    when 'settle' then
      if account.site_id is null then
        answers := answers || jsonb_build_object('outcome', 'settled');
        continue;
      elsif object_version <> (step ->> 'version')::bigint then
        answers := answers || jsonb_build_object('outcome', 'changed');
        continue;
      end if;
      reserved := object.reserved_bytes;
      if step ->> 'id' is not null then
        delete from bucket_reservation r where r.site_id = site and r.reservation_id = step ->> 'id';
        select max(r.size_bytes) into reserved from bucket_reservation r
        where r.site_id = site and r.bucket_id = step ->> 'bucket' and r.object_key = step ->> 'key';
      end if;
      account.used_bytes := account.used_bytes + coalesce(size, 0) - coalesce(object.size_bytes, 0);
      account.used_objects := account.used_objects
        + (size is not null)::integer - (object.size_bytes is not null)::integer;
      account.charged_bytes := account.charged_bytes + greatest(size, reserved, 0) - charged_before;
      account.charged_objects := account.charged_objects
        + (size is not null or reserved is not null)::integer - was_known::integer;
      if size is not null or reserved is not null then
        account.version := account.version + 1;
        insert into bucket_object as o (site_id, bucket_id, object_key, size_bytes, reserved_bytes, version)
        values (site, step ->> 'bucket', step ->> 'key', size, reserved, account.version)
        on conflict (site_id, bucket_id, object_key) do update
        set size_bytes = excluded.size_bytes, reserved_bytes = excluded.reserved_bytes, version = excluded.version;
      elsif was_known then
        account.version := account.version + 1;
        account.removed_version := account.version;
        delete from bucket_object o
        where o.site_id = site and o.bucket_id = step ->> 'bucket' and o.object_key = step ->> 'key';
      end if;
      answers := answers || jsonb_build_object('outcome', 'settled');
    end case;
  end loop;

  update bucket_usage u
  set used_bytes = account.used_bytes, used_objects = account.used_objects,
      charged_bytes = account.charged_bytes, charged_objects = account.charged_objects,
      version = account.version, removed_version = account.removed_version
  where u.site_id = site;
  return answers;
end $$;
