-- What the queue `table-build` does with rows, some of them at a time. Every row is found by its key: joins of lists with
-- these tables would be planned by what Postgres knows of all sites' rows.

-- Items after a key, held until the end of the transaction: none after the one with which they are `most_bytes` or more.
create function table_items_lock(
  site text, tbl text, after_hash bytea, after_sort bytea, most integer, most_bytes integer
)
returns table (partition_hash bytea, sort_key bytea, body text)
language plpgsql
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
as $$
declare
  scope text;
  size_bytes integer;
  total integer := 0;
begin
  scope := set_config('app.site_id', site, true);
  for partition_hash, sort_key, body, size_bytes in
    select i.partition_hash, i.sort_key, i.body, i.size_bytes
    from table_item i
    where i.site_id = site and i.table_id = tbl
      and (i.partition_hash, i.sort_key) > (after_hash, after_sort)
    order by i.partition_hash, i.sort_key
    limit most
    for update
  loop
    return next;
    total := total + size_bytes;
    exit when total >= most_bytes;
  end loop;
end $$;

-- Brings the expiry and the index entries of a locked item in line. The lists are null in a table without indexes.
create function table_item_build(
  site text, tbl text, hash bytea, sort bytea, new_expiry bigint,
  new_ids integer[], new_hashes bytea[], new_sorts bytea[]
)
returns void
language plpgsql
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  scope text;
  old record;
begin
  scope := set_config('app.site_id', site, true);
  select i.expires_at, i.index_ids, i.index_hashes, i.index_sorts into old
  from table_item i
  where i.site_id = site and i.table_id = tbl and i.partition_hash = hash and i.sort_key = sort;
  if (old.expires_at, old.index_ids, old.index_hashes, old.index_sorts)
    is not distinct from (new_expiry, new_ids, new_hashes, new_sorts)
  then
    return;
  end if;
  update table_item i
  set expires_at = new_expiry, index_ids = new_ids, index_hashes = new_hashes, index_sorts = new_sorts
  where i.site_id = site and i.table_id = tbl and i.partition_hash = hash and i.sort_key = sort;
  delete from table_index_entry e
  using unnest(old.index_ids, old.index_hashes, old.index_sorts) as o(id, hash, sort)
  where e.site_id = site and e.table_id = tbl and e.index_id = o.id
    and e.partition_hash = o.hash and e.sort_key = o.sort
    and e.item_hash = table_item_build.hash and e.item_sort = table_item_build.sort
    and not exists (
      select from unnest(new_ids, new_hashes, new_sorts) as n(id, hash, sort)
      where n.id = o.id and n.hash = o.hash and n.sort = o.sort);
  insert into table_index_entry
    (site_id, table_id, index_id, partition_hash, sort_key, item_hash, item_sort)
  select table_item_build.site, table_item_build.tbl, n.id, n.hash, n.sort, table_item_build.hash, table_item_build.sort
  from unnest(new_ids, new_hashes, new_sorts) as n(id, hash, sort)
  on conflict do nothing;
end $$;

-- Removes items of a table, or of all tables of a site when `tbl` is null; with `ended_at` only those that ended by then.
-- Their entries go with them. Gives how many were removed.
create function table_items_delete(site text, tbl text, ended_at bigint, most integer) returns integer
language plpgsql
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  scope text;
  item record;
  removed integer := 0;
begin
  scope := set_config('app.site_id', site, true);
  for item in
    execute 'select i.table_id, i.partition_hash, i.sort_key, i.index_ids, i.index_hashes, i.index_sorts
             from table_item i where i.site_id = $1'
      || case when tbl is null then '' else ' and i.table_id = $2' end
      || case when ended_at is null then '' else ' and i.expires_at <= $3' end
      || ' limit $4 for update skip locked'
    using site, tbl, ended_at, most
  loop
    delete from table_index_entry e
    using unnest(item.index_ids, item.index_hashes, item.index_sorts) as o(id, hash, sort)
    where e.site_id = site and e.table_id = item.table_id and e.index_id = o.id
      and e.partition_hash = o.hash and e.sort_key = o.sort
      and e.item_hash = item.partition_hash and e.item_sort = item.sort_key;
    delete from table_item i
    where i.site_id = site and i.table_id = item.table_id
      and i.partition_hash = item.partition_hash and i.sort_key = item.sort_key;
    removed := removed + 1;
  end loop;
  return removed;
end $$;

-- Removes entries of one index; or of all of a table, or of all tables of a site, where the arguments are null.
create function table_entries_delete(site text, tbl text, index_number integer, most integer) returns integer
language plpgsql
set enable_seqscan = off
as $$
declare
  scope text;
  entry record;
  removed integer := 0;
begin
  scope := set_config('app.site_id', site, true);
  for entry in
    execute 'select e.table_id, e.index_id, e.partition_hash, e.sort_key, e.item_hash, e.item_sort
             from table_index_entry e where e.site_id = $1'
      || case when tbl is null then '' else ' and e.table_id = $2' end
      || case when index_number is null then '' else ' and e.index_id = $3' end
      || ' limit $4'
    using site, tbl, index_number, most
  loop
    delete from table_index_entry e
    where e.site_id = site and e.table_id = entry.table_id and e.index_id = entry.index_id
      and e.partition_hash = entry.partition_hash and e.sort_key = entry.sort_key
      and e.item_hash = entry.item_hash and e.item_sort = entry.item_sort;
    removed := removed + 1;
  end loop;
  return removed;
end $$;
