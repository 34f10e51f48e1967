-- What the tables of a site hold together. One row a site; locking it is what makes the quota hold.
create table table_usage (
  site_id        text        primary key references site on delete cascade,
  -- Together with the rooms of `table_room` never less than what is stored.
  used_bytes     bigint      not null default 0,
  used_items     bigint      not null default 0,
  -- When something was last written, as far as its writer told.
  changed_at     timestamptz,
  -- Grows when a count begins and when it ends: what was removed under an earlier epoch may be counted already.
  epoch          integer     not null default 0,
  -- The last count that was finished.
  counted_from   timestamptz,
  counted_to     timestamptz,
  -- Whether nobody wrote meanwhile: then it is exact, else it may say too much.
  counted_alone  boolean     not null default false,
  -- The count that runs; null without one. Then the other columns say how far it came, and what grew since it began.
  counting_from  timestamptz,
  counting_at    timestamptz,
  counting_table text        collate "C",
  counting_hash  bytea,
  counting_sort  bytea,
  counting_bytes bigint      not null default 0,
  counting_items bigint      not null default 0,
  since_bytes    bigint      not null default 0,
  since_items    bigint      not null default 0,
  -- When the queued count is due; null when none is queued.
  recount_at     timestamptz
);

alter table table_usage enable row level security;
alter table table_usage force row level security;
create policy site_isolation on table_usage
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

-- What each process may write before it asks again, or has written and not told yet.
create table table_room (
  site_id    text        not null references table_usage on delete cascade,
  holder     text        not null,
  bytes      bigint      not null,
  items      bigint      not null,
  renewed_at timestamptz not null,
  primary key (site_id, holder)
);

alter table table_room enable row level security;
alter table table_room force row level security;
create policy site_isolation on table_room
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

-- One exchange of a holder with its site's account, in one round trip: it tells what it wrote since the last one (`gain`
-- and `loss`, under the epoch that it knew), what it keeps of its room (`kept`), and asks for `asked` more, with `wish` on
-- top if there is plenty. Lists are bytes and items. No row when the site is gone. All times are the database's, so that
-- processes need not agree on theirs.
create function table_room_exchange(
  site text, holder_id text, known_epoch integer, wrote boolean,
  gain bigint[], loss bigint[], kept bigint[], asked bigint[], wish bigint[], default_limits bigint[]
)
returns table (
  granted boolean, room bigint[], used bigint[], others bigint[], limits bigint[], epoch integer,
  count_took_ms bigint, counted_ago_ms bigint, counted_alone boolean, is_planned boolean
)
language plpgsql
as $$
#variable_conflict use_column
declare
  scope text;
  at timestamptz;
  settings jsonb;
  account table_usage%rowtype;
  dead bigint[];
  remaining bigint;
  share bigint;
begin
  scope := set_config('app.site_id', site, true);
  select coalesce(s.deployment_settings -> 'limits', '{}') into settings from site s where s.site_id = site;
  if not found then return; end if;
  limits := array[
    coalesce((settings ->> 'tableBytes')::bigint, default_limits[1]),
    coalesce((settings ->> 'tableItems')::bigint, default_limits[2])];

  select * into account from table_usage u where u.site_id = site for update;
  if not found then
    insert into table_usage (site_id) values (site) on conflict do nothing;
    select * into account from table_usage u where u.site_id = site for update;
  end if;

  at := clock_timestamp();
  -- Whoever has not been heard of for two minutes is dead; what it held may be stored.
  with gone as (
    delete from table_room r
    where r.site_id = site and r.holder <> holder_id and r.renewed_at < at - interval '2 minutes'
    returning r.bytes, r.items)
  select array[coalesce(sum(g.bytes), 0), coalesce(sum(g.items), 0)]::bigint[] into dead from gone g;
  select array[coalesce(sum(r.bytes), 0), coalesce(sum(r.items), 0)]::bigint[] into others
  from table_room r where r.site_id = site and r.holder <> holder_id;

  granted := true;
  room := array[0, 0]::bigint[];
  used := array[account.used_bytes, account.used_items];
  for i in 1..2 loop
    if account.epoch <> known_epoch then loss[i] := 0; end if;
    used[i] := greatest(0, used[i] + dead[i] + gain[i] - loss[i]);
    remaining := limits[i] - used[i] - others[i] - kept[i];
    if asked[i] > 0 and asked[i] > remaining then granted := false; end if;
    -- So that what others find taken, and nobody uses, is little.
    share := (remaining - asked[i]) / 64;
    room[i] := asked[i] + case when share < (array[16384, 8])[i] then 0 else least(wish[i], share) end;
  end loop;
  if not granted then room := array[0, 0]::bigint[]; end if;

  update table_usage u
  set used_bytes = used[1], used_items = used[2],
      since_bytes = u.since_bytes + dead[1] + gain[1], since_items = u.since_items + dead[2] + gain[2],
      changed_at = case when wrote or dead[1] + dead[2] > 0 then at else u.changed_at end
  where u.site_id = site;
  if kept[1] + kept[2] + room[1] + room[2] = 0 then
    delete from table_room r where r.site_id = site and r.holder = holder_id;
  else
    insert into table_room (site_id, holder, bytes, items, renewed_at)
    values (site, holder_id, kept[1] + room[1], kept[2] + room[2], at)
    on conflict (site_id, holder) do update
    set bytes = excluded.bytes, items = excluded.items, renewed_at = excluded.renewed_at;
  end if;
  epoch := account.epoch;
  count_took_ms := extract(epoch from account.counted_to - account.counted_from) * 1000;
  counted_ago_ms := extract(epoch from at - account.counted_to) * 1000;
  counted_alone := account.counted_alone;
  is_planned := coalesce(account.recount_at > at - interval '1 hour', false);
  return next;
