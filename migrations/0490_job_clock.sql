-- When the next tick was worked out, by the clock of the database. One that lies ahead was worked out while that clock was wrong.
alter table data_job_due add column set_at timestamptz not null default now();
-- `data_job.last_tick` is not written any more: runs say which ticks there were. Versions before this one still write it.
create index data_job_due_by_set_at on data_job_due (set_at);
