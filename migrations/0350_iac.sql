-- Definitions that a site keeps by name. Values of environment variables are never in them.
create table iac_definition (
  site_id      text        not null references site on delete cascade,
  profile_name text        not null,
  definition   jsonb       not null,
  created_at   timestamptz not null default now(),
  updated_at   timestamptz not null default now(),
  primary key (site_id, profile_name)
);

alter table iac_definition enable row level security;
alter table iac_definition force row level security;
create policy site_isolation on iac_definition
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

create table iac_job (
  site_id       text        not null references site on delete cascade,
  -- The order in which a site's jobs run.
  job_number    bigint      generated always as identity,
  job_id        text        not null,
  mode          text        not null check (mode in ('plan', 'apply', 'replace')),
  source        text        not null check (source in ('inline', 'profile', 'deployment')),
  profile_name  text,
  deployment_id text,
  persisted     boolean     not null,
  -- Whether it may delete.
  confirmed     boolean     not null,
  -- Of an admin, or `operator`.
  requested_by  text        not null,
  -- The definition as AES-256-GCM under the site's key. Null once the job has ended.
  sealed        bytea,
  status        text        not null check (status in ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
  -- Workers that took it up since its last step.
  attempts      integer     not null default 0,
  error         text,
  created_at    timestamptz not null default now(),
  started_at    timestamptz,
  finished_at   timestamptz,
  primary key (site_id, job_number),
  unique (site_id, job_id)
);

-- One job of a site runs, the others wait.
create unique index iac_job_running on iac_job (site_id) where status = 'running';
create index iac_job_waiting on iac_job (site_id, job_number) where status in ('queued', 'running');
alter table iac_job enable row level security;
alter table iac_job force row level security;
create policy site_isolation on iac_job
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

-- What a job does, in its order. Written when the job starts; a step's row changes together with what the step does.
create table iac_change (
  site_id    text    not null,
  job_number bigint  not null,
  position   integer not null,
  section    text    not null check (section in ('envVars', 'groups', 'resources', 'operations', 'jobs')),
  name       text    not null,
  action     text    not null check (action in ('create', 'update', 'delete', 'none')),
  -- What an update changes.
  fields     text[]  not null,
  status     text    not null check (status in ('pending', 'planned', 'unchanged', 'succeeded', 'failed', 'skipped')),
  error      text,
  primary key (site_id, job_number, position),
  foreign key (site_id, job_number) references iac_job (site_id, job_number) on delete cascade
);

alter table iac_change enable row level security;
alter table iac_change force row level security;
create policy site_isolation on iac_change
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));
