create table data_resource (
  site_id     text        not null references site on delete cascade,
  resource_id text        not null,
  type        text        not null check (type in ('ddbTable', 's3Bucket', 'lambdaFunction')),
  name        text        not null,
  config      jsonb       not null,
  created_at  timestamptz not null default now(),
  updated_at  timestamptz not null default now(),
  primary key (site_id, resource_id),
  unique (site_id, name)
);

alter table data_resource enable row level security;
alter table data_resource force row level security;
create policy site_isolation on data_resource
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

create table data_operation (
  site_id            text        not null references site on delete cascade,
  operation          text        not null,
  -- The function that answers, or null for a preset.
  lambda_resource_id text,
  -- { preset, resourceId? }, or null for a function.
  preset             jsonb,
  auth               jsonb       not null,
  cache_ttl_seconds  integer     not null default 0,
  -- Grows with every overwrite and invalidation; part of the cache key.
  version            bigint      not null default 1,
  created_at         timestamptz not null default now(),
  updated_at         timestamptz not null default now(),
  primary key (site_id, operation),
  check ((lambda_resource_id is null) <> (preset is null)),
  foreign key (site_id, lambda_resource_id) references data_resource (site_id, resource_id)
);

create index data_operation_by_function on data_operation (site_id, lambda_resource_id);
alter table data_operation enable row level security;
alter table data_operation force row level security;
create policy site_isolation on data_operation
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

-- Where a site's permission sync stands. `requested` counts changes, `synced` is the last one that a revision contains.
create table site_runtime (
  site_id          text        primary key references site on delete cascade,
  sync_status      text        not null check (sync_status in ('queued', 'running', 'succeeded', 'failed')),
  requested        bigint      not null default 1,
  synced           bigint      not null default 0,
  current_revision integer,
  error            text,
  updated_at       timestamptz not null default now()
);

alter table site_runtime enable row level security;
alter table site_runtime force row level security;
create policy site_isolation on site_runtime
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

create table site_revision (
  site_id    text        not null references site on delete cascade,
  revision   integer     not null,
  document   jsonb       not null,
  created_at timestamptz not null default now(),
  primary key (site_id, revision)
);

alter table site_revision enable row level security;
alter table site_revision force row level security;
create policy site_isolation on site_revision
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

create table runtime_log (
  site_id    text        not null references site on delete cascade,
  log_id     bigint      generated always as identity,
  at         timestamptz not null,
  level      text        not null check (level in ('debug', 'info', 'warn', 'error')),
  -- console: printed by site code · failure: an error or limit that ended a call · platform: a word of the runtime itself
  kind       text        not null check (kind in ('console', 'failure', 'platform')),
  operation  text,
  request_id text,
  message    text        not null,
  -- { code?, limit?, used?, source? }
  fields     jsonb,
  primary key (site_id, log_id)
);

create index runtime_log_by_operation on runtime_log (site_id, operation, log_id);
alter table runtime_log enable row level security;
alter table runtime_log force row level security;
create policy site_isolation on runtime_log
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

create table runtime_usage (
  site_id    text        not null references site on delete cascade,
  hour       timestamptz not null,
  -- An operation's name, or `$compute` for ad-hoc code.
  operation  text        not null,
  calls      bigint      not null,
  errors     bigint      not null,
  cache_hits bigint      not null,
  cpu_us     bigint      not null,
  wall_us    bigint      not null,
  primary key (site_id, hour, operation)
);

alter table runtime_usage enable row level security;
alter table runtime_usage force row level security;
create policy site_isolation on runtime_usage
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));