end $$;

-- Begins to count, unless a count runs. One that nobody has gone on with for minutes is begun anew.
create function table_count_begin(site text) returns void
language plpgsql
as $$
declare
  scope text;
begin
  scope := set_config('app.site_id', site, true);
  insert into table_usage (site_id) select s.site_id from site s where s.site_id = site on conflict do nothing;
  update table_usage u
  set epoch = u.epoch + 1, counting_from = clock_timestamp(), counting_at = clock_timestamp(),
      counting_table = '', counting_hash = '', counting_sort = '',
      counting_bytes = 0, counting_items = 0, since_bytes = 0, since_items = 0
  where u.site_id = site and (u.counting_from is null or u.counting_at < now() - interval '10 minutes');
end $$;

-- Counts some items more; true when the count is done, or there is none. An item counts its size, 100 bytes, and 100 for
-- each index of its table, as `src/runtime/tables/quotas/cost.ts` says. Whoever counts at the same time counts nothing twice.
create function table_count_step(site text, most integer) returns boolean
language plpgsql
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
as $$
declare
  scope text;
  account table_usage%rowtype;
  last_table text;
  last_hash bytea;
  last_sort bytea;
  items bigint;
  bytes bigint;
begin
  scope := set_config('app.site_id', site, true);
  select * into account from table_usage u where u.site_id = site;
  if account.counting_from is null then return true; end if;
  with page as materialized (
    select i.table_id, i.partition_hash, i.sort_key, i.size_bytes
    from table_item i
    where i.site_id = site
      and (i.table_id, i.partition_hash, i.sort_key)
        > (account.counting_table, account.counting_hash, account.counting_sort)
    order by i.table_id, i.partition_hash, i.sort_key
    limit most),
  last as (
    select p.table_id, p.partition_hash, p.sort_key
    from page p order by p.table_id desc, p.partition_hash desc, p.sort_key desc limit 1),
  tables as (
    select p.table_id, count(*) as items, sum(p.size_bytes) as bytes from page p group by p.table_id),
  charged as (
    select t.items, t.bytes + t.items * 100 * (
      1 + (select count(*) from table_index x
           where x.site_id = site and x.table_id = t.table_id and x.status <> 'removing')) as bytes
    from tables t)
  select coalesce(sum(c.items), 0), coalesce(sum(c.bytes), 0),
         (select l.table_id from last l), (select l.partition_hash from last l), (select l.sort_key from last l)
  into items, bytes, last_table, last_hash, last_sort
  from charged c;

  if items = most then
    update table_usage u
    set counting_at = now(), counting_table = last_table, counting_hash = last_hash, counting_sort = last_sort,
        counting_bytes = u.counting_bytes + bytes, counting_items = u.counting_items + items
    where u.site_id = site and u.epoch = account.epoch
      and (u.counting_table, u.counting_hash, u.counting_sort)
        = (account.counting_table, account.counting_hash, account.counting_sort);
    return false;
  end if;
  update table_usage u
  set epoch = u.epoch + 1, counting_from = null, counted_from = u.counting_from, counted_to = clock_timestamp(),
      counted_alone = coalesce(u.changed_at < u.counting_from, true) and u.since_items = 0 and u.since_bytes = 0
        and not exists (select from table_room r where r.site_id = site),
      used_bytes = u.counting_bytes + bytes + u.since_bytes,
      used_items = u.counting_items + items + u.since_items
  where u.site_id = site and u.epoch = account.epoch
    and (u.counting_table, u.counting_hash, u.counting_sort)
      = (account.counting_table, account.counting_hash, account.counting_sort);
  return found;
end $$;
