-- How the rows of a table are kept: what its items are entered in, and what makes them end. One row for each table.
create table table_layout (
  site_id        text    not null references site on delete cascade,
  table_id       text    not null,
  -- Grows with every change of the indexes or of the TTL attribute. A write is made for one generation and refused by others.
  generation     integer not null default 1,
  ttl_attribute  text,
  last_index_id  integer not null default 0,
  -- The item up to which a build has come; null when none is needed.
  built_hash     bytea,
  built_sort     bytea,
  primary key (site_id, table_id)
);

alter table table_layout enable row level security;
alter table table_layout force row level security;
create policy site_isolation on table_layout
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

create table table_index (
  site_id       text    not null references site on delete cascade,
  table_id      text    not null,
  -- Never used again within a table, so entries that are left of a removed index belong to none.
  index_id      integer not null,
  name          text    not null,
  -- { name, type }
  partition_key jsonb   not null,
  sort_key      jsonb,
  status        text    not null check (status in ('building', 'active', 'removing')),
  primary key (site_id, table_id, index_id)
);

create unique index table_index_by_name on table_index (site_id, table_id, name) where status <> 'removing';
alter table table_index enable row level security;
alter table table_index force row level security;
create policy site_isolation on table_index
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

-- The items of all tables. No foreign key: the rows of a deleted table or site are removed in batches by a job, and its
-- id is never given again.
create table table_item (
  site_id        text    collate "C" not null,
  table_id       text    collate "C" not null,
  -- 160 bits of the SHA-256 of the partition key.
  partition_hash bytea   not null,
  -- Orders as the sort key does; empty in a table without one.
  sort_key       bytea   not null,
  -- As DynamoDB counts: names and values.
  size_bytes     integer not null,
  -- Seconds since 1970, from the TTL attribute.
  expires_at     bigint,
  -- The item in plain JSON, with markers for what JSON lacks. U+0000 and lone surrogates are escaped in it, so any string
  -- survives.
  body           text    not null,
  -- The item's entries in `table_index_entry`; null in a table without indexes.
  index_ids      integer[],
  index_hashes   bytea[],
  index_sorts    bytea[],
  primary key (site_id, table_id, partition_hash, sort_key)
) with (fillfactor = 90);

do $$
begin
  alter table table_item alter column body set compression lz4;
exception when feature_not_supported then
  -- This server was built without lz4: it compresses as it does by default.
  null;
end $$;

create index table_item_by_expiry on table_item (site_id, table_id, expires_at) where expires_at is not null;
alter table table_item enable row level security;
alter table table_item force row level security;
create policy site_isolation on table_item
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

-- Where items stand in global secondary indexes. Items without the index's keys have no entry.
create table table_index_entry (
  site_id        text    collate "C" not null,
  table_id       text    collate "C" not null,
  index_id       integer not null,
  partition_hash bytea   not null,
  sort_key       bytea   not null,
  item_hash      bytea   not null,
  item_sort      bytea   not null,
  primary key (site_id, table_id, index_id, partition_hash, sort_key, item_hash, item_sort)
);

alter table table_index_entry enable row level security;
alter table table_index_entry force row level security;
create policy site_isolation on table_index_entry
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));
