-- Each item action is one call of one of these, so it takes one round trip. They run with the rights of the caller under
-- row-level security: each says first which site it is for, until the end of its transaction.
--
-- Their plans are made once for a session, maybe while a table is almost empty, so what would not bear its growth is off.

create function table_item_get(site text, tbl text, hash bytea, sort bytea, at bigint) returns text
language plpgsql
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  scope text;
  found_body text;
begin
  scope := set_config('app.site_id', site, true);
  select i.body into found_body
  from table_item i
  where i.site_id = site and i.table_id = tbl and i.partition_hash = hash and i.sort_key = sort
    and (i.expires_at is null or i.expires_at > at);
  return found_body;
end $$;

-- Several items of one site's tables; what is not there has no row. Positions count from 1.
create function table_items_get(site text, tbls text[], hashes bytea[], sorts bytea[], at bigint)
returns table (place integer, body text)
language plpgsql
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
declare
  scope text;
begin
  scope := set_config('app.site_id', site, true);
  return query
    select k.place::integer, i.body
    from unnest(tbls, hashes, sorts) with ordinality as k(tbl, hash, sort, place)
    join table_item i
      on i.site_id = site and i.table_id = k.tbl and i.partition_hash = k.hash and i.sort_key = k.sort
    where i.expires_at is null or i.expires_at > at;
end $$;

-- An item to be changed, with what a write has to name: the table's generation, and the version of the row if there is one.
-- An item that has ended has a version and no body. `locked` holds the row until the end of the transaction.
create function table_item_read(
  site text, tbl text, hash bytea, sort bytea, at bigint, locked boolean,
  out generation integer, out body text, out version text
)
language plpgsql
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  scope text;
begin
  scope := set_config('app.site_id', site, true);
  select l.generation into generation from table_layout l where l.site_id = site and l.table_id = tbl;
  if locked then
    select case when i.expires_at <= at then null else i.body end, i.xmin::text into body, version
    from table_item i
    where i.site_id = site and i.table_id = tbl and i.partition_hash = hash and i.sort_key = sort
    for update;
  else
    select case when i.expires_at <= at then null else i.body end, i.xmin::text into body, version
    from table_item i
    where i.site_id = site and i.table_id = tbl and i.partition_hash = hash and i.sort_key = sort;
  end if;
end $$;

-- Puts an item into a table without indexes, whatever was there: `table_item_write` with less to do. Gives false, and
-- writes nothing, when the table's generation is another.
create function table_item_put(
  site text, tbl text, hash bytea, sort bytea, expected_generation integer,
  new_body text, new_size integer, new_expiry bigint
) returns boolean
language plpgsql
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  scope text;
begin
  scope := set_config('app.site_id', site, true);
  -- Before the next statement looks: until the end of the transaction nobody changes the table's layout.
  if pg_advisory_xact_lock_shared(1413565252, hashtext(tbl)) is null then end if;
  insert into table_item (site_id, table_id, partition_hash, sort_key, size_bytes, expires_at, body)
  select site, tbl, hash, sort, new_size, new_expiry, new_body
  from table_layout l
  where l.site_id = site and l.table_id = tbl and l.generation = expected_generation
  on conflict (site_id, table_id, partition_hash, sort_key) do update
  set size_bytes = excluded.size_bytes, expires_at = excluded.expires_at, body = excluded.body,
      index_ids = null, index_hashes = null, index_sorts = null;
  return found;
end $$;

-- Several such puts of one table in one statement. No key comes twice, and keys come in order, so that two of these never
-- wait for each other in a circle.
create function table_items_put(
  site text, tbl text, hashes bytea[], sorts bytea[], expected_generation integer,
  bodies text[], sizes integer[], expiries bigint[]
) returns boolean
language plpgsql
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
declare
  scope text;
begin
  scope := set_config('app.site_id', site, true);
  if pg_advisory_xact_lock_shared(1413565252, hashtext(tbl)) is null then end if;
  insert into table_item (site_id, table_id, partition_hash, sort_key, size_bytes, expires_at, body)
  select site, tbl, n.hash, n.sort, n.size, n.expiry, n.body
  from table_layout l
  cross join lateral unnest(hashes, sorts, sizes, expiries, bodies) as n(hash, sort, size, expiry, body)
  where l.site_id = site and l.table_id = tbl and l.generation = expected_generation
  on conflict (site_id, table_id, partition_hash, sort_key) do update
  set size_bytes = excluded.size_bytes, expires_at = excluded.expires_at, body = excluded.body,
      index_ids = null, index_hashes = null, index_sorts = null;
  return found;
end $$;

