-- What the buckets of a site hold together. One row a site; locking it is what makes the quota hold.
create table bucket_usage (
  site_id         text        primary key references site on delete cascade,
  -- Objects that were seen.
  used_bytes      bigint      not null default 0,
  used_objects    bigint      not null default 0,
  -- The same with what running writes and open upload URLs may still bring. The quota bounds these two.
  charged_bytes   bigint      not null default 0,
  charged_objects bigint      not null default 0,
  -- Grows with every change of an object's size; objects take their version from it.
  version         bigint      not null default 0,
  -- The version at which a row of `bucket_object` was last removed: the version of every object without a row.
  removed_version bigint      not null default 0,
  -- When the queued upkeep is due; null when none is queued.
  upkeep_at       timestamptz,
  touched_at      timestamptz not null default now(),
  recounted_at    timestamptz not null default now(),
  -- { bucketId, key }: where a recount that was interrupted goes on.
  recount_after   jsonb
);

alter table bucket_usage enable row level security;
alter table bucket_usage force row level security;
create policy site_isolation on bucket_usage
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

-- The size of each object as it was last seen. The object store is the truth; this is its account.
create table bucket_object (
  site_id        text   not null references site on delete cascade,
  bucket_id      text   not null,
  object_key     text   collate "C" not null,
  -- Null when there is no such object.
  size_bytes     bigint,
  -- The largest of the key's reservations; null without any.
  reserved_bytes bigint,
  version        bigint not null,
  primary key (site_id, bucket_id, object_key),
  check (size_bytes is not null or reserved_bytes is not null)
);

alter table bucket_object enable row level security;
alter table bucket_object force row level security;
create policy site_isolation on bucket_object
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

-- Bytes that may arrive under a key: of a write that runs, or through an upload URL that was given out.
create table bucket_reservation (
  site_id        text        not null references site on delete cascade,
  reservation_id text        not null,
  bucket_id      text        not null,
  object_key     text        collate "C" not null,
  size_bytes     bigint      not null,
  kind           text        not null check (kind in ('write', 'url')),
  -- The object's version when this was reserved.
  version        bigint      not null,
  -- From then on nothing can arrive any more.
  expires_at     timestamptz not null,
  primary key (site_id, reservation_id)
);

create index bucket_reservation_by_object on bucket_reservation (site_id, bucket_id, object_key);
create index bucket_reservation_by_expiry on bucket_reservation (site_id, expires_at);
alter table bucket_reservation enable row level security;
alter table bucket_reservation force row level security;
create policy site_isolation on bucket_reservation
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));
