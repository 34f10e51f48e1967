create table data_job (
  site_id    text        not null references site on delete cascade,
  job_id     text        not null,
  operation  text        not null,
  payload    jsonb       not null,
  -- { cron, timezone? } as it was written, or null for a job that is only started by hand.
  schedule   jsonb,
  -- Where a rate starts to count.
  scheduled_since timestamptz not null,
  -- { mode: 'system' } or { mode: 'user', username }
  auth       jsonb       not null,
  enabled    boolean     not null default true,
  -- The last tick that was recorded: none comes twice, whatever clock computes the next one.
  last_tick  timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (site_id, job_id),
  -- A job never calls what is not there.
  foreign key (site_id, operation) references data_operation (site_id, operation)
);

create index data_job_by_operation on data_job (site_id, operation);
alter table data_job enable row level security;
alter table data_job force row level security;
create policy site_isolation on data_job
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

-- When each scheduled job is due: apart from the jobs, so that whoever looks over all sites sees this and no more.
create table data_job_due (
  site_id text        not null,
  job_id  text        not null,
  due_at  timestamptz not null,
  primary key (site_id, job_id),
  foreign key (site_id, job_id) references data_job (site_id, job_id) on delete cascade
);

create index data_job_due_by_time on data_job_due (due_at, site_id, job_id);
alter table data_job_due enable row level security;
alter table data_job_due force row level security;
create policy site_isolation on data_job_due
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));
-- Due jobs must be found before a site is known; only `Database.withDueJobs` asks for this scope.
create policy due_jobs on data_job_due for select
  using ((select current_setting('app.scope', true)) = 'due-jobs');

create table data_job_run (
  site_id       text        not null,
  run_id        text        not null,
  job_id        text        not null,
  -- The order in which runs were recorded.
  run_number    bigint      generated always as identity,
  status        text        not null check (status in ('queued', 'running', 'succeeded', 'failed', 'timedOut', 'skipped')),
  -- `schedule`, or the word of whoever started it.
  trigger       text        not null,
  -- The tick; null for a run that was started by hand.
  scheduled_for timestamptz,
  -- Ticks before this one that nobody was there to run.
  missed        integer     not null default 0,
  -- What was called, as the job said when the run began.
  operation     text,
  request_id    text        not null,
  attempts      integer     not null default 0,
  -- JSON text, cut when it is too long.
  result        text,
  result_bytes  integer,
  -- { code, message }
  error         jsonb,
  created_at    timestamptz not null default now(),
  started_at    timestamptz,
  finished_at   timestamptz,
  primary key (site_id, run_id),
  foreign key (site_id, job_id) references data_job (site_id, job_id) on delete cascade
);

create index data_job_run_by_job on data_job_run (site_id, job_id, run_number);
-- A tick is one row.
create unique index data_job_run_by_tick on data_job_run (site_id, job_id, scheduled_for);
create index data_job_run_open on data_job_run (site_id, job_id) where status in ('queued', 'running');
alter table data_job_run enable row level security;
alter table data_job_run force row level security;
create policy site_isolation on data_job_run
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

create index runtime_log_by_request on runtime_log (site_id, request_id, log_id) where request_id is not null;