-- Writes an item, or deletes it when `new_body` is null, with its index entries.
--   expected: any · absent · present · version (then `expected_version` names the row's)
--   outcome:  done · stale (the generation is another) · changed (what was expected is not so)
-- `before` is the item as it was, when `with_before` asks for it or the outcome is changed.
create function table_item_write(
  site text, tbl text, hash bytea, sort bytea, at bigint,
  expected_generation integer, expected text, expected_version text, with_before boolean,
  new_body text, new_size integer, new_expiry bigint,
  new_ids integer[], new_hashes bytea[], new_sorts bytea[],
  out outcome text, out before text, out version text
)
language plpgsql
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  scope text;
  current_generation integer;
  old record;
  is_row boolean;
  is_live boolean;
begin
  scope := set_config('app.site_id', site, true);
  -- Until the end of the transaction nobody changes the table's layout.
  if pg_advisory_xact_lock_shared(1413565252, hashtext(tbl)) is null then end if;
  select l.generation into current_generation from table_layout l where l.site_id = site and l.table_id = tbl;
  if current_generation is distinct from expected_generation then
    outcome := 'stale';
    return;
  end if;
  outcome := 'done';

  if expected = 'any' and new_ids is null and not with_before then
    if new_body is null then
      delete from table_item i
      where i.site_id = site and i.table_id = tbl and i.partition_hash = hash and i.sort_key = sort;
    else
      insert into table_item as i (site_id, table_id, partition_hash, sort_key, size_bytes, expires_at, body)
      values (site, tbl, hash, sort, new_size, new_expiry, new_body)
      on conflict (site_id, table_id, partition_hash, sort_key) do update
      set size_bytes = excluded.size_bytes, expires_at = excluded.expires_at, body = excluded.body,
          index_ids = null, index_hashes = null, index_sorts = null;
    end if;
    return;
  end if;

  loop
    select i.body, i.expires_at, i.xmin::text as version, i.index_ids, i.index_hashes, i.index_sorts into old
    from table_item i
    where i.site_id = site and i.table_id = tbl and i.partition_hash = hash and i.sort_key = sort
    for update;
    is_row := found;
    is_live := is_row and (old.expires_at is null or old.expires_at > at);

    if (expected = 'absent' and is_live)
      or (expected = 'present' and not is_live)
      or (expected = 'version' and (not is_row or old.version <> expected_version))
    then
      outcome := 'changed';
      version := old.version;
      if is_live then before := old.body; end if;
      return;
    end if;
    if with_before and is_live then before := old.body; end if;

    if is_row and new_body is null then
      delete from table_item i
      where i.site_id = site and i.table_id = tbl and i.partition_hash = hash and i.sort_key = sort;
    elsif is_row then
      update table_item i
      set size_bytes = new_size, expires_at = new_expiry, body = new_body,
          index_ids = new_ids, index_hashes = new_hashes, index_sorts = new_sorts
      where i.site_id = site and i.table_id = tbl and i.partition_hash = hash and i.sort_key = sort;
    elsif new_body is not null then
      insert into table_item
        (site_id, table_id, partition_hash, sort_key, size_bytes, expires_at, body, index_ids, index_hashes, index_sorts)
      values (site, tbl, hash, sort, new_size, new_expiry, new_body, new_ids, new_hashes, new_sorts)
      on conflict do nothing;
      -- Somebody else made it just now: look again.
      continue when not found;
    end if;
    exit;
  end loop;

  if (old.index_ids, old.index_hashes, old.index_sorts) is distinct from (new_ids, new_hashes, new_sorts) then
    delete from table_index_entry e
    using unnest(old.index_ids, old.index_hashes, old.index_sorts) as o(id, hash, sort)
    where e.site_id = site and e.table_id = tbl and e.index_id = o.id
      and e.partition_hash = o.hash and e.sort_key = o.sort
      and e.item_hash = table_item_write.hash and e.item_sort = table_item_write.sort
      and not exists (
        select from unnest(new_ids, new_hashes, new_sorts) as n(id, hash, sort)
        where n.id = o.id and n.hash = o.hash and n.sort = o.sort);
    insert into table_index_entry
      (site_id, table_id, index_id, partition_hash, sort_key, item_hash, item_sort)
    select table_item_write.site, table_item_write.tbl, n.id, n.hash, n.sort, table_item_write.hash, table_item_write.sort
    from unnest(new_ids, new_hashes, new_sorts) as n(id, hash, sort)
    where new_body is not null
    on conflict do nothing;
  end if;
end $$;

-- A page of items from `from` (inclusive) to `to` (exclusive), by partition hash and sort key: at most `most` of them,
-- and none after the one with which they are 1 MiB or more. `bodies` are theirs with commas between, which is one value to
-- send and to parse; null when there are none. `is_full` says that one of the two bounds ended the page.
create function table_item_range(
  site text, tbl text, from_hash bytea, from_sort bytea, to_hash bytea, to_sort bytea,
  forward boolean, most integer, at bigint,
  out bodies text, out is_full boolean
)
language plpgsql
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
as $$
declare
  scope text;
  body text;
  size_bytes integer;
  page text[] := '{}';
  places integer := 0;
  total integer := 0;
begin
  scope := set_config('app.site_id', site, true);
  if forward then
    for body, size_bytes in
      select i.body, i.size_bytes
      from table_item i
      where i.site_id = site and i.table_id = tbl
        and (i.partition_hash, i.sort_key) >= (from_hash, from_sort)
        and (i.partition_hash, i.sort_key) < (to_hash, to_sort)
        and (i.expires_at is null or i.expires_at > at)
      order by i.partition_hash, i.sort_key
      limit most
    loop
      places := places + 1;
      page[places] := body;
      total := total + size_bytes;
      exit when total >= 1048576;
    end loop;
  else
    for body, size_bytes in
      select i.body, i.size_bytes
      from table_item i
      where i.site_id = site and i.table_id = tbl
        and (i.partition_hash, i.sort_key) >= (from_hash, from_sort)
        and (i.partition_hash, i.sort_key) < (to_hash, to_sort)
        and (i.expires_at is null or i.expires_at > at)
      order by i.partition_hash desc, i.sort_key desc
      limit most
    loop
      places := places + 1;
      page[places] := body;
      total := total + size_bytes;
      exit when total >= 1048576;
    end loop;
  end if;
  bodies := nullif(array_to_string(page, ','), '');
  is_full := places >= most or total >= 1048576;
end $$;

-- The same for an index. Equal index keys are told apart by the item's own key. A bound is
-- [partition hash, sort key, item's partition hash, item's sort key].
create function table_index_range(
  site text, tbl text, index_name text, from_bound bytea[], to_bound bytea[],
  forward boolean, most integer, at bigint,
  out bodies text, out is_full boolean
)
language plpgsql
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_memoize = off
set plan_cache_mode = force_generic_plan
as $$
declare
  scope text;
  found_index record;
  from_hash bytea := from_bound[1];
  from_sort bytea := from_bound[2];
  from_item_hash bytea := from_bound[3];
  from_item_sort bytea := from_bound[4];
  to_hash bytea := to_bound[1];
  to_sort bytea := to_bound[2];
  to_item_hash bytea := to_bound[3];
  to_item_sort bytea := to_bound[4];
  body text;
  size_bytes integer;
  page text[] := '{}';
  places integer := 0;
  total integer := 0;
begin
  scope := set_config('app.site_id', site, true);
  select x.index_id, x.status into found_index
  from table_index x
  where x.site_id = site and x.table_id = tbl and x.name = index_name and x.status <> 'removing';
  if found_index.status is distinct from 'active' then
    raise exception using
      errcode = case found_index.status when 'building' then 'CT001' else 'CT002' end,
      message = 'index "' || index_name || '" is not active';
  end if;
  if forward then
    for body, size_bytes in
      select i.body, i.size_bytes
      from table_index_entry e
      join table_item i
        on i.site_id = site and i.table_id = tbl
        and i.partition_hash = e.item_hash and i.sort_key = e.item_sort
      where e.site_id = site and e.table_id = tbl and e.index_id = found_index.index_id
        and (e.partition_hash, e.sort_key, e.item_hash, e.item_sort)
          >= (from_hash, from_sort, from_item_hash, from_item_sort)
        and (e.partition_hash, e.sort_key, e.item_hash, e.item_sort)
          < (to_hash, to_sort, to_item_hash, to_item_sort)
        and (i.expires_at is null or i.expires_at > at)
      order by e.partition_hash, e.sort_key, e.item_hash, e.item_sort
      limit most
    loop
      places := places + 1;
      page[places] := body;
      total := total + size_bytes;
      exit when total >= 1048576;
    end loop;
  else
    for body, size_bytes in
      select i.body, i.size_bytes
      from table_index_entry e
      join table_item i
        on i.site_id = site and i.table_id = tbl
        and i.partition_hash = e.item_hash and i.sort_key = e.item_sort
      where e.site_id = site and e.table_id = tbl and e.index_id = found_index.index_id
        and (e.partition_hash, e.sort_key, e.item_hash, e.item_sort)
          >= (from_hash, from_sort, from_item_hash, from_item_sort)
        and (e.partition_hash, e.sort_key, e.item_hash, e.item_sort)
          < (to_hash, to_sort, to_item_hash, to_item_sort)
        and (i.expires_at is null or i.expires_at > at)
      order by e.partition_hash desc, e.sort_key desc, e.item_hash desc, e.item_sort desc
      limit most
    loop
      places := places + 1;
      page[places] := body;
      total := total + size_bytes;
      exit when total >= 1048576;
    end loop;
  end if;
  bodies := nullif(array_to_string(page, ','), '');
  is_full := places >= most or total >= 1048576;
end $$;
