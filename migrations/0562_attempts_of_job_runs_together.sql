-- Taking up and ending many runs of any sites in one round trip and one transaction, as job_run_begin and job_run_end do for one.
-- A run that is gone, over or locked is left out: where a site is held, the runs of the others do not wait for it.

-- The next attempts, with the site and the run of each.
create function job_runs_begin(sites text[], runs text[], at timestamptz)
returns table (
  of_site text, of_run text, job_id text, operation text, payload jsonb, auth jsonb, request_id text, attempt integer, domain text
)
language plpgsql
as $$
declare
  each record;
  scope text;
begin
  for each in select given.site, given.run from unnest(sites, runs) as given (site, run) loop
    scope := set_config('app.site_id', each.site, true);
    perform from data_job_run r where r.site_id = each.site and r.run_id = each.run for update skip locked;
    continue when not found;
    return query select each.site, each.run, begun.* from job_run_begin(each.site, each.run, at) as begun;
  end loop;
end $$;

-- `ended` lists { site, run, attempt, outcome, answer, answer_bytes, fault }. The site and the run of each one that was not left out.
create function job_runs_end(ended jsonb, at timestamptz)
returns table (of_site text, of_run text)
language plpgsql
as $$
declare
  each record;
  scope text;
begin
  for each in
    select * from jsonb_to_recordset(ended) as given (
      site text, run text, attempt integer, outcome text, answer text, answer_bytes integer, fault jsonb)
  loop
    scope := set_config('app.site_id', each.site, true);
    perform from data_job_run r where r.site_id = each.site and r.run_id = each.run for update skip locked;
    continue when not found;
    perform job_run_end(
      each.site, each.run, each.attempt, each.outcome, each.answer, each.answer_bytes, each.fault, at);
    of_site := each.site;
    of_run := each.run;
    return next;
  end loop;
end $$;
