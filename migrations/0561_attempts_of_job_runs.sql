-- Taking up a run and ending it, each in one round trip and a transaction of its own.

-- The next attempt at a run that is not over, with what its job says now and the site's domain; no row when there is nothing to do any more.
create function job_run_begin(site text, run text, at timestamptz)
returns table (
  job_id text, operation text, payload jsonb, auth jsonb, request_id text, attempt integer, domain text
)
language plpgsql
as $$
declare
  scope text;
begin
  scope := set_config('app.site_id', site, true);
  return query
    update data_job_run r
    set status = 'running', attempts = r.attempts + 1, started_at = coalesce(r.started_at, at), operation = j.operation
    from data_job j, site s
    where r.site_id = site and r.run_id = run and r.status in ('queued', 'running')
      and j.site_id = site and j.job_id = r.job_id and s.site_id = site
    returning r.job_id, j.operation, j.payload, j.auth, r.request_id, r.attempts, s.domain;
end $$;

-- How an attempt ended; nothing is written when the run is over or another attempt has begun. Null for whichever attempt it is.
create function job_run_end(
  site text, run text, attempt integer, outcome text, answer text, answer_bytes integer, fault jsonb, at timestamptz
)
returns void
language plpgsql
as $$
declare
  scope text;
begin
  scope := set_config('app.site_id', site, true);
  update data_job_run r
  set status = outcome, result = answer, result_bytes = answer_bytes, error = fault,
    finished_at = case when outcome = 'queued' then null else at end
  where r.site_id = site and r.run_id = run and r.status in ('queued', 'running')
    and (attempt is null or r.attempts = attempt);
end $$;
